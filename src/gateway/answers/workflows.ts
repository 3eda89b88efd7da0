/** Schemas of answers about workflows and their definitions. Later versions may add members to any of them. */
import { z } from 'zod';
import { anything, named, pageWithUnread, text, time } from './named.ts';
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
  textHash: text.optional().describe('The hash of its text as it was written, where one is kept.'),
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

export const workflowPage = named('WorkflowPage', pageWithUnread(z.object(head), { slug: text }));
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

const graphMembers = {
  slug: text,
  flow: z.enum(['ports', 'dag']),
  start: text.optional(),
  nodes: z.array(
    z.object({
      id: text,
      name: text,
      stepType: text.describe('As written in the definition.'),
      kind: text.describe('The step kind that the type means; $end; in a draft also unknown.'),
      class: z.enum(['pure', 'effect', 'wait', 'container', 'end']),
      container: text.optional().describe('The container step whose body holds it.'),
      branch: text.optional().describe('The body port of the container that leads to it, if it is exactly one.'),
      branches: z.array(text).optional().describe('Of a container: the wired ports that lead into its body.'),
      ports: z.array(text).describe('Every port by which it can be left, wired or not. Empty with flow: dag.'),
    }),
  ),
  edges: z.array(z.object({ from: text, to: text, port: text.optional().describe('Absent with flow: dag.') })),
};
export const graph = named('Graph', z.object({ ...graphMembers, hash: text }));
export const runGraph = named(
  'RunGraph',
  z.object({ ...graphMembers, hash: text.optional().describe('Absent for an inline run.') }),
);
export const draftGraph = named(
  'DraftGraph',
  z.object({
    ...graphMembers,
    hash: text.optional().describe('Absent where there are problems.'),
    problems: z.array(problemItem),
    warnings: z.array(problemItem),
  }),
);

export type DraftGraph = z.infer<typeof draftGraph>;
