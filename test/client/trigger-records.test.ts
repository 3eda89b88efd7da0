import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Access } from '../../src/client/temporal/access.ts';
import { flushFirings, recordFiring } from '../../src/client/triggers/trigger-records.ts';
import type { Firing } from '../../src/contract/trigger.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Keeps what the triggers' actors are told; `answer` is when they take it. */
function listening(answer: () => Promise<void> = async () => {}): { access: Access; told: unknown[] } {
  const told: unknown[] = [];
  const signal = async (_name: string, { outcome, count }: Firing) => {
    await answer();
    told.push([outcome, count]);
  };
  const client = {
    withDeadline: (_at: number, act: () => Promise<unknown>) => act(),
    workflow: { getHandle: () => ({ signal }) },
  };
  return { access: { client } as unknown as Access, told };
}

const firing = (outcome: Firing['outcome']): Firing => ({ at: '2026-01-01T00:00:00.000Z', outcome });

it('tells firings of a kind together, after a moment', async () => {
  const { access, told } = listening();
  for (let n = 0; n < 3; n++) recordFiring(access, 'default', 'a.in', firing('started'));
  recordFiring(access, 'default', 'a.in', firing('refused'));
  expect(told).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(told).toEqual([
    ['started', 3],
    ['refused', 1],
  ]);
  await flushFirings(access);
  expect(told).toHaveLength(2);
});

it('tells at once what waits, and waits for what is being told, where the gateway closes', async () => {
  let take = (): void => {};
  const taken = new Promise<void>((resolve) => {
    take = resolve;
  });
  const { access, told } = listening(() => taken);
  recordFiring(access, 'default', 'a.in', firing('started'));
  const closing = flushFirings(access);
  expect(vi.getTimerCount()).toBe(0);
  take();
  await closing;
  expect(told).toEqual([['started', 1]]);
});

it('does not fail where nobody can be told', async () => {
  const { access } = listening(() => Promise.reject(new Error('away')));
  recordFiring(access, 'default', 'a.in', firing('started'));
  await expect(flushFirings(access)).resolves.toBeUndefined();
});
