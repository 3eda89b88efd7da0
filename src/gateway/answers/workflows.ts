/** Schemas of answers about workflows and their definitions. Later versions may add members to any of them. */
import { z } from 'zod';
import { anything, named, pageOf, text, time } from './named.ts';
import { problemItem } from './problem.ts';

const head = {
  slug: text,
  name: text,
  description: text.optional(),
  version: text,
  hash: text,
  enabled: z.boolean(),
  tags: z.array(text),
  createdAt: time,
  updatedAt: time,
  origin: text.optional().describe('The sync source that it belongs to, if a sync stored it.'),
};
export const workflowHead = named('WorkflowHead', z.object(head));
const triggers = z
  .array(z.object({ name: text, type: text, enabled: z.boolean(), webhookUrl: text.optional() }))
  .optional();

export const definitionDocument = named(
  'DefinitionDocument',
  z
    .record(z.string(), anything)
    .describe('A definition. Its JSON Schema is at /schema.json. Other dialects are accepted too.'),
);

export const workflowPage = named('WorkflowPage', pageOf(z.object(head)));
export const storedWorkflow = named('StoredWorkflow', z.object({ ...head, triggers, warnings: z.array(problemItem) }));
export const readWorkflow = named('ReadWorkflow', z.object({ ...head, triggers, definition: definitionDocument }));
export const validation = named(
  'Validation',
  z.object({
    valid: z.boolean(),
    dialect: text,
    problems: z.array(problemItem),
    warnings: z.array(problemItem),
    hash: text.optional(),
  }),
);

export const graph = named(
  'Graph',
  z.object({
    slug: text,
    hash: text,
    flow: z.enum(['ports', 'dag']),
    start: text.optional(),
    nodes: z.array(
      z.object({
        id: text,
        name: text,
        stepType: text,
        class: z.enum(['pure', 'effect', 'wait', 'container', 'end']),
        container: text.optional().describe('The container step whose body holds it.'),
        branch: text.optional().describe('The body port of the container that leads to it.'),
      }),
    ),
    edges: z.array(z.object({ from: text, to: text, port: text.optional().describe('Absent with flow: dag.') })),
  }),
);
