/** What somebody would write by hand on Temporal for the same work: the other side of every row of the bench. */
import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { EffectInput, EffectOutput } from '../../src/definition/effect.ts';

const { http } = proxyActivities<{ http(input: EffectInput): Promise<EffectOutput> }>({
  startToCloseTimeout: 30_000,
  retry: { maximumAttempts: 3, initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 60_000 },
});

function input(n: number): EffectInput {
  const { workflowId } = workflowInfo();
  return {
    config: { url: `http://bench/${n}` },
    secrets: [],
    idempotencyKey: `${workflowId}/${n}`,
    path: String(n),
    stepSlug: 'call',
    execution: { id: workflowId, workflow: 'bench', organizationId: 'default' },
  };
}

/** `count` activities, one after the other; the data of the last. */
export async function sequence(count: number): Promise<unknown> {
  let last: unknown = null;
  for (let n = 0; n < count; n++) last = (await http(input(n))).data;
  return last;
}

/** The same, continuing as new past `limit` events. */
export async function longSequence(count: number, limit: number, from = 0): Promise<unknown> {
  let last: unknown = null;
  for (let n = from; n < count; n++) {
    last = (await http(input(n))).data;
    if (workflowInfo().historyLength >= limit && n + 1 < count)
      await continueAsNew<typeof longSequence>(count, limit, n + 1);
  }
  return last;
}

/** `count` activities, `atOnce` at a time; all results in order. */
export async function fanOut(count: number, atOnce: number): Promise<unknown[]> {
  const results: unknown[] = new Array(count).fill(null);
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) results[n] = (await http(input(n))).data;
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
  return results;
}

/** Waits for `approve`, then one activity. */
export async function approved(): Promise<unknown> {
  let done = false;
  setHandler(defineSignal('approve'), () => {
    done = true;
  });
  await condition(() => done);
  return (await http(input(0))).data;
}
