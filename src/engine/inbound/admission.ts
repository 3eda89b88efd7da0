/**
 * How a run comes to its slots before it walks (LANGUAGE.md §1, concurrency): it asks its gates one after the other, always
 * in the same order, so that no two runs wait for each other. While it waits it is pending: messages are kept, it can be
 * cancelled, and nothing is walked.
 *
 * What the gates say stands in history for the fold to find (E6): the asking is an activity called `$slots`, and a gate
 * that had to let the run wait says `granted` by a signal.
 */

import { type GateWanted, type SlotAnswer, TAKEN_FOR_MS } from '../../contract/limiter.ts';
import { isObject } from '../../json/json.ts';
import type { Core } from '../state/core.ts';
import type { Event } from '../state/protocol.ts';
import type { Admission, RunState } from '../state/state.ts';
import { cancelRun, failRun } from '../walk/ending.ts';

/** How history shows the activity by which a run asks its gates. */
export const SLOTS = '$slots';
/** And the timer after which a run that waits asks again: a gate may have been terminated. */
export const SLOTS_CLOCK = '$slots-clock';

/** The events that the activity's answer stands for: the shell and the fold take them alike (E6). */
export function slotEvents(data: unknown, at: number): Event[] {
  const answers = isObject(data) ? data['answers'] : undefined;
  return Array.isArray(answers) ? [{ type: 'slots', at, answers: answers as unknown as readonly SlotAnswer[] }] : [];
}

/** Puts the run before its gates, if it has any to pass. `startedAt`: when its execution started, in epoch milliseconds. */
export function requestSlots(core: Core, startedAt: number): void {
  const gates = inOrder((core.state.genesis.gates ?? []).filter((gate) => !hasLease(gate, startedAt)));
  if (gates.length > 0) askGates(core, { gates, taken: 0 });
}

/** Whether a lease was taken for the run, and not so long before its start that the gate may have given it to another. */
export function hasLease({ taken, takenAt = Number.POSITIVE_INFINITY }: GateWanted, startedAt: number): boolean {
  return taken === true && startedAt - takenAt <= TAKEN_FOR_MS;
}

/** Gates that the run has yet to ask or waits at, the next one first. */
export function wantedSlots(state: RunState): readonly GateWanted[] {
  const { admission, ending } = state;
  return admission === undefined || ending !== undefined ? [] : admission.gates.slice(admission.taken);
}

/** Every gate that may hold something for the run. */
export function heldGates(state: RunState): readonly string[] {
  return (state.genesis.gates ?? []).map(({ gate }) => gate);
}

/** The answers of gates, in the order in which they were asked. E4: what is not asked for is ignored. */
export function slotsAnswered(core: Core, answers: readonly SlotAnswer[]): void {
  for (const answer of answers) {
    const { admission } = core.state;
    if (admission === undefined || admission.gates[admission.taken]?.gate !== answer.gate) continue;
    switch (answer.as) {
      case 'granted':
        passGate(core, admission);
        break;
      case 'waiting':
        admission.waiting = { since: Date.parse(answer.since) };
        break;
      case 'dropped':
        cancelRun(core, 'As many runs go as may at once, and this was one too many.');
        return;
      case 'refused':
        failRun(core, { code: answer.code, message: answer.message, retryable: true }, false);
        return;
    }
  }
  // What was answered may be over: the gate has let the run pass by its signal, and the next one was not asked.
  const { admission } = core.state;
  if (admission !== undefined && admission.waiting === undefined) askGates(core, admission);
}

/** The signal of the gate that the run waits at. */
export function slotGranted(core: Core, gate: string): void {
  const { admission } = core.state;
  if (admission === undefined || admission.gates[admission.taken]?.gate !== gate) return;
  // Without a wait, an answer is on its way: then it is seen what is still to be asked.
  const wasWaiting = admission.waiting !== undefined;
  passGate(core, admission);
  if (core.state.admission !== undefined && wasWaiting) askGates(core, core.state.admission);
}

function passGate(core: Core, admission: Admission): void {
  admission.taken++;
  delete admission.waiting;
  if (admission.taken === admission.gates.length) delete core.state.admission;
}

function askGates(core: Core, admission: Admission): void {
  core.state.admission = admission;
  core.commands.push({ type: 'slots', gates: admission.gates.slice(admission.taken) });
}

/** Those that never let wait come first. */
function inOrder(gates: readonly GateWanted[]): GateWanted[] {
  const waits = ({ overflow }: GateWanted): boolean => overflow === 'queue' || overflow === 'cancel-oldest';
  return [...gates.filter((gate) => !waits(gate)), ...gates.filter(waits)];
}
