/** What routes answer of runs (ARCHITECTURE.md §5). More members may be added to any of them. */
import { z } from 'zod';
import { SUBJECT } from '../../steps/kinds/approval/approval-schema.ts';
import { anything, named, pageOf, text, time } from './named.ts';
import { problemItem } from './problem.ts';
import { definitionDocument } from './workflows.ts';

const status = z.enum(['pending', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'aborted', 'rolling_back']);

export const runError = z.object({
  code: text,
  message: text,
  path: text.optional(),
  stepSlug: text.optional(),
  attempts: z.int().optional(),
  retryable: z.boolean(),
  details: anything.optional(),
});

const retrying = {
  lastError: runError.optional().describe('Of an effect that is tried again: why the attempt before failed.'),
  nextAttemptAt: time.optional().describe('Absent while an attempt runs, and while the effect is paused.'),
  activityPaused: z.literal(true).optional().describe('Somebody has paused the activity through Temporal.'),
};

const votes = z.object({
  have: z.int().describe('Approvals so far.'),
  needed: z.int().describe('Approvals that there must be; with quorum all one for each user, role and group.'),
});
const wait = {
  path: text,
  stepSlug: text,
  kind: z.enum(['approval', 'input', 'message', 'callback', 'timer', 'child', 'slot']),
  since: time,
  until: time.optional(),
  message: text.optional().describe('Of an approval: what is asked.'),
  name: text.optional().describe('Of messages: the name listened to, the first of several.'),
  names: z.array(text).optional().describe('Of messages: all names listened to, where there are several.'),
  key: text.optional().describe('Of messages: the key that events need.'),
  executionId: text.optional().describe('Of children: the run that is waited for.'),
  gate: text.optional().describe('Of slots: which limit is waited at; its kind is the name.'),
  position: z.int().optional().describe('Of slots: the place in the queue, from 1, where it is known.'),
  audience: z.array(text).optional().describe('Who is asked: `user:ann`, `role:finance`, `group:board`.'),
  notBy: z.array(text).optional().describe('Of an approval: persons who may not decide, or have voted.'),
  votes: votes.optional().describe('Of an approval that one vote does not decide.'),
  form: z
    .record(z.string(), anything)
    .optional()
    .describe('Of an approval or input: the payload format of `data`. Absent where it has more than 4,000 characters.'),
  ...Object.fromEntries(
    SUBJECT.map((member) => [member, text.optional().describe('Of an approval: as its config says it.')]),
  ),
  commentRequired: z.literal(true).optional().describe('Of an approval, where one run is read: it wants a comment.'),
};
const waitingFor = z.array(
  z.object({
    ...wait,
    resumeToken: text.optional().describe('Of an approval that the caller may decide: decides just this one.'),
  }),
);

const pause = {
  paused: z
    .literal(true)
    .optional()
    .describe(
      'Nothing new begins until the signal `resume`: `temporal workflow signal --workflow-id ID --name resume`.',
    ),
  pausedSince: time.optional(),
};

const trigger = z.object({
  type: text,
  id: text.optional(),
  name: text.optional().describe("The trigger's, within its workflow; where one run is read."),
  metadata: z
    .record(text, z.unknown())
    .optional()
    .describe('What is known of how it fired, such as the path and the id of a delivery; where one run is read.'),
});

export const unreadable = z
  .object({ code: text, message: text })
  .describe('Why little is told: what is kept of the run cannot be read, as under an unknown master key.');

export const execution = named(
  'Execution',
  z.object({
    id: text,
    workflowId: text,
    workflowName: text.optional().describe('Where one run is read.'),
    workflowVersion: text.optional(),
    workflowHash: text.optional(),
    status,
    waitingFor,
    ...pause,
    retrying: z
      .array(z.object({ path: text, attempt: z.int().describe('The one that runs, or comes next.'), ...retrying }))
      .optional()
      .describe('Where one run is read: effects that are tried again, or are paused through Temporal.'),
    droppedMessages: z.int().optional().describe('Messages that the run dropped because its inbox was full.'),
    startedAt: time,
    completedAt: time.optional(),
    input: anything.optional(),
    output: anything.optional(),
    error: runError.optional(),
    trigger,
    parentId: text.optional(),
    inline: z.boolean().optional(),
    initiator: text.optional(),
    origin: z
      .object({
        conversationId: text.optional(),
        channel: text.optional(),
        employeeId: text.optional(),
        conversationTitle: text.optional(),
        triggerUrl: text.optional(),
        debounceKey: text.optional(),
      })
      .optional()
      .describe('What else is known of where it came from.'),
    model: text.optional().describe('The model that was asked last.'),
    unreadable: unreadable.optional(),
    forkOf: z
      .object({ executionId: text, path: text })
      .optional()
      .describe('Of a fork: which visit of which run it began at.'),
    costs: z
      .array(
        z.object({
          key_type: text.describe('The kind of provider.'),
          input_tokens: z.int(),
          output_tokens: z.int(),
          cached_input_tokens: z.int().describe('Of the input tokens.'),
          usd_cost: z.number(),
        }),
      )
      .optional()
      .describe(
        'What models have used for this run, without the runs that it has started; absent where none was asked.',
      ),
    temporal: z.object({ workflowId: text, runId: text, url: text.optional() }),
  }),
);
export const executionPage = named('ExecutionPage', pageOf(execution));

