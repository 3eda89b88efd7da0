import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Places } from '../../src/client/temporal/places.ts';

it('lets in so many at once, and the others in the order in which they came', async () => {
  const places = new Places(2);
  const inside: number[] = [];
  const leaves: (() => void)[] = [];
  for (let n = 0; n < 6; n++)
    void places.enter().then((leave) => {
      inside.push(n);
      leaves.push(leave);
    });
  await turn();
  expect(inside).toEqual([0, 1]);
  for (const _ of Array(6)) {
    // To leave twice frees one place.
    leaves[0]?.();
    leaves.shift()?.();
    await turn();
  }
  expect(inside).toEqual([0, 1, 2, 3, 4, 5]);
  expect(places.isEmpty).toBe(true);
});

it('gives free places to the lanes in turns', async () => {
  const places = new Places(1);
  const order: string[] = [];
  const first = await places.enter('starts');
  const pass = async (lane: string, name: string) => {
    const leave = await places.enter(lane);
    order.push(name);
    leave();
  };
  const passes = [
    ...Array.from({ length: 100 }, (_, n) => pass('starts', `start ${n}`)),
    pass('rest', 'change 0'),
    pass('rest', 'change 1'),
    pass('runs', 'decision 0'),
  ];
  first();
  await Promise.all(passes);
  expect(order.slice(0, 6)).toEqual(['start 0', 'change 0', 'decision 0', 'start 1', 'change 1', 'start 2']);
  expect(order.at(-1)).toBe('start 99');
  expect(places.isEmpty).toBe(true);
});
