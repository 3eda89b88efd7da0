/**
 * The workflow `request`: one request that may be sent again. Whoever works on it has started this, and says from time to time
 * that it goes on; it ends with the answer that others of the same key get, or fails when whoever worked on it is gone.
 */
import { ApplicationFailure, condition, defineSignal, setHandler } from '@temporalio/workflow';
import {
  ABANDONED,
  ANSWERED_SIGNAL,
  type RequestStart,
  type SealedAnswer,
  WORKING_SIGNAL,
} from '../../src/contract/request.ts';

/** After so long without a word the gateway that worked on it is taken to have been killed. */
const SILENT_MS = 30_000;

export async function request(_start: RequestStart): Promise<SealedAnswer> {
  let answer: SealedAnswer | null = null;
  let words = 0;
  setHandler(defineSignal<[SealedAnswer]>(ANSWERED_SIGNAL), (given) => {
    answer ??= given;
  });
  setHandler(defineSignal(WORKING_SIGNAL), () => {
    words += 1;
  });
  while (answer === null) {
    const heard = words;
    if (!(await condition(() => answer !== null || words !== heard, SILENT_MS)))
      throw ApplicationFailure.nonRetryable('Nobody works on this request any more.', ABANDONED);
  }
  return answer;
}
