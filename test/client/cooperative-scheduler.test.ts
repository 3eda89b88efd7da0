/** Long work of the gateway in time slices, with other work between them. Rounds of the event loop are counted. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CooperativeScheduler } from '../../src/client/concurrency/cooperative-scheduler.ts';
import type { Chunks } from '../../src/steps/chunks.ts';

function* work(chunks: number, done: () => void): Chunks<string> {
  for (let n = 0; n < chunks; n++) {
    done();
    yield;
  }
  return 'complete';
}

/** How many chunks ran in each round of the event loop until `until`. */
async function rounds(until: Promise<unknown>, count: () => number): Promise<number[]> {
  const counts: number[] = [];
  let isOver = false;
  void until.then(() => {
    isOver = true;
  });
  for (let before = count(); !isOver; before = count()) {
    await setImmediate();
    counts.push(count() - before);
  }
  return counts;
}

describe('the cooperative scheduler', () => {
  it('yields to the event loop between chunks, when the time slice is over', async () => {
    let chunks = 0;
    const result = new CooperativeScheduler(0).run(work(20, () => chunks++));
    const counts = await rounds(result, () => chunks);
    expect(await result).toBe('complete');
    expect(chunks).toBe(20);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  });

  it('lets one caller continue at a time, however many there are', async () => {
    let chunks = 0;
    const results = Promise.all(
      Array.from({ length: 10 }, () => new CooperativeScheduler(0).run(work(5, () => chunks++))),
    );
    const counts = await rounds(results, () => chunks);
    expect(await results).toEqual(Array.from({ length: 10 }, () => 'complete'));
    expect(chunks).toBe(50);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  });

  it('runs what fits into one time slice without a yield', async () => {
    let chunks = 0;
    const scheduler = new CooperativeScheduler(60_000);
    await scheduler.yieldIfDue();
    const result = scheduler.run(work(20, () => chunks++));
    expect(chunks).toBe(20);
    expect(await result).toBe('complete');
  });
});
