import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Semaphore } from '../../src/client/concurrency/semaphore.ts';

it('grants its slots, and freed ones in the order of the requests', async () => {
  const semaphore = new Semaphore(2);
  const granted: number[] = [];
  const releases: (() => void)[] = [];
  for (let n = 0; n < 6; n++)
    void semaphore.acquire().then((release) => {
      granted.push(n);
      releases.push(release);
    });
  await nextRound();
  expect(granted).toEqual([0, 1]);
  for (const _ of Array(6)) {
    // A second release of a slot does nothing.
    releases[0]?.();
    releases.shift()?.();
    await nextRound();
  }
  expect(granted).toEqual([0, 1, 2, 3, 4, 5]);
  expect(semaphore.isIdle).toBe(true);
});

it('gives freed slots to the lanes round robin', async () => {
  const semaphore = new Semaphore(1);
  const order: string[] = [];
  const first = await semaphore.acquire('starts');
  const work = async (lane: string, name: string) => {
    const release = await semaphore.acquire(lane);
    order.push(name);
    release();
  };
  const all = [
    ...Array.from({ length: 100 }, (_, n) => work('starts', `start ${n}`)),
    work('rest', 'change 0'),
    work('rest', 'change 1'),
    work('runs', 'decision 0'),
  ];
  first();
  await Promise.all(all);
  expect(order.slice(0, 6)).toEqual(['start 0', 'change 0', 'decision 0', 'start 1', 'change 1', 'start 2']);
  expect(order.at(-1)).toBe('start 99');
  expect(semaphore.isIdle).toBe(true);
});
