/** Schemas of answers about runs (ARCHITECTURE.md §5). Later versions may add members to any of them. */
import { z } from 'zod';
import { RUN_STATUSES } from '../../contract/run/run.ts';
import { SUBJECT } from '../../steps/kinds/approval/approval-schema.ts';
import { anything, named, pageOf, text, time } from './named.ts';
import { problemItem } from './problem.ts';
import { definitionDocument } from './workflows.ts';

export const status = z.enum(RUN_STATUSES);

export const runError = named(
  'RunError',
  z.object({
    code: text,
    message: text,
    path: text.optional(),
    stepSlug: text.optional(),
    attempts: z.int().optional(),
    retryable: z.boolean(),
    details: anything.optional(),
  }),
);

const retrying = {
  lastError: runError.optional().describe('Why the attempt before the last one failed, as far as Temporal keeps it.'),
  nextAttemptAt: time.optional().describe('Absent while an attempt runs, and while the activity is paused.'),
  activityPaused: z.literal(true).optional().describe('The activity was paused through Temporal.'),
  maxAttempts: z.int().optional().describe('Absent where there is no limit.'),
};

const votes = z.object({
  have: z.int().describe('Approvals so far.'),
  needed: z.int().describe('Approvals required; with quorum all, one for each user, role and group.'),
});
export const wait = {
  path: text,
  stepSlug: text,
  kind: z
    .enum(['approval', 'input', 'message', 'callback', 'timer', 'child', 'slot', 'retry', 'unpause', 'store', 'worker'])
    .describe(
      'retry: an activity that is tried again. unpause: an activity that was paused through Temporal; `message` is ' +
        'the reason given. store: the store of large data does not take the result of a step. worker: none lives. ' +
        'All four only where one run is read.',
    ),
  since: time,
  until: time.optional(),
  message: text.optional().describe('For an approval: the message to the approvers.'),
  name: text.optional().describe('For messages: the name that the step listens to, or the first of several.'),
  names: z.array(text).optional().describe('For messages: all names that the step listens to, if there are several.'),
  key: text.optional().describe('For messages: the key that an event must have.'),
  executionId: text.optional().describe('For children: the child run.'),
  gate: text.optional().describe('For slots: the limit that the run waits at, named by its kind.'),
  position: z.int().optional().describe('For slots: the place in the queue, from 1, if it is known.'),
  attempt: z.int().optional().describe('For retries: the number of the next attempt.'),
  maxAttempts: z.int().optional().describe('For retries: the most attempts, if there is a limit.'),
  audience: z.array(text).optional().describe('The approvers: `user:ann`, `role:finance`, `group:board`.'),
  notBy: z.array(text).optional().describe('For an approval: persons who may not decide, or who have voted.'),
  votes: votes.optional().describe('For an approval that needs several votes.'),
  form: z
    .record(z.string(), anything)
    .optional()
    .describe('For an approval or input: the payload format of `data`. Absent if it exceeds 4,000 characters.'),
  ...(Object.fromEntries(
    SUBJECT.map((member) => [member, text.optional().describe('For an approval: the value in its config.')]),
  ) as { [Member in (typeof SUBJECT)[number]]: z.ZodOptional<typeof text> }),
  commentRequired: z.literal(true).optional().describe('For an approval: it requires a comment. Only in a single run.'),
};
const waitingFor = z.array(
  named(
    'Wait',
    z.object({
      ...wait,
      resumeToken: text
        .optional()
        .describe('For an approval that the caller may decide: the token that identifies it.'),
    }),
  ),
);

const pause = {
  paused: z
    .literal(true)
    .optional()
    .describe(
      'No new step starts until the signal `resume`: `temporal workflow signal --workflow-id ID --name resume`.',
    ),
  pausedSince: time.optional(),
};

const trigger = z.object({
  type: text,
  id: text.optional(),
  name: text.optional().describe("The trigger's name, unique in its workflow. Present when one run is read."),
  metadata: z
    .record(text, z.unknown())
    .optional()
    .describe('How it fired, such as the path and the id of a delivery. Present when one run is read.'),
});

export const unreadable = named(
  'Unreadable',
  z
    .object({ code: text, message: text })
    .describe('Why members are missing: the stored run cannot be read, for example under an unknown master key.'),
);

