/** How a run ends: completed, failed (after a rollback, where one is due), or cancelled. */

import { ABORTED_CODE, type RunError } from '../../contract/run/run.ts';
import { valueLimitOf } from '../../definition/document/limits.ts';
import { assert } from '../../json/assert.ts';
import { jsonBytes } from '../../json/bytes.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { type FailureShape, type Outcome, type RunSpec, StepFailure } from '../../steps/kind.ts';
import { render } from '../../template/template.ts';
import { type Core, evaluateOptions, stepNameMember, stepOf } from '../state/core.ts';
import { errorRoot, failureOf, tooLarge } from '../state/failure.ts';
import { MAX_PAYLOAD_BYTES } from '../state/limits.ts';
import { commandId } from '../state/paths.ts';
import type { Ending, Frame, RollbackStep, RunState } from '../state/state.ts';
import { cancelCommand, closeCommand, openCommand } from './commands.ts';
import { cancelFrame } from './frames.ts';
import { makeRunCommand } from './make-run-command.ts';
import { FrameScope } from './scope.ts';
import { RunStepContext } from './step-context.ts';

export const ROOT_FRAME_ID = '';

const ROLLBACK_DECLARED = 'A step is noted for the rollback only if it declares one.';

function rootOf({ frames }: RunState): Frame {
  const root = frames[ROOT_FRAME_ID];
  assert(root !== undefined, 'A run has its root frame from its start to its end.');
  return root;
}

function rollbackOf({ rollback }: RunState): NonNullable<RunState['rollback']> {
  assert(rollback !== undefined, 'Steps are undone only while the run rolls back.');
  return rollback;
}
export const DEADLINE_ID = '$deadline';

/** The run's timeout in milliseconds from its start: from its starter, else from the definition's config.timeout. */
export function runTimeoutMs({ program, state }: Pick<Core, 'program' | 'state'>): number | undefined {
  return state.genesis.timeoutMs ?? program.timeoutMs;
}

/**
 * Completes the run. The output is the definition's `output`, else `finishOutput` (from finish), else the data of
 * the root frame's last output.
 */
export function completeRun(core: Core, finishOutput: Json | undefined): void {
  let output: Json;
  try {
    output = outputOf(core, finishOutput);
  } catch (error) {
    fail(core, failureOf(error), core.program.rollbackOnFailure);
    return;
  }
  cancelAll(core);
  endRun(core, { status: 'completed', output });
}

/** @throws StepFailure `result_too_large`, and errors of expressions. */
function outputOf({ program, state }: Core, finishOutput: Json | undefined): Json {
  const root = rootOf(state);
  const output =
    program.output !== undefined
      ? render(program.output, new FrameScope(program, state, root, ''), evaluateOptions({ program, state })).value
      : (finishOutput ?? root.lastOutput?.data ?? null);
  const bytes = jsonBytes(output);
  // A child sends its output to its parent in a signal.
  const limit = state.genesis.parentId === undefined ? valueLimitOf(program.dataBytes()) : MAX_PAYLOAD_BYTES;
  if (bytes > limit) throw tooLarge('result_too_large', "The run's output", bytes, limit);
  return output;
}

/**
 * finish with `drain`: activities in flight end, and nothing new begins. The run has returned: its deadline, a
 * cancellation or a limit only ends the draining.
 */
export function drainRun(core: Core, finishOutput: Json): void {
  const { state, program } = core;
  // A definition's own output may read results of activities in flight, so it is evaluated when they have ended.
  const isDecided = program.output === undefined;
  let output = finishOutput;
  if (isDecided) {
    try {
      output = outputOf(core, finishOutput);
    } catch (error) {
      fail(core, failureOf(error), program.rollbackOnFailure);
      return;
    }
  }
  state.draining = {
    output,
    ...(isDecided ? { decidedAt: state.now } : {}),
  };
  state.work = [];
  for (const [id, command] of Object.entries(state.openCommands))
    if (id !== DEADLINE_ID && command.type !== 'run') cancelCommand(core, id);
  endIfDrained(core);
}

export function endIfDrained(core: Core): void {
  const { state } = core;
  if (state.draining === undefined || Object.keys(state.openCommands).some((id) => id !== DEADLINE_ID)) return;
  completeRun(core, state.draining.output);
}

/**
 * Fails the run with an error that nothing caught. Rolls back first where the definition or the failing step demands
 * it.
 */
export function failRun(core: Core, error: RunError, rollback = core.program.rollbackOnFailure): void {
  if (!endDraining(core)) fail(core, error, rollback);
}

function fail(core: Core, error: RunError, rollback: boolean): void {
  cancelAll(core);
  if (rollback && core.state.rollbackSteps.length > 0) rollBack(core, { error, failures: [] });
  else endRun(core, { status: 'failed', error });
}

/** Completes a run that drains, with its output. Returns false where the run does not drain. */
function endDraining(core: Core): boolean {
  const { draining } = core.state;
  if (draining === undefined) return false;
  completeRun(core, draining.output);
  return true;
}

/** `details`: further facts, where a step of the run decided it. */
export function cancelRun(core: Core, reason: string | undefined, details?: JsonObject): void {
  if (endDraining(core)) return;
  cancelAll(core);
  endRun(core, {
    status: 'cancelled',
    ...omitUndefined({ reason, details }),
  });
}

