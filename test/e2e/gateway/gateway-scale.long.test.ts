// What a start costs Temporal with more definitions, limits and organizations: counted as the bench counts it.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MIN_SHARDED_LIMIT } from '../../../src/client/starts/limiters.ts';
import { type CountedGateway, countedGateway, type StartCost } from '../../bench/scale/cost.ts';
import { sharedServer } from '../../support/temporal.ts';
import { unique } from './gateway-support.ts';

const STARTS = 20;
/** A run has three writes: its start, and its task. On a busy machine some tasks are given out twice. */
const RETRIED = 4.5;

const { server } = sharedServer({ SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789' });
let gateway: CountedGateway;
beforeAll(async () => {
  gateway = await countedGateway(server, unique);
});
afterAll(async () => {
  await gateway.close();
});

/** What the gateway remembers for a second it reads again once a second. */
const seconds = ({ seconds }: StartCost): number => Math.ceil(seconds) + 1;

it.each([
  [4, 1],
  [1, 3],
])('is one call and no write to an actor, with %i definitions in each of %i organizations', async (...numbers) => {
  const [definitions, organizations] = numbers;
  const cost = await gateway.cost({ kind: 'manual', definitions, organizations, limit: 0 }, STARTS);
  expect(cost).toMatchObject({ actorWrites: 0, busiestWrites: 0 });
  expect(cost.runWrites).toBeLessThan(RETRIED);
  // Of each organization: its keys, and its limits.
  const remembered = organizations * (definitions + 2);
  expect(cost.calls * STARTS - STARTS).toBeLessThanOrEqual(remembered * seconds(cost));
  expect(cost.mostCalls, cost.mostCalled).toBeLessThanOrEqual(2 * seconds(cost));
});

it('with a key, and by a webhook, writes to the key, and to the trigger less than once for each start', async () => {
  const keyed = await gateway.cost({ kind: 'keyed', definitions: 1, organizations: 1, limit: 0 }, STARTS);
  expect(keyed.runWrites).toBeLessThan(RETRIED);
  expect(keyed.busiest).toMatch(/^request\./);
  expect(keyed.busiestWrites * STARTS).toBeLessThanOrEqual(10);
  expect(keyed.mostCalls, keyed.mostCalled).toBeLessThanOrEqual(Math.max(5, 2 * seconds(keyed)));
  const hooked = await gateway.cost({ kind: 'webhook', definitions: 1, organizations: 1, limit: 0 }, STARTS);
  expect(hooked.runWrites).toBeLessThan(RETRIED);
  expect(hooked.busiest).toMatch(/^trigger\./);
  // One record of many deliveries: a signal, and its task.
  expect(hooked.busiestWrites).toBeLessThan(1);
  // Its address and its definition are read for each delivery: a path that was dropped starts nothing.
  expect(hooked.mostCalls, hooked.mostCalled).toBeLessThanOrEqual(STARTS + seconds(hooked));
});

it('under a limit takes no more calls, and where the limit is sharded no shard has most of the writes', async () => {
  const one = await gateway.cost(
    { kind: 'manual', definitions: 1, organizations: 1, limit: MIN_SHARDED_LIMIT - 1 },
    STARTS,
  );
  const sharded = await gateway.cost({ kind: 'manual', definitions: 1, organizations: 1, limit: 10_000 }, STARTS);
  for (const cost of [one, sharded]) {
    expect(cost.calls * STARTS - STARTS).toBeLessThanOrEqual(3 * seconds(cost));
    expect(cost.busiest).toMatch(/^gate\./);
  }
  // The limiter is asked for a slot, and gets the release.
  expect(one.busiestWrites).toBe(one.actorWrites);
  expect(one.busiestWrites).toBeLessThanOrEqual(6);
  expect(sharded.busiestWrites).toBeLessThan(sharded.actorWrites / 3);
});
