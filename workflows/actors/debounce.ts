/**
 * The workflow `debounce`: holds the last payload of a key, and starts one run with it when nothing more has come for the
 * time that the definition says (document 004), or at the latest when the first has waited as long as it may. Payloads that
 * come while the run is being started are held anew.
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
} from '../../src/contract/debounce.ts';
import { isFull, stored } from './actor.ts';

/** What is sent again comes soon. */
const MOST_KNOWN = 1_000;

const { fireDebounced } = proxyActivities<DebounceActivities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', maximumInterval: '60s' },
});

export function debounce(start: DebounceStart): Promise<void> {
  return stored(() => keepDebounce(start));
}

async function keepDebounce({ organizationId, historyLimit, carried }: DebounceStart): Promise<void> {
  let held: HeldPayload | undefined = carried?.held;
  const name = carried?.name ?? workflowInfo().runId;
  let rounds = carried?.rounds ?? 0;
  let since = carried?.since ?? Date.now();
  const known = new Set(carried?.known);
  setHandler(defineSignal<[HeldPayload]>(HOLD_SIGNAL), (payload) => {
    // Sent again, it must not take the place of what has come since.
    if (payload.id !== undefined && known.has(payload.id)) return;
    if (payload.id !== undefined) remember(known, payload.id);
    if (held === undefined) since = Date.now();
    held = payload.forMs === undefined ? payload : { ...payload, due: Date.now() + payload.forMs };
  });
  await condition(() => held !== undefined);
  while (held !== undefined) {
    const waiting: HeldPayload = held;
    const waitMs = Math.min(waiting.due, since + (waiting.mostMs ?? Number.POSITIVE_INFINITY)) - Date.now();
    const isMore = waitMs > 0 && (await condition(() => held !== waiting, waitMs));
    if (isFull(historyLimit) && isMore)
      await continueAsNew<typeof debounce>({
        organizationId,
        historyLimit,
        carried: { held: held ?? waiting, name, rounds, since, known: [...known] },
      });
    if (isMore) continue;
    held = undefined;
    rounds += 1;
    await fireDebounced({ organizationId, held: waiting, key: `${name} ${rounds}` });
  }
}

function remember(known: Set<string>, id: string): void {
  known.add(id);
  const [oldest] = known;
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
}