/** Aborts the run and rolls it back, even where a failure would not. */
export function abortRun(core: Core, reason = 'The run was aborted.'): void {
  if (endDraining(core)) return;
  cancelAll(core);
  const error: RunError = { code: ABORTED_CODE, message: reason, retryable: false };
  if (core.state.rollbackSteps.length > 0) rollBack(core, { error, failures: [], aborted: true });
  else endRun(core, { status: 'aborted', error });
}

function rollBack(core: Core, rolling: NonNullable<RunState['rollback']>): void {
  const { state } = core;
  state.rollback = rolling;
  // A retry may roll back before it has its slots. A rollback needs no slot, and no other command is sent.
  delete state.admission;
  rollBackNext(core);
}

/** §7: in reverse order of completion, back to the last checkpoint. */
function rollBackNext(core: Core): void {
  const { state } = core;
  const last = state.rollbackSteps.pop();
  if (last === undefined || last.kind === 'checkpoint') {
    const { error, failures, aborted } = rollbackOf(state);
    const reported =
      failures.length === 0
        ? error
        : {
            ...error,
            details: {
              cause: error.details ?? null,
              rollback: failures.map(({ path, error: e }) => ({ path, code: e.code, message: e.message })),
            },
          };
    endRun(core, { status: aborted === true ? 'aborted' : 'failed', error: reported });
    return;
  }
  const id = commandId(last.path, '/rollback');
  const step = stepOf(core, last.slug);
  const { rollback, slug } = step;
  assert(rollback !== undefined, ROLLBACK_DECLARED);
  core.trace?.({ t: 'begin', path: id, slug, ...stepNameMember(step), stepType: 'rollback', at: state.now });
  let spec: RunSpec | undefined;
  try {
    spec = last.spec ?? deferredRollbackSpec(core, last);
  } catch (error) {
    rollbackStepFailed(core, last.path, failureOf(error));
  }
  if (spec === undefined) {
    rollBackNext(core);
    return;
  }
  const command = makeRunCommand(core, id, slug, last.path, spec, {
    retry: rollback.retry,
    timeoutMs: rollback.timeoutMs,
    local: false,
    fuse: false,
  });
  core.trace?.({ t: 'input', path: id, input: spec.config.value });
  openCommand(core, id, { type: 'rollback', path: last.path, command });
}

/**
 * The config of a rollback that reads `error`, which is known only now. Its other roots were captured (§3.9, §3.11).
 */
function deferredRollbackSpec(core: Core, rollbackStep: RollbackStep & { kind: 'step' }): RunSpec {
  const step = stepOf(core, rollbackStep.slug);
  assert(step.rollback !== undefined, ROLLBACK_DECLARED);
  const locals = { ...rollbackStep.capturedRoots, error: { ...errorRoot(rollbackOf(core.state).error) } };
  const context = new RunStepContext(core, rootOf(core.state), step, rollbackStep.path, {}, locals);
  const spec = rollbackSpec(step.rollback.behaviour.begin(context));
  if (spec !== undefined) return spec;
  throw new StepFailure(
    'rollback_kind',
    `The rollback of '${step.slug}' starts a run, and no rollback can. Undo with an effect such as 'action' or 'http'.`,
  );
}

/** The activity of a rollback. @throws StepFailure where its config fails. */
export function rollbackSpec(outcome: Outcome): RunSpec | undefined {
  if (outcome.do === 'fail')
    throw new StepFailure(outcome.error.code, `The rollback's config: ${outcome.error.message}`);
  return outcome.do === 'suspend' ? outcome.run?.[0] : undefined;
}

/** One step of the rollback has ended. A failure is reported with the run's error, and the rollback continues. */
export function rollbackStepEnded(core: Core, id: string, error: FailureShape | undefined): void {
  const command = closeCommand(core, id);
  if (command?.type !== 'rollback') return;
  const { now } = core.state;
  if (error === undefined) core.trace?.({ t: 'end', path: id, status: 'completed', at: now });
  else rollbackStepFailed(core, command.path, error);
  rollBackNext(core);
}

function rollbackStepFailed(core: Core, path: string, error: FailureShape): void {
  const id = commandId(path, '/rollback');
  rollbackOf(core.state).failures.push({ path, error });
  core.trace?.({ t: 'end', path: id, status: 'failed', error: { ...error, path: id }, at: core.state.now });
}

function cancelAll(core: Core): void {
  const { state } = core;
  core.returnsMessages = 'not';
  cancelFrame(core, rootOf(state));
  state.work = [];
  for (const id of Object.keys(state.openCommands)) cancelCommand(core, id);
}

function endRun(core: Core, ending: Ending): void {
  const { state, commands } = core;
  for (const id of Object.keys(state.openCommands)) cancelCommand(core, id);
  state.ending = ending;
  state.work = [];
  state.yielding = false;
  if (ending.status === 'completed') commands.push({ type: 'complete', output: ending.output });
  else if (ending.status !== 'cancelled') commands.push({ type: 'fail', error: ending.error });
  else {
    const { status: type, ...why } = ending;
    commands.push({ type, ...why });
  }
}
