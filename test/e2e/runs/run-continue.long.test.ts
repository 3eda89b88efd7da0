import { describe, expect, it } from 'vitest';
import { sharedServer, startWorker, type TestServer } from '../../support/temporal.ts';
import { abreast, collect, fetchMany, rounds } from './run-definitions.ts';
import { memoOf, persistently, startRun, until, waitsAt } from './run-support.ts';

const LIMIT = 30;
const MESSAGES = 2_000;
const SENDERS = 5;

const { server } = sharedServer(
  { SIGNALBOX_HISTORY_LIMIT: String(LIMIT) },
  {
    activities: {
      http: (async (input: { config: { url: string } }) => {
        await new Promise((resolve) => setTimeout(resolve, input.config.url.endsWith('/slow') ? 1_500 : 0));
        return { data: input.config.url };
      }) as never,
    },
  },
);

/** How many executions the run has had so far, and how many events the longest had. */
async function executions(workflowId: string): Promise<{ count: number; longest: number }> {
  let count = 0;
  let longest = 0;
  for await (const execution of server.client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
    count++;
    longest = Math.max(longest, execution.historyLength);
  }
  return { count, longest };
}

describe('a run that continues as new', () => {
  it('keeps its place in a loop of sleeps and approvals', async () => {
    const count = 12;
    const handle = await startRun(server, rounds, { input: { rounds: Array.from({ length: count }, (_, i) => i) } });
    for (let i = 0; i < count; i++) {
      const memo = await waitsAt(handle, `each~${i}/ask`);
      expect(memo.waitingFor[0]?.message).toBe(`Round ${i}?`);
      const answer = { args: [{ step: 'ask', by: 'ann', key: `round-${i}` }] as [unknown] };
      expect(await handle.executeUpdate('approve', answer)).toMatchObject({ accepted: true, path: `each~${i}/ask` });
    }
    expect(await handle.result()).toBe(count);
    const { count: runs, longest } = await until(
      () => executions(handle.workflowId),
      (seen) => seen.count > 1,
    );
    expect(runs).toBeGreaterThanOrEqual(3);
    expect(longest).toBeLessThan(3 * LIMIT);
  });

  it('remembers the keys of requests', async () => {
    const handle = await startRun(server, rounds, { input: { rounds: [0, 1, 2, 3, 4, 5] } });
    const first = { args: [{ key: 'once', by: 'ann' }] as [unknown] };
    await waitsAt(handle, 'each~0/ask');
    await handle.executeUpdate('approve', first);
    for (let i = 1; i < 6; i++) {
      await waitsAt(handle, `each~${i}/ask`);
      expect(await handle.executeUpdate('approve', first)).toMatchObject({ accepted: true, path: 'each~0/ask' });
      await handle.signal('approve', {});
    }
    expect(await handle.result()).toBe(6);
    expect((await executions(handle.workflowId)).count).toBeGreaterThan(1);
  });

  it('continues while activities are in flight, and holds new ones only far past the limit', async () => {
    const urls = Array.from({ length: 120 }, (_, i) => String(i));
    const handle = await startRun(server, fetchMany, { input: { rounds: urls } });
    expect(await handle.result()).toBe('https://example.com/119');
    const { count, longest } = await until(
      () => executions(handle.workflowId),
      (seen) => seen.count > 1,
    );
    expect(count).toBeGreaterThanOrEqual(2);
    expect(longest).toBeGreaterThanOrEqual(10 * LIMIT);
    expect(longest).toBeLessThan(12 * LIMIT);
  });

  it('waits for a slow activity, and carries timers and approvals beside it', async () => {
    const slow = {
      ...abreast,
      slug: 'abreast-slow',
      steps: { ...abreast.steps, get: { stepType: 'http', config: { url: 'https://example.com/slow' } } },
    };
    const handle = await startRun(server, slow);
    await waitsAt(handle, 'all/person/ask');
    // Each signal is history, and for nobody: what matters is that the run is past its limit while `get` is in flight.
    for (let i = 0; i < LIMIT; i++) await handle.signal('message', { name: 'noise', payload: i });
    await until(
      () => memoOf(handle),
      (memo) => memo.status === 'waiting',
    );
    await until(
      () => executions(handle.workflowId),
      (seen) => seen.count > 1,
    );
    await handle.signal('approve', {});
    expect(await handle.result()).toBe('approved');
  });

  it('continues under workers of other limits', async () => {
    const limited = (historyLimit: number): TestServer => ({
      ...server,
      taskQueue: `${server.taskQueue}-limits`,
      config: { ...server.config, historyLimit },
    });
    const count = 9;
    let other = await startWorker(limited(1_000), { maxCachedWorkflows: 0 });
    const handle = await startRun(limited(1_000), rounds, {
      input: { rounds: Array.from({ length: count }, (_, i) => i) },
    });
    const round = async (i: number): Promise<void> => {
      await waitsAt(handle, `each~${i}/ask`);
      await handle.signal('approve', { step: 'ask' });
    };
    for (let i = 0; i < 4; i++) await round(i);
    await waitsAt(handle, 'each~4/ask');
    expect((await executions(handle.workflowId)).count).toBe(1);
    for (const limit of [10, 1_000]) {
      await other.stop();
      other = await startWorker(limited(limit), { maxCachedWorkflows: 0 });
      for (let i = limit === 10 ? 4 : 6; i < (limit === 10 ? 6 : count); i++) await round(i);
    }
    expect(await handle.result()).toBe(count);
    expect((await executions(handle.workflowId)).count).toBeGreaterThan(1);
    await other.stop();
  });

  it('takes messages sent at full speed once each and in order', { timeout: 240_000 }, async () => {
    const handle = await startRun(server, collect, { input: { count: MESSAGES } });
    const begun = Date.now();
    // Each sender waits for its acknowledgement: order is a sender's, and theirs mix.
    const share = MESSAGES / SENDERS;
    const send = async (sender: number): Promise<void> => {
      for (let i = 0; i < share; i++) {
        const id = `${sender}-${i}`;
        await persistently(() => handle.signal('message', { name: 'n', payload: sender * MESSAGES + i, id }));
        if (i % 10 === 0) await persistently(() => handle.signal('message', { name: 'n', payload: 'again', id }));
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)));
    const result = (await handle.result()) as number[];
    expect(result).toHaveLength(MESSAGES);
    for (let sender = 0; sender < SENDERS; sender++) {
      const mine = result.filter((payload) => Math.floor(payload / MESSAGES) === sender);
      expect(mine).toEqual(Array.from({ length: share }, (_, i) => sender * MESSAGES + i));
    }
    const { count } = await executions(handle.workflowId);
    expect(count).toBeGreaterThan(1);
    console.log(`${MESSAGES} messages in ${Date.now() - begun} ms, over ${count} executions`);
  });
});
