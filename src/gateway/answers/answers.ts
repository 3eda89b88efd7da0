/** What the API answers (ARCHITECTURE.md §5, "Answers"), for the OpenAPI document. More members may be added to any of them. */
import { z } from 'zod';
import { SUBJECT } from '../../steps/kinds/approval/approval-schema.ts';
import { named, pageOf, time } from './named.ts';

const text = z.string();
const json = z.unknown();
const status = z.enum(['pending', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'aborted', 'rolling_back']);

export const problemItem = named(
  'ProblemItem',
  z.object({
    pointer: text.describe('A JSON pointer to the place.'),
    code: text,
    message: text,
    hint: text.optional(),
    line: z.int().optional().describe('Of a text that cannot be read: where in it, from 1.'),
    column: z.int().optional(),
  }),
);

export const problem = named(
  'Problem',
  z
    .looseObject({
      type: text,
      title: text,
      status: z.int(),
      detail: text.describe('A sentence that says what to do.'),
      code: text.describe('Stable; /docs/problems lists all.'),
      problems: z.array(problemItem).optional(),
    })
    .describe('RFC 9457. Some codes come with more members, such as `paths` or `column`.'),
);

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
    .record(z.string(), json)
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

const runError = z.object({
  code: text,
  message: text,
  path: text.optional(),
  stepSlug: text.optional(),
  attempts: z.int().optional(),
  retryable: z.boolean(),
  details: json.optional(),
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
    .record(z.string(), json)
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

const unreadable = z
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
    input: json.optional(),
    output: json.optional(),
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
  input: json.optional(),
  output: json.optional().describe('{type, data, meta}.'),
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
    output: json.optional(),
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
    output: json.optional(),
    error: runError.optional(),
    unreadable: unreadable.optional(),
  }),
);
export const executionState = named(
  'ExecutionState',
  z.object({
    status,
    variables: json.describe('By name.'),
    state: json.describe('By key.'),
    outputs: json.describe('By `outputVariable`.'),
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

const cost = z.object({
  key_type: text,
  input_tokens: z.number(),
  output_tokens: z.number(),
  cached_input_tokens: z.number(),
  usd_cost: z.number(),
});
export const run004 = named(
  'Run004',
  z.object({
    id: text,
    run_id: text,
    workflow_id: text,
    status: z.enum(['created', 'in_progress', 'suspended', 'completed', 'failed', 'aborted']),
    parent_workflow: text.nullable(),
    conversation_id: text.nullable(),
    conversation_channel: text.nullable(),
    conversation_title: text.nullable(),
    model: text.nullable(),
    input_tokens: z.number(),
    output_tokens: z.number(),
    channel: text.nullable(),
    ai_employee_id: text.nullable(),
    trigger_id: text.nullable(),
    trigger_url: text.nullable(),
    debounce_key: text.nullable(),
    costs: z.array(cost),
    created_at: time,
    completed_at: time.nullable(),
    failed_at: time.nullable(),
    unreadable: unreadable.optional(),
    flow: definitionDocument.nullable().optional(),
    state: z.object({
      currentStepId: text.nullable(),
      error: runError.nullable(),
      runtimeContext: z.object({
        userId: text.nullable(),
        employeeId: text.nullable(),
        isAsync: z.boolean().describe('Always true: every run goes through a queue.'),
        isDebug: z.boolean().optional().describe('Whether steps were given their results by hand (presets).'),
        organizationId: text.optional(),
        workflowId: text.optional(),
        state: json.optional(),
      }),
      steps: z.array(
        z.object({
          stepId: text,
          type: text,
          status: text,
          input: json,
          output: json,
          error: text.nullable(),
          startedAt: time,
          completedAt: time.nullable(),
          unreadable: unreadable.optional(),
        }),
      ),
    }),
  }),
);
export const run004Page = named('Run004Page', pageOf(run004));

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

export const evaluated = named('Evaluated', z.object({ value: json }));

export const webhookResult = named('WebhookResult', z.object({ executionId: text, ...result.shape }));

export const startedOrDryRun = named('StartedOrDryRun', z.union([started, dryRun]));
export const webhookAnswer = named('WebhookAnswer', z.union([started, webhookResult, z.object({ challenge: text })]));
export const anything = json;
export const anyObject = z.record(z.string(), json);
export const page = text;
