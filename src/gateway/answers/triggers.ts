/** Schemas of answers about triggers. Later versions may add members to any of them. */
import { z } from 'zod';
import { TRIGGER_TYPES } from '../../definition/document/types.ts';
import { named, pageWithUnread, time } from './named.ts';

export const trigger = named(
  'Trigger',
  z.object({
    id: z.string(),
    name: z.string(),
    workflowId: z.string(),
    type: z.enum(TRIGGER_TYPES),
    enabled: z.boolean(),
    source: z.enum(['definition', 'api']).describe('Where the trigger is stored.'),
    config: z.record(z.string(), z.unknown()),
    variableMapping: z.record(z.string(), z.string()).optional(),
    targetState: z.record(z.string(), z.unknown()).optional(),
    webhookUrl: z.string().optional(),
    counts: z.object({ started: z.int(), repeated: z.int(), debounced: z.int(), refused: z.int() }),
    lastRunAt: time.optional(),
    last: z
      .object({
        at: time,
        outcome: z.enum(['started', 'repeated', 'debounced', 'refused']),
        executionId: z.string().optional(),
        code: z.string().optional(),
        message: z.string().optional(),
      })
      .optional()
      .describe('The result of the last firing.'),
    lastRun: z
      .object({ executionId: z.string(), status: z.string() })
      .optional()
      .describe('The last run and its status.'),
    schedule: z
      .object({
        scheduleId: z.string().describe('The id of the Temporal Schedule.'),
        paused: z
          .boolean()
          .describe('It starts no runs: disabled here, or paused in Temporal, where it can be resumed.'),
        nextTimes: z.array(time),
        skipped: z.int(),
        missed: z.int(),
      })
      .optional()
      .describe('For a single schedule: its next times, firings skipped because a run was active, and missed firings.'),
    by: z.string().optional(),
    owner: z.string().optional().describe("The person who made it. Its runs count towards that person's limit."),
    createdAt: time,
    updatedAt: time,
  }),
);

const firing = named(
  'Delivery',
  z.object({
    at: time,
    outcome: z
      .enum(['started', 'repeated', 'debounced', 'refused'])
      .describe('repeated: the run existed already. debounced: the run waits for further firings.'),
    count: z.int().describe('How many firings had this outcome within a moment. The other members are of the last.'),
    executionId: z.string().optional(),
    code: z.string().optional().describe('The code of a refusal.'),
    message: z.string().optional(),
  }),
);

export const triggerPage = pageWithUnread(trigger, { id: z.string(), workflowId: z.string() });
export const firings = z.object({ items: z.array(firing) });
