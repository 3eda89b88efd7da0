// Calls to Temporal queue by caller: a flood from one holds up no other.
import type { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { type Access, unaudited, withCaller } from '../../src/client/temporal/access.ts';
import { read, write } from '../../src/client/temporal/rpc.ts';

const client = { withDeadline: (_at: number, act: () => unknown) => act() } as unknown as Client;
const access = unaudited({ client } as unknown as Access);

/** Calls that end one by one, in the order in which they began. */
function calls() {
  const begun: { by: string; end(): void }[] = [];
  const call = (by: string) => () =>
    new Promise<void>((end) => {
      begun.push({ by, end });
    });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { begun, call, settled };
}

it.each<[string, number, (caller: string, act: () => Promise<void>) => Promise<void>]>([
  ['reads', 64, (caller, act) => read(withCaller(access, caller), act)],
  ['writes', 32, (caller, act) => write(withCaller(access, caller), 'starts', `${caller} ${Math.random()}`, act)],
])('a caller waits for one of %s to end, not for the flood of another', async (_what, concurrency, send) => {
  const { begun, call, settled } = calls();
  const all = Array.from({ length: 600 }, () => send('-', call('-')));
  await settled();
  expect(begun).toHaveLength(concurrency);
  all.push(send('checks', call('checks')), send('acme', call('acme')));
  await settled();
  for (let n = 0; n < 3; n++) {
    begun[n]?.end();
    await settled();
  }
  expect(begun.slice(concurrency).map(({ by }) => by)).toEqual(['-', 'checks', 'acme']);
  for (let n = 3; n < begun.length; n++) {
    begun[n]?.end();
    await settled();
  }
  await Promise.all(all);
  expect(begun).toHaveLength(602);
});
