/**
 * How a run gets its slots before it walks (LANGUAGE.md §1, concurrency). It asks its limiters ("gates" in stored
 * names) one after the other, always in the same order, so no two runs wait for each other. While it waits it is
 * pending: messages are kept, it can be cancelled, and nothing is walked.
 *
 * The fold finds the limiters' answers in history (E6): the request is the activity `$slots`, and a limiter that made
 * the run wait sends the signal `granted`.
 */

import { type AppliedLimit, PRESTART_LEASE_MS, type SlotAnswer } from '../../contract/limits/limiter.ts';
import { isObject } from '../../json/json.ts';
import type { Core } from '../state/core.ts';
import type { Event } from '../state/protocol.ts';
import type { Admission, RunState } from '../state/state.ts';
import { cancelRun, failRun } from '../walk/ending.ts';

/** The id of the activity by which a run asks its limiters. */
export const SLOTS_ACTIVITY_ID = '$slots';
/** The id of the timer after which a waiting run asks again, since a limiter may have been terminated. */
export const SLOTS_TIMER_ID = '$slots-clock';

/** The events in the activity's result. */
export function slotEvents(data: unknown, at: number): Event[] {
  const answers = isObject(data) ? data['answers'] : undefined;
  return Array.isArray(answers) ? [{ type: 'slots', at, answers: answers.filter(isSlotAnswer) }] : [];
}

/** The activity may have been completed by hand. */
function isSlotAnswer(answer: unknown): answer is SlotAnswer {
  if (!isObject(answer) || typeof answer['gate'] !== 'string') return false;
  const { as, since, code, message } = answer;
  if (as === 'waiting') return typeof since === 'string' && !Number.isNaN(Date.parse(since));
  if (as === 'refused') return typeof code === 'string' && typeof message === 'string';
  return as === 'granted' || as === 'dropped';
}

/** Asks for the run's slots, if it needs any. `startedAt`: when its execution started, in epoch milliseconds. */
export function requestSlots(core: Core, startedAt: number): void {
  const limiters = blockingLimitersLast(
    (core.state.genesis.gates ?? []).filter((limiter) => !hasLease(limiter, startedAt)),
  );
  if (limiters.length > 0) askLimiters(core, { limiters, granted: 0 });
}

/** Whether the starter took a lease for the run, recently enough that the limiter still keeps it. */
export function hasLease({ taken, takenAt = Number.POSITIVE_INFINITY }: AppliedLimit, startedAt: number): boolean {
  return taken === true && startedAt - takenAt <= PRESTART_LEASE_MS;
}

/** Limiters that have not granted a slot, the next one first. */
export function wantedSlots(state: RunState): readonly AppliedLimit[] {
  const { admission, ending } = state;
  return admission === undefined || ending !== undefined ? [] : admission.limiters.slice(admission.granted);
}

/** Every limiter that may keep a lease or a queue entry for the run. */
export function limiterIds(state: RunState): readonly string[] {
  return (state.genesis.gates ?? []).map(({ gate }) => gate);
}

/** The answers of limiters, in the order of the request. An answer that was not requested is ignored (E4). */
export function slotsAnswered(core: Core, answers: readonly SlotAnswer[]): void {
  for (const answer of answers) {
    const { admission } = core.state;
    if (admission === undefined || admission.limiters[admission.granted]?.gate !== answer.gate) continue;
    switch (answer.as) {
      case 'granted':
        countGrant(core, admission);
        break;
      case 'waiting':
        admission.waiting = { since: Date.parse(answer.since) };
        break;
      case 'dropped':
        cancelRun(core, 'The limit of concurrent runs is reached, and this run is over it.');
        return;
      case 'refused':
        failRun(core, { code: answer.code, message: answer.message, retryable: true }, false);
        return;
    }
  }
  // The answer may be outdated: the limiter's signal came first, and the next limiter has not been asked.
  const { admission } = core.state;
  if (admission !== undefined && admission.waiting === undefined) askLimiters(core, admission);
}

/** The signal of the limiter for which the run waits. */
export function slotGranted(core: Core, gate: string): void {
  const { admission } = core.state;
  if (admission === undefined || admission.limiters[admission.granted]?.gate !== gate) return;
  // Without a wait, an answer is on its way, and asks the next limiter when it arrives.
  const wasWaiting = admission.waiting !== undefined;
  countGrant(core, admission);
  if (core.state.admission !== undefined && wasWaiting) askLimiters(core, core.state.admission);
}

function countGrant(core: Core, admission: Admission): void {
  admission.granted++;
  delete admission.waiting;
  if (admission.granted === admission.limiters.length) delete core.state.admission;
}

function askLimiters(core: Core, admission: Admission): void {
  core.state.admission = admission;
  core.commands.push({ type: 'slots', gates: admission.limiters.slice(admission.granted) });
}

/** Limiters that never make a run wait come first. */
function blockingLimitersLast(limiters: readonly AppliedLimit[]): AppliedLimit[] {
  const mayWait = ({ overflow }: AppliedLimit): boolean => overflow === 'queue' || overflow === 'cancel-oldest';
  return [...limiters.filter((limiter) => !mayWait(limiter)), ...limiters.filter(mayWait)];
}
