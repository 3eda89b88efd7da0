import { z } from 'zod';
import type { StepDefinition } from '../../definition/document/types.ts';
import type { JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { durationMs } from '../config/duration.ts';
import { isAbsent, optionalBoolean, optionalText, text } from '../config/read.ts';
import { anyValue, configSchema, templated, textTemplate } from '../config/schema.ts';
import {
  type ChildSpec,
  ConfigError,
  type NoState,
  type Outcome,
  type Resume,
  type StepContext,
  StepFailure,
  type StepKind,
  type TimerSpec,
} from '../kind.ts';
import { activityEnd } from './one-activity.ts';

/** The depth at which a run starts no further runs. A run that no step started has depth 0. */
export const MAX_DEPTH = 20;
const TIMEOUT = '/timeout';

export const runWorkflow: StepKind<NoState> = {
  type: 'run_workflow',
  aliases: ['subworkflow'],
  class: 'effect',
  startsRuns: true,
  summary: 'Runs another workflow, and waits for its output.',
  description: `Starts a run of \`workflow\`, a slug of the same organization, with \`input\`, and ends with that run's
output. \`version\` selects the definition by its hash or its version number; without it the current version runs. The
new run is listed as an execution of its own, with this run as its parent. It is retried and rolled back by its own
definition, and this step's \`retry\` does not repeat it.

- **Input.** An input that does not fit the format that the workflow declares fails the step with \`invalid_input\`,
  before a run starts. Defaults of the format are added.
- **Failure.** The step fails with the code and message of the failed run, and the details name its \`executionId\`. A
  run that was cancelled, terminated or timed out is \`child_cancelled\`, \`child_terminated\` or \`child_timed_out\`.
  An unknown workflow is \`workflow_not_found\`, and a disabled one \`workflow_disabled\`.
- **Cancelling.** When this step is cancelled, or its \`timeout\` passes (\`timeout\`), the child run is cancelled too.
- **wait: false.** The step ends as soon as the child run has started, with its \`executionId\`, and does not learn how
  it ends.
- **Costs.** The costs of models are counted in the \`costs\` of the child run only.
- **Rollback.** The kind cannot be a rollback: write the undoing effect into \`rollback\` itself, as an \`action\` or
  \`http\`.
- **Depth.** A workflow may run itself. Runs nest at most ${MAX_DEPTH} deep; beyond that the step fails with
  \`depth_exceeded\`.`,
  example: {
    stepType: 'run_workflow',
    config: { workflow: 'refund-approval', input: { orderId: '{{ input.orderId }}' } },
    nextSteps: { success: 'tell', error: 'ask' },
  },
  output: 'The output of the run; with `wait: false` `{executionId}`. `meta.executionId` names the run.',
  schema: () =>
    configSchema({
      workflow: textTemplate().describe('The slug of the workflow to run.'),
      version: textTemplate().optional().describe('Its hash (sha256:…) or version (1.4.0). Default: the current one.'),
      input: anyValue().optional().describe("The run's input. Default: {}."),
      wait: templated(z.boolean()).optional().describe('Whether to wait for its end (true).'),
    }),
  ports: () => ({ normal: 'success', names: ['success'] }),
  plan(config, parse, step) {
    if (isAbsent(config['workflow']))
      throw new ConfigError('/workflow', "Expected the slug of a workflow such as 'refund-approval'.");
    const workflow = parse.template(config['workflow'], '/workflow');
    const version = parse.template(config['version'], '/version');
    const input = parse.template(config['input'] === undefined ? {} : config['input'], '/input');
    const wait = parse.template(config['wait'], '/wait');
    const timeoutMs = timeoutOf(step);
    return {
      begin(visit) {
        const slug = text(visit.render(workflow), 'workflow');
        const wanted = optionalText(visit.render(version), 'version');
        const waits = optionalBoolean(visit.render(wait), 'wait') ?? true;
        return startChild(
          visit,
          timeoutMs,
          {},
          {
            workflow: slug,
            input: visit.render(input),
            ...omitUndefined({ version: wanted }),
            ...(waits ? {} : { wait: false }),
          },
        );
      },
      resume: (visit, event) => endWithChild(visit, event),
    };
  },
};

/**
 * The modifier `timeout`, which limits the whole child here. An invalid one is reported where modifiers are compiled.
 */
export function timeoutOf(step: StepDefinition): number | undefined {
  if (step.timeout === undefined) return undefined;
  try {
    return durationMs(step.timeout);
  } catch (error) {
    if (error instanceof StepFailure) return undefined;
    throw error;
  }
}

/** Starts a child and waits for it. @throws StepFailure `depth_exceeded`. */
export function startChild<S extends JsonObject>(
  visit: StepContext,
  timeoutMs: number | undefined,
  state: S,
  child: ChildSpec,
): Outcome<S> {
  if (visit.execution.depth >= MAX_DEPTH)
    throw new StepFailure(
      'depth_exceeded',
      `This run is nested ${MAX_DEPTH} deep, and the step '${visit.slug}' would start another inside it. ` +
        'Let the workflow end its recursion sooner, or start the run with wait: false from a shallower one.',
      { details: { limit: MAX_DEPTH, workflow: child.workflow } },
    );
  const until = timeoutMs === undefined ? undefined : visit.now + timeoutMs;
  const timers: TimerSpec[] = until === undefined ? [] : [{ suffix: TIMEOUT, at: until }];
  return {
    do: 'suspend',
    state,
    children: [child],
    timers,
    waiting: { kind: 'child', name: child.workflow, ...omitUndefined({ until }) },
  };
}

/** The end of a step that waits for one child. */
export function endWithChild(visit: StepContext, event: Resume): Outcome<never> {
  if (event.on !== 'fired') return activityEnd(visit, event);
  throw new StepFailure(
    'timeout',
    `The run that the step '${visit.slug}' waits for did not end in time, and was cancelled; ` +
      "raise the step's timeout, or see what that run waits for.",
  );
}
