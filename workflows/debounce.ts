/**
 * The workflow `debounce`: holds the last payload of a key, and starts one run with it when nothing more has come for the
 * time that the definition says (document 004). Payloads that come while the run is being started are held anew.
 */
import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  type DebounceActivities,
  type DebounceStart,
  type HeldPayload,
  HOLD_SIGNAL,
} from '../src/definition/debounce-contract.ts';
import { isFull } from './actor.ts';

const { fireDebounced } = proxyActivities<DebounceActivities>({
  startToCloseTimeout: '60s',
  retry: { initialInterval: '1s', maximumInterval: '60s' },
});

export async function debounce({ organizationId, historyLimit, carried }: DebounceStart): Promise<void> {
  let held: HeldPayload | undefined = carried?.held;
  const name = carried?.name ?? workflowInfo().runId;
  let rounds = carried?.rounds ?? 0;
  setHandler(defineSignal<[HeldPayload]>(HOLD_SIGNAL), (payload) => {
    held = payload;
  });
  await condition(() => held !== undefined);
  while (held !== undefined) {
    const waiting: HeldPayload = held;
    const waitMs = waiting.due - Date.now();
    const isMore = waitMs > 0 && (await condition(() => held !== waiting, waitMs));
    if (isFull(historyLimit) && isMore)
      await continueAsNew<typeof debounce>({
        organizationId,
        historyLimit,
        carried: { held: held ?? waiting, name, rounds },
      });
    if (isMore) continue;
    held = undefined;
    rounds += 1;
    await fireDebounced({ organizationId, held: waiting, key: `${name} ${rounds}` });
  }
}
