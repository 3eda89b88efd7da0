/** What routes answer of workflows and their definitions. More members may be added to any of them. */
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
  origin: text.optional().describe('The set that it belongs to, where it came by a sync.'),
};
export const workflowHead = named('WorkflowHead', z.object(head));
const triggers = z
  .array(z.object({ name: text, type: text, enabled: z.boolean(), webhookUrl: text.optional() }))
  .optional();

export const definitionDocument = named(
  'DefinitionDocument',
  z
    .record(z.string(), anything)
    .describe('A definition: its JSON Schema is at /schema.json. Other dialects are taken as they are.'),
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
        container: text.optional().describe('In whose body it stands.'),
        branch: text.optional().describe('By which body port it is reached.'),
      }),
    ),
    edges: z.array(z.object({ from: text, to: text, port: text.optional().describe('Absent with flow: dag.') })),
  }),
);
