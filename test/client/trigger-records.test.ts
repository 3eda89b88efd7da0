import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Access } from '../../src/client/temporal/access.ts';
import { flushFirings, recordFiring } from '../../src/client/triggers/trigger-records.ts';
import type { Firing } from '../../src/contract/triggers/trigger.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Records the signals that the actors of triggers receive. `answer` resolves when they accept one. */
function recording(answer: () => Promise<void> = async () => {}): { access: Access; received: unknown[] } {
  const received: unknown[] = [];
  const signal = async (_name: string, { outcome, count }: Firing) => {
    await answer();
    received.push([outcome, count]);
  };
  const client = {
    withDeadline: (_at: number, act: () => Promise<unknown>) => act(),
    workflow: { getHandle: () => ({ signal }) },
  };
  return { access: { client } as unknown as Access, received };
}

const firing = (outcome: Firing['outcome']): Firing => ({ at: '2026-01-01T00:00:00.000Z', outcome });

it('reports firings of a kind in one signal, after a delay', async () => {
  const { access, received } = recording();
  for (let n = 0; n < 3; n++) recordFiring(access, 'default', 'a.in', firing('started'));
  recordFiring(access, 'default', 'a.in', firing('refused'));
  expect(received).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(received).toEqual([
    ['started', 3],
    ['refused', 1],
  ]);
  await flushFirings(access);
  expect(received).toHaveLength(2);
});

it('reports pending firings immediately, and waits for signals in flight, where the gateway closes', async () => {
  let take = (): void => {};
  const taken = new Promise<void>((resolve) => {
    take = resolve;
  });
  const { access, received } = recording(() => taken);
  recordFiring(access, 'default', 'a.in', firing('started'));
  const closing = flushFirings(access);
  expect(vi.getTimerCount()).toBe(0);
  take();
  await closing;
  expect(received).toEqual([['started', 1]]);
});

it('does not fail where a signal cannot be sent', async () => {
  const { access } = recording(() => Promise.reject(new Error('unavailable')));
  recordFiring(access, 'default', 'a.in', firing('started'));
  await expect(flushFirings(access)).resolves.toBeUndefined();
});
