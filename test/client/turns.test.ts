/** Long work of the gateway in turns: what others wait for comes in between. Turns are counted, not timed. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Turns } from '../../src/client/temporal/turns.ts';
import type { Parts } from '../../src/steps/parts.ts';

function* work(parts: number, done: () => void): Parts<string> {
  for (let n = 0; n < parts; n++) {
    done();
    yield;
  }
  return 'whole';
}

/** Counts rounds of the event loop until `until`, and tells what happened in each. */
async function rounds(until: Promise<unknown>, happened: () => number): Promise<number[]> {
  const counts: number[] = [];
  let isOver = false;
  void until.then(() => {
    isOver = true;
  });
  for (let before = happened(); !isOver; before = happened()) {
    await setImmediate();
    counts.push(happened() - before);
  }
  return counts;
}

describe('Turns', () => {
  it('let the event loop come round between parts, when the turn is over', async () => {
    let parts = 0;
    const result = new Turns(0).take(work(20, () => parts++));
    const counts = await rounds(result, () => parts);
    expect(await result).toBe('whole');
    expect(parts).toBe(20);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  });

  it('come one by one, however many work at a time', async () => {
    let parts = 0;
    const results = Promise.all(Array.from({ length: 10 }, () => new Turns(0).take(work(5, () => parts++))));
    const counts = await rounds(results, () => parts);
    expect(await results).toEqual(Array.from({ length: 10 }, () => 'whole'));
    expect(parts).toBe(50);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  });

  it('do what fits into one turn without a pause', async () => {
    let parts = 0;
    const turns = new Turns(60_000);
    await turns.rest();
    const result = turns.take(work(20, () => parts++));
    expect(parts).toBe(20);
    expect(await result).toBe('whole');
  });
});
