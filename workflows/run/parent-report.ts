/** The result of a child, sent to the run that waits for it by the signal `childDone` (ARCHITECTURE.md §3). */

import { getExternalWorkflowHandle, log, sleep } from '@temporalio/workflow';
import type { RunError, RunInput } from '../../src/contract/run/run.ts';
import { childDoneSignal } from '../../src/engine/state/child-run.ts';
import { tooLarge } from '../../src/engine/state/failure.ts';
import { MAX_PAYLOAD_BYTES } from '../../src/engine/state/limits.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import type { Json } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { isWorkflowGone, limitErrorDetails } from './failures.ts';

/** Pauses between attempts. A parent that gets no signal asks for the child's status later (children.ts). */
const RETRY_PAUSES_MS = [1_000, 5_000, 30_000];

/** Signals the parent, if one waits. Never fails: the result of this run does not depend on it. */
export async function reportToParent(
  notify: RunInput['notify'],
  ended: { readonly output: Json } | { readonly error: RunError },
): Promise<void> {
  if (notify === undefined) return;
  const payload = childDoneSignal(notify.path, limitReport(ended));
  for (const pauseMs of [...RETRY_PAUSES_MS, undefined]) {
    try {
      await getExternalWorkflowHandle(notify.workflowId).signal('childDone', payload);
      return;
    } catch (error) {
      log.info('The parent could not be reached.', { parent: notify.workflowId, error: String(error) });
      if (pauseMs === undefined || isWorkflowGone(error)) return;
    }
    await sleep(pauseMs);
  }
}

function limitReport(ended: { output: Json } | { error: RunError }): { output: Json } | { error: RunError } {
  if ('error' in ended) return { error: limitErrorDetails(ended.error) };
  const size = jsonBytes(ended.output);
  if (size <= MAX_PAYLOAD_BYTES) return ended;
  const { code, message, details } = tooLarge('result_too_large', "The run's output", size);
  return { error: { code, message, retryable: false, ...omitUndefined({ details }) } };
}
