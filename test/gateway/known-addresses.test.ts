// Lookups of public addresses, counted, by a clock of the test's own.
import { expect, it } from 'vitest';
import { KnownAddresses } from '../../src/gateway/input/known-addresses.ts';

function addresses() {
  const state = { now: 0, looked: 0, there: new Set<string>() };
  const known = new KnownAddresses(() => state.now);
  const find = (address: string) =>
    known.find(address, async () => {
      state.looked += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return state.there.has(address) ? address : undefined;
    });
  const all = async (count: number, addressOf: (n: number) => string) => {
    const found = await Promise.allSettled(Array.from({ length: count }, (_, n) => find(addressOf(n))));
    return found.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as { code: string }).code));
  };
  return { state, find, all };
}

it('looks up 200 made-up addresses at once, then 50 a second, and refuses the others', async () => {
  const { state, all } = addresses();
  const told = await all(600, (n) => `made-up-${n}`);
  expect(state.looked).toBe(200);
  expect(told.filter((one) => one === undefined)).toHaveLength(200);
  expect(told.filter((one) => one === 'gateway_busy')).toHaveLength(400);
  state.now += 1_000;
  await all(600, (n) => `others-${n}`);
  expect(state.looked).toBe(250);
});

it('always finds what it has found before, and what is deleted no more', async () => {
  const { state, find, all } = addresses();
  state.there.add('hook');
  expect(await find('hook')).toBe('hook');
  await all(600, (n) => `made-up-${n}`);
  expect(await find('hook')).toBe('hook');
  state.there.delete('hook');
  expect(await find('hook')).toBeUndefined();
  await expect(find('hook')).rejects.toMatchObject({ code: 'gateway_busy' });
});

it('takes a crowd at an address that it does not know yet for one', async () => {
  const { state, all } = addresses();
  state.there.add('hook');
  expect(new Set(await all(1_000, () => 'hook'))).toEqual(new Set(['hook']));
  const found = state.looked;
  expect(new Set(await all(1_000, () => 'none'))).toEqual(new Set([undefined]));
  expect(state.looked).toBe(found + 1);
});
