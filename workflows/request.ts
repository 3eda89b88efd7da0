/**
 * The workflow `request`: one request that may be sent again. Whoever works on it has started this; it ends with the answer
 * that others of the same key get, or, by Temporal's own deadline, without one when whoever worked on it is gone.
 */
import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import { ANSWERED_SIGNAL, type RequestStart, type SealedAnswer } from '../src/definition/request-contract.ts';

export async function request(_start: RequestStart): Promise<SealedAnswer | null> {
  let answer: SealedAnswer | null = null;
  setHandler(defineSignal<[SealedAnswer]>(ANSWERED_SIGNAL), (given) => {
    answer ??= given;
  });
  await condition(() => answer !== null);
  return answer;
}
