/**
 * The workflow `request`: one HTTP request with an idempotency key. The gateway that handles the request starts the
 * workflow and sends it `working` from time to time. The workflow ends with the answer, which repeated requests get
 * too. It fails when the gateway falls silent.
 */
import { ApplicationFailure, condition, defineSignal, setHandler } from '@temporalio/workflow';
import {
  ABANDONED_CODE,
  ANSWERED_SIGNAL,
  type RequestStart,
  type SealedAnswer,
  WORKING_SIGNAL,
} from '../../src/contract/idempotent-request.ts';

/**
 * Without a signal for this long the gateway counts as killed. Gateways of versions before 0.4 signal every 10 s.
 */
const GATEWAY_TIMEOUT_MS = 15_000;

export async function request(_start: RequestStart): Promise<SealedAnswer> {
  let answer: SealedAnswer | null = null;
  let signals = 0;
  setHandler(defineSignal<[SealedAnswer]>(ANSWERED_SIGNAL), (given) => {
    answer ??= given;
  });
  setHandler(defineSignal(WORKING_SIGNAL), () => {
    signals += 1;
  });
  while (answer === null) {
    const before = signals;
    if (!(await condition(() => answer !== null || signals !== before, GATEWAY_TIMEOUT_MS)))
      throw ApplicationFailure.nonRetryable('The gateway that handled this request has stopped.', ABANDONED_CODE);
  }
  return answer;
}
