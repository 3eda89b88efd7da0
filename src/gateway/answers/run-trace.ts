/** Schemas of what a run did, in numbers. Later versions may add members to any of them. */
import { z } from 'zod';
import { unreadable } from './executions.ts';
import { named, text, time } from './named.ts';

const visitStatus = z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled', 'skipped']);
const count = z.int();
const counts = z.partialRecord(visitStatus, count).describe('By status. Statuses that do not occur are absent.');

const visitRef = z.object({
  path: text,
  status: visitStatus,
  port: text.optional(),
  frame: text.optional().describe('The iteration, branch or tick that it is in. Absent at the root.'),
  startedAt: time,
  completedAt: time.optional(),
  eventId: count.optional().describe("The event of Temporal's history that opened it, where there is one."),
  temporalUrl: text.optional().describe("That event in Temporal's Web UI."),
});

const stepSummary = z.object({
  stepSlug: text,
  stepType: text,
  visits: count,
  statuses: counts,
  ports: z.record(text, count).describe('How many visits took each port.'),
  retries: count.describe('Attempts beyond the first of each visit.'),
  firstStartedAt: time,
  lastStartedAt: time,
  lastCompletedAt: time.optional(),
  durationMs: z.number().describe('The sum over ended visits.'),
  last: visitRef.describe('The newest visit.'),
  open: visitRef.optional().describe('The oldest visit that runs or waits.'),
  failed: visitRef.optional().describe('The newest visit that failed.'),
});

const iterationRange = z.object({
  from: count.describe('The ordinal of the first iteration, from 0, over all visits of the container.'),
  to: count.describe('The ordinal of the last iteration.'),
  frame: text.describe('The first iteration: give it as `within`, or as `under` of the steps.'),
  index: count.optional(),
  tick: count.optional(),
  branch: text.optional(),
  worst: visitStatus.describe('failed, else running, waiting, cancelled, completed, skipped.'),
  statuses: counts.describe('The iterations by their worst status.'),
  firstFailed: z.object({ frame: text, ordinal: count }).optional(),
  startedAt: time,
  completedAt: time.optional().describe('Absent while one of them is open.'),
});

const containerSummary = z.object({
  stepSlug: text,
  visits: count,
  path: text.describe('The newest visit.'),
  kind: z.enum(['iterations', 'ticks', 'branches']),
  iterations: count.describe('Iterations, ticks or branches that have begun.'),
  failed: count.describe('Those in which a visit failed.'),
  ranges: z.array(iterationRange),
});

export const runSummary = named(
  'RunSummary',
  z.object({
    id: text,
    runId: text.describe('The Temporal run that the answer ends with.'),
    total: count.describe('All visits of the run.'),
    counted: count.describe('The visits that this answer counts.'),
    partial: z.literal(true).optional().describe('The run has more visits than are counted: the oldest are left out.'),
    within: text.optional(),
    lastEventId: text.describe('Give it as `after` to follow the run from here on.'),
    uncertain: z.boolean().describe('Part of the answer could not be derived from the history.'),
    unreadable: unreadable.optional(),
    steps: z.array(stepSummary).describe('In the order of their first visits.'),
    containers: z.array(containerSummary),
  }),
);

export type RunSummary = z.infer<typeof runSummary>;
export type StepSummary = z.infer<typeof stepSummary>;
export type ContainerSummary = z.infer<typeof containerSummary>;
export type IterationRange = z.infer<typeof iterationRange>;
export type VisitRef = z.infer<typeof visitRef>;
export type VisitStatus = z.infer<typeof visitStatus>;
