// alloy's mode `restart`: a new run replaces the one of its key.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { startWorker } from '../../support/temporal.ts';
import { echoDefinition, type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

let gateway: TestGateway;
let publicKey: string;
let undone: string[] = [];
const server = createServer((req, res) => {
  undone.push(String(req.url));
  res.end('{}');
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  gateway = await testGateway({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
  publicKey = (await gateway.request('GET', '/api/public-key')).body.publicApiKey;
});
afterAll(async () => {
  await gateway.close();
  server.close();
});

type Members = { [key: string]: Json };

async function restarting(more: Members = {}): Promise<string> {
  const slug = unique('restart');
  const steps = {
    note: {
      stepType: 'set',
      config: { values: { noted: true } },
      rollback: {
        stepType: 'http',
        config: {
          url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/{{ input.n ?: input.scheduledTime }}`,
        },
      },
      nextSteps: { success: 'ask' },
    },
    ask: { stepType: 'approval', config: { message: 'Go on?' } },
  };
  const config = { mode: 'restart', debounce: { key: 'customer' }, publicStart: true };
  await gateway.store(echoDefinition(slug, { config, steps, ...more }));
  return slug;
}

const send = async (slug: string, json: Json): Promise<string> => {
  const answer = await gateway.request('POST', `/api/public/trigger/${publicKey}/${slug}`, { json });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.data.run_id;
};
const until = (id: string, status: string) =>
  gateway.until(`/api/executions/${id}`, ({ body }) => body.status === status, 20);

describe('mode restart', () => {
  it('aborts the active run of the same key, rolls it back, and leaves others alone', async () => {
    const slug = await restarting();
    undone = [];
    const [first, other] = [await send(slug, { customer: 'a', n: 1 }), await send(slug, { customer: 'b', n: 2 })];
    await until(first, 'waiting');
    await until(other, 'waiting');
    const second = await send(slug, { customer: 'a', n: 3 });
    await until(first, 'aborted');
    await until(second, 'waiting');
    expect((await gateway.request('GET', `/api/executions/${other}`)).body.status).toBe('waiting');
    expect(undone).toEqual(['/1']);
  });

  it('leaves one running of twenty that come at once, and undoes what each of the others has done', async () => {
    const slug = await restarting();
    undone = [];
    const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => send(slug, { customer: 'a', n: n + 1 })));
    await oneLeft(slug, ids.length);
    await undoneAsDone(slug);
  });

  it('leaves one running of those that a backfilled schedule starts', async () => {
    const triggers = [{ name: 'tick', type: 'schedule', config: { cron: '0 0 * * *', overlap: 'allow_all' } }];
    const slug = await restarting({ triggers, config: { mode: 'restart' } });
    undone = [];
    const json = { start: '2026-01-01T12:00:00Z', end: '2026-01-06T12:00:00Z' };
    const filled = await gateway.request('POST', `/api/triggers/${slug}.tick/backfill`, { json });
    expect(filled, JSON.stringify(filled.body)).toMatchObject({ status: 202, body: { times: 5 } });
    await oneLeft(slug, 5);
    await undoneAsDone(slug);
    await gateway.request('DELETE', `/api/workflows/${slug}`);
  });

  it('leaves the last of those that came while no worker was there', async () => {
    const slug = await restarting();
    await gateway.stopWorker();
    const ids: string[] = [];
    for (let n = 1; n <= 8; n++) ids.push(await send(slug, { customer: 'a', n }));
    const worker = await startWorker(gateway.server);
    for (const id of ids.slice(0, -1)) await until(id, 'aborted');
    await until(String(ids.at(-1)), 'waiting');
    await worker.stop();
  });
});

type Listed = { id: string; status: string };

async function oneLeft(slug: string, of: number): Promise<void> {
  const runs = `/api/workflows/${slug}/executions?limit=100`;
  const have = (items: Listed[], status: string) => items.filter((run) => run.status === status).length;
  await gateway.until(
    runs,
    ({ body }) => have(body.items, 'waiting') === 1 && have(body.items, 'aborted') === of - 1,
    40,
  );
}

/** Every run but the one that is left has undone what it had noted, once, and no other has. */
async function undoneAsDone(slug: string): Promise<void> {
  const { body } = await gateway.request('GET', `/api/workflows/${slug}/executions?limit=100`);
  const noted = await Promise.all(
    (body.items as Listed[])
      .filter(({ status }) => status === 'aborted')
      .map(async ({ id }) => {
        const [run, { body: trace }] = await Promise.all([
          gateway.request('GET', `/api/executions/${id}`),
          gateway.request('GET', `/api/executions/${id}/steps`),
        ]);
        const { n, scheduledTime } = run.body.input;
        return trace.items.some(({ path }: { path: string }) => path === 'note') ? [`/${n ?? scheduledTime}`] : [];
      }),
  );
  expect(undone.toSorted()).toEqual(noted.flat().toSorted());
}
