import { setMaxListeners } from 'node:events';
import { expect, it } from 'vitest';
import { ClientError } from '../../src/client/errors.ts';
import { type Access, unaudited } from '../../src/client/temporal/access.ts';
import { read, write, writeUnqueued } from '../../src/client/temporal/rpc.ts';

/** The access of a process, and the function that ends it. */
function endable() {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const client = { withDeadline: (_at: number, act: () => unknown) => act() };
  const access = unaudited({ client, callsEnd: controller.signal } as unknown as Access);
  return { access, end: () => controller.abort() };
}

const unanswered = () => new Promise<never>(() => {});
const calls = [
  ['read', 'temporal_unreachable', (access, act) => read(access, act)],
  ['write', 'outcome_unknown', (access, act) => write(access, 'rest', 'an actor', act)],
  ['signal', 'outcome_unknown', (access, act) => writeUnqueued(access, 'rest', act)],
] as const satisfies [
  string,
  string,
  (access: ReturnType<typeof endable>['access'], act: () => Promise<unknown>) => unknown,
][];

it.each(calls)('a %s no longer waits once the process ends', async (_kind, code, call) => {
  const { access, end } = endable();
  // More than the concurrency: the others wait for a slot, and are never sent.
  const all = Promise.allSettled(Array.from({ length: 100 }, () => call(access, unanswered)));
  await new Promise((resolve) => setImmediate(resolve));
  end();
  const outcomes = await all;
  for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: { code } });
  let isSent = false;
  await expect(call(access, async () => (isSent = true))).rejects.toMatchObject({ code });
  expect(isSent).toBe(false);
});

it.each(calls)('a %s that is answered in time has its answer, also a refusal', async (_kind, _code, call) => {
  const { access, end } = endable();
  const refusal = new ClientError('limit_reached', 'Enough.');
  const answer = call(access, async () => 'done');
  const refused = call(access, async () => {
    end();
    throw refusal;
  });
  expect(await answer).toBe('done');
  await expect(refused).rejects.toBe(refusal);
});
