// Lookups of public addresses, counted, by a clock of the test's own.
import { expect, it } from 'vitest';
import { AddressLookupLimiter } from '../../src/gateway/input/address-lookup-limiter.ts';

function addresses() {
  const state = { now: 0, lookups: 0, existing: new Set<string>() };
  const limiter = new AddressLookupLimiter(() => state.now);
  const find = (address: string) =>
    limiter.find(address, async () => {
      state.lookups += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return state.existing.has(address) ? address : undefined;
    });
  const all = async (count: number, addressOf: (n: number) => string) => {
    const found = await Promise.allSettled(Array.from({ length: count }, (_, n) => find(addressOf(n))));
    return found.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as { code: string }).code));
  };
  return { state, find, all };
}

it('looks up 200 made-up addresses in parallel, then 50 a second, and refuses the others', async () => {
  const { state, all } = addresses();
  const results = await all(600, (n) => `made-up-${n}`);
  expect(state.lookups).toBe(200);
  expect(results.filter((one) => one === undefined)).toHaveLength(200);
  expect(results.filter((one) => one === 'gateway_busy')).toHaveLength(400);
  state.now += 1_000;
  await all(600, (n) => `others-${n}`);
  expect(state.lookups).toBe(250);
});

it('always finds what it has found before, and what is deleted no more', async () => {
  const { state, find, all } = addresses();
  state.existing.add('hook');
  expect(await find('hook')).toBe('hook');
  await all(600, (n) => `made-up-${n}`);
  expect(await find('hook')).toBe('hook');
  state.existing.delete('hook');
  expect(await find('hook')).toBeUndefined();
  await expect(find('hook')).rejects.toMatchObject({ code: 'gateway_busy' });
});

it('looks an unknown address up once for many parallel calls', async () => {
  const { state, all } = addresses();
  state.existing.add('hook');
  expect(new Set(await all(1_000, () => 'hook'))).toEqual(new Set(['hook']));
  const found = state.lookups;
  expect(new Set(await all(1_000, () => 'none'))).toEqual(new Set([undefined]));
  expect(state.lookups).toBe(found + 1);
});