export const started = named('Started', z.object({ executionId: text, status }));
export const forked = named(
  'Forked',
  started.extend({
    warnings: z
      .array(problemItem)
      .optional()
      .describe('Of a fork to another version: steps that are of another kind there.'),
  }),
);
const step = z.object({
  path: text,
  stepSlug: text,
  stepType: text,
  status: z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled', 'skipped']),
  port: text.optional(),
  attempts: z.int(),
  attempt: z.int().optional().describe('With attempts=true: which attempt the row is, from 1.'),
  ...retrying,
  input: anything.optional(),
  output: anything.optional().describe('{type, data, meta}.'),
  error: runError.optional(),
  startedAt: time,
  completedAt: time.optional(),
  unreadable: unreadable.optional(),
});
export const stepPage = named(
  'StepPage',
  z.object({
    ...pageOf(step).shape,
    total: z.int().describe('Visits in all, so far.'),
    uncertain: z.boolean().describe('History could not tell everything.'),
    guesses: z.array(z.looseObject({})).describe('Where it could not.'),
    unreadable: unreadable.optional(),
  }),
);

export const dryRun = named(
  'DryRun',
  z.object({
    status,
    output: anything.optional(),
    error: runError.optional(),
    steps: z.array(step),
    stepsTotal: z.int().optional().describe('Steps visited, when not all are shown.'),
    waits: z.array(z.object(wait)),
    problems: z.array(problemItem),
    warnings: z.array(problemItem),
  }),
);

export const result = named(
  'Result',
  z.object({
    status,
    output: anything.optional(),
    error: runError.optional(),
    unreadable: unreadable.optional(),
  }),
);
export const executionState = named(
  'ExecutionState',
  z.object({
    status,
    variables: anything.describe('By name.'),
    state: anything.describe('By key.'),
    outputs: anything.describe('By `outputVariable`.'),
    currentSteps: z
      .array(
        z.object({
          path: text,
          stepSlug: text,
          stepType: text,
          status: z.enum(['running', 'waiting']),
          since: time,
        }),
      )
      .describe('Visits that are open, the oldest first.'),
    uncertain: z.boolean().describe('History could not tell everything.'),
    unreadable: unreadable.optional(),
  }),
);
export const executionDefinition = named(
  'ExecutionDefinition',
  z.object({
    workflowId: text,
    workflowVersion: text.optional(),
    workflowHash: text.optional(),
    definition: definitionDocument,
  }),
);
export const noResult = named('NoResult', z.object({ status, waitingFor, ...pause }));
export const decided = named(
  'Decided',
  z.object({
    executionId: text,
    path: text,
    decision: z.enum(['approved', 'rejected']).describe('What the caller said.'),
    recorded: z
      .enum(['decision', 'vote'])
      .optional()
      .describe('vote: the approval waits on, for the votes of others. Absent where the run could not be asked.'),
    votes: votes.optional().describe('Of a vote.'),
    comments: text.optional().describe('As they were given.'),
  }),
);
export const submitted = named('Submitted', z.object({ executionId: text, path: text }));
export const messageSent = named('MessageSent', z.object({ executionId: text, name: text, messageId: text }));
export const ended = named('Ended', z.object({ executionId: text, status }));

export const approvalPage = named(
  'ApprovalPage',
  pageOf(
    z.object({
      ...wait,
      executionId: text,
      workflowId: text,
      status: z.literal('pending'),
      approverMemberId: text.optional().describe('The first person who is asked.'),
      resumeToken: text.optional(),
      unreadable: unreadable.optional(),
    }),
  ),
);

const webhookResult = named('WebhookResult', z.object({ executionId: text, ...result.shape }));

export const startedOrDryRun = named('StartedOrDryRun', z.union([started, dryRun]));
export const webhookAnswer = named('WebhookAnswer', z.union([started, webhookResult, z.object({ challenge: text })]));
