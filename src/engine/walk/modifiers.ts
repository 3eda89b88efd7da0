/** Applies the modifiers of a step that ends (LANGUAGE.md §7): saveToState, outputVariable, rollback. */

import { valueLimitOf } from '../../definition/document/limits.ts';
import { jsonBytes } from '../../json/bytes.ts';
import { type JsonObject, setOwn } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { StepFailure } from '../../steps/kind.ts';
import { evaluate, parseExpression } from '../../template/expression.ts';
import type { Reference, Scope } from '../../template/types.ts';
import { type Core, evaluateOptions } from '../state/core.ts';
import { tooLarge } from '../state/failure.ts';
import { ENTRY_OVERHEAD, MAX_ROLLBACKS, RECORD_OVERHEAD } from '../state/limits.ts';
import { valueBytes } from '../state/measure.ts';
import { charge, requireSpace } from '../state/space.ts';
import type { Envelope, RollbackStep } from '../state/state.ts';
import { rollbackSpec } from './ending.ts';
import { dropRollbacksOfOlderTicks, ticksOutsidePath } from './history-keep.ts';
import { FrameScope } from './scope.ts';
import { assign, RunStepContext, snapshotValue } from './step-context.ts';
import type { VisitRef } from './visit-end.ts';

/**
 * Writes saveToState and outputVariable, and registers the rollback with its config evaluated now. A preset step
 * registers no rollback, since it did not run (§7).
 * @throws StepFailure `result_too_large`, `state_type`, `rollback_limit`, and errors of expressions.
 */
export function applyModifiers(core: Core, ref: VisitRef, output: Envelope, isPreset: boolean): void {
  const bytes = valueBytes(output.data);
  const limit = valueLimitOf(core.program.dataBytes());
  if (bytes > limit) throw tooLarge('result_too_large', "The step's output", bytes, limit);
  const before = snapshotOf(core, ref);
  try {
    writeModifiers(core, ref, output, isPreset);
  } catch (error) {
    if (core.program.isMarked('modifiers2')) before.restore();
    throw error;
  }
  try {
    // The data of a container is in the state already: its branches and iterations had to fit.
    const fresh = ref.step.kind.class === 'container' ? 0 : bytes;
    requireSpace(core, "The step's output", fresh, bytes + valueBytes(output.meta) + ENTRY_OVERHEAD);
  } catch (error) {
    before.restore();
    throw error;
  }
}

function writeModifiers(core: Core, ref: VisitRef, output: Envelope, isPreset: boolean): void {
  const { frame, step, path } = ref;
  const { state } = core;
  // The modifiers' expressions see the step as ended.
  frame.entries[step.slug] = { stepType: step.type, name: step.name, output };
  frame.lastOutput = output;
  if (step.saves.length > 0) {
    const scope = new FrameScope(core.program, state, frame, path, { output });
    for (const save of step.saves) {
      const value =
        save.expression === undefined ? output.data : (evaluate(save.expression, scope, evaluateOptions(core)) ?? null);
      assign(core, 'state', save.key, value);
    }
  }
  if (step.outputVariable !== undefined) {
    charge(core, valueBytes(output.data) + step.outputVariable.length);
    setOwn(state.outputs, step.outputVariable, output.data);
  }
  if (step.rollback !== undefined && !isPreset) {
    state.rollbackSteps.push(rollbackStepOf(core, ref, step.rollback, output));
    dropRollbacksOfOlderTicks(core, frame);
  } else if (step.kind.stopsRollback === true)
    state.rollbackSteps.push({ kind: 'checkpoint', name: String(output.data ?? '') });
  if (state.rollbackSteps.length > MAX_ROLLBACKS)
    throw new StepFailure(
      'rollback_limit',
      `More than ${MAX_ROLLBACKS} steps with a rollback have completed; set a checkpoint, or historyKeep on the loop.`,
    );
}

/** Remembers the values that the step is about to replace. */
function snapshotOf({ state }: Core, { frame, step }: VisitRef): { restore(): void } {
  const entry = frame.entries[step.slug];
  const { lastOutput } = frame;
  const { rollbackSteps } = state;
  const rollbackCount = rollbackSteps.length;
  const stateRestorers = step.saves.map(({ key }) => snapshotValue(state.state, key));
  const restoreVariable =
    step.outputVariable === undefined ? undefined : snapshotValue(state.outputs, step.outputVariable);
  return {
    restore() {
      if (entry === undefined) delete frame.entries[step.slug];
      else frame.entries[step.slug] = entry;
      frame.lastOutput = lastOutput;
      // The saved list still has the rollbacks that historyKeep dropped.
      rollbackSteps.length = rollbackCount;
      state.rollbackSteps = rollbackSteps;
      for (const restoreValue of stateRestorers.reverse()) restoreValue();
      restoreVariable?.();
    },
  };
}

/** Evaluates the rollback's config now. If it reads `error`, its other roots are captured instead (§3.11). */
function rollbackStepOf(
  core: Core,
  { frame, step, path }: VisitRef,
  rollback: NonNullable<VisitRef['step']['rollback']>,
  output: Envelope,
): RollbackStep {
  const { state } = core;
  const slug = step.key ?? step.slug;
  const locals = { output };
  const unnamed = ticksOutsidePath(core, frame, path);
  const ticks = unnamed.length === 0 ? undefined : unnamed;
  const at = { path, slug, ...omitUndefined({ ticks }) };
  charge(core, RECORD_OVERHEAD + 2 * path.length + (ticks === undefined ? 0 : jsonBytes(ticks)));
  if (rollback.references.some(({ root }) => root === 'error')) {
    const scope = new FrameScope(core.program, state, frame, path, locals);
    const capturedRoots = captureRoots(rollback.references, scope, state.now);
    state.bytes += jsonBytes(capturedRoots);
    return { kind: 'step', ...at, capturedRoots };
  }
  const spec = rollbackSpec(rollback.behaviour.begin(new RunStepContext(core, frame, step, path, {}, locals)));
  if (spec !== undefined) state.bytes += jsonBytes(spec.config.value);
  return { kind: 'step', ...at, ...omitUndefined({ spec }) };
}

/** Roots whose values never change, or are known only later. */
const UNCAPTURED_ROOTS: ReadonlySet<string> = new Set(['input', 'organizationId', 'execution', 'secrets', 'error']);

/** The referenced roots; of `steps` only the referenced entries. A whole root is copied, its values are shared. */
function captureRoots(references: readonly Reference[], scope: Scope, now: number): JsonObject {
  const captured: JsonObject = {};
  const entries: JsonObject = {};
  const capture = (target: JsonObject, name: string, source: string): void => {
    const value = evaluate(parseExpression(source), scope, { now });
    if (value !== undefined) setOwn(target, name, value);
  };
  for (const { root, path } of references) {
    if (UNCAPTURED_ROOTS.has(root)) continue;
    const [slug] = path;
    if (root === 'steps' && typeof slug === 'string') {
      capture(entries, slug, `steps[${JSON.stringify(slug)}]`);
      setOwn(captured, 'steps', entries);
    } else if (root === 'steps') {
      capture(captured, 'steps', 'steps');
      Object.assign(entries, captured['steps']);
    } else capture(captured, root, root);
  }
  return captured;
}