export const execution = named(
  'Execution',
  z.object({
    id: text,
    workflowId: text,
    workflowName: text.optional().describe('Present when one run is read, and in lists with `include=workflowName`.'),
    workflowVersion: text.optional(),
    workflowHash: text.optional(),
    status,
    waitingFor,
    ...pause,
    retrying: z
      .array(
        z.object({
          path: text,
          attempt: z.int().describe('The attempt that runs or comes next.'),
          lastEndedAt: time.optional().describe('When the previous attempt ended.'),
          pausedSince: time.optional().describe('When the activity was paused.'),
          pauseReason: text.optional().describe('The reason given for the pause.'),
          ...retrying,
        }),
      )
      .optional()
      .describe('Activities that are retried, or paused through Temporal. Present when one run is read.'),
    droppedMessages: z.int().optional().describe('Messages that the run dropped because its inbox was full.'),
    startedAt: time,
    completedAt: time.optional(),
    input: anything.optional(),
    output: anything.optional(),
    error: runError.optional().describe('Present when one run is read, and in lists with `include=error`.'),
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
      .describe('More about the origin of the run.'),
    model: text.optional().describe('The model that the run called last.'),
    unreadable: unreadable.optional(),
    forkOf: z
      .object({ executionId: text, path: text })
      .optional()
      .describe('For a fork: the run and the visit that it began at.'),
    costs: z
      .array(
        z.object({
          key_type: text.describe('The kind of provider.'),
          input_tokens: z.int(),
          output_tokens: z.int(),
          cached_input_tokens: z.int().describe('Input tokens that the provider had cached.'),
          usd_cost: z.number(),
        }),
      )
      .optional()
      .describe('Model usage of this run without its child runs. Absent if the run called no model.'),
    temporal: z.object({ workflowId: text, runId: text, url: text.optional() }),
  }),
);
export const executionCounts = named(
  'ExecutionCounts',
  z.object({
    statuses: z.record(status, z.int()),
    isApproximate: z
      .literal(true)
      .optional()
      .describe('Some numbers may be too high: there are too many runs to tell which were retried since.'),
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
      .describe('For a fork to another version: steps whose kind differs in that version.'),
  }),
);
/** Where a visit is. */
const place = {
  frame: text.optional().describe('The innermost iteration, branch or tick that it is in. Absent at the root.'),
  container: text.optional().describe('The path of the visit of the container whose body the frame is.'),
  branch: text.optional().describe('The branch that the frame is.'),
  index: z.int().optional().describe('The iteration that the frame is, from 0.'),
  tick: z.int().optional().describe('The tick of a loop that the frame is, from 0.'),
  visit: z.int().optional().describe('Which visit of the step in its frame, from 1.'),
  inner: z.literal(true).optional().describe("A call within a visit, such as an agent's, in the visit's frame."),
};
const decision = named(
  'Decision',
  z.object({
    status: z.enum(['approved', 'rejected']),
    by: text.nullable().describe('Null for a caller without an id, and where nobody decided in time.'),
    at: time,
    via: text.describe("api, link, 'link to ADDRESS', temporal (a signal), or timeout."),
    comments: text.nullable(),
    voters: z.array(text).describe('Everybody who voted.'),
    message: text,
    resourceType: text.optional(),
    resourceId: text.optional(),
  }),
);
const step = named(
  'RunStep',
  z.object({
    path: text,
    stepSlug: text,
    stepName: text.optional().describe('The name of the step. Absent where it has none, or it is the slug.'),
    stepType: text,
    status: z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled', 'skipped']),
    port: text.optional(),
    attempts: z.int(),
    attempt: z.int().optional().describe('With attempts=true: the number of the attempt, from 1.'),
    ...retrying,
    ...place,
    eventId: z.int().optional().describe("The event of Temporal's history that opened it, where there is one."),
    temporalUrl: text.optional().describe("That event in Temporal's Web UI."),
    input: anything.optional(),
    output: anything.optional().describe('{type, data, meta}.'),
    error: runError.optional(),
    endedBy: text
      .optional()
      .describe('Who completed or failed it by hand, through Temporal: `temporal-cli:NAME@HOST`. Absent for workers.'),
    decision: decision.optional().describe("Of an approval, also of an agent's call, once it is decided."),
    startedAt: time,
    completedAt: time.optional(),
    unreadable: unreadable.optional(),
  }),
);
export const stepPage = named(
  'StepPage',
  z.object({
    ...pageOf(step).shape,
    total: z.int().describe('All visits so far.'),
    uncertain: z.boolean().describe('Part of the answer could not be derived from the history.'),
    guesses: z.array(z.looseObject({})).describe('The parts that could not be derived.'),
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
    waits: waitingFor,
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
      .describe('Open visits, the oldest first.'),
    uncertain: z.boolean().describe('Part of the answer could not be derived from the history.'),
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
const endOfRun = { result: result.optional().describe('With `wait`, and where the run has ended in time.') };
export const decided = named(
  'Decided',
  z.object({
    executionId: text,
    path: text,
    decision: z.enum(['approved', 'rejected']).describe("The caller's decision."),
    recorded: z
      .enum(['decision', 'vote'])
      .optional()
      .describe('vote: the approval still waits for other votes. Absent if the run could not be queried.'),
    votes: votes.optional().describe('For a vote.'),
    comments: text.optional().describe('The comments in the request.'),
    ...endOfRun,
  }),
);
export const submitted = named('Submitted', z.object({ executionId: text, path: text, ...endOfRun }));
export const messageSent = named('MessageSent', z.object({ executionId: text, name: text, messageId: text }));
export const ended = named('Ended', z.object({ executionId: text, status }));

const runAndResult = { executionId: text, ...result.shape };
const webhookResult = named('WebhookResult', z.object(runAndResult));
/** With `wait`, and where the run has ended in time, with its end. */
export const awaited = named('Awaited', z.object(runAndResult));

export const startedOrDryRun = named('StartedOrDryRun', z.union([awaited, dryRun]));
export const webhookAnswer = named('WebhookAnswer', z.union([started, webhookResult, z.object({ challenge: text })]));
