// Document 004's mode `restart`: a new run takes the place of the one of its key.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../src/template/types.ts';
import { echoDefinition, type TestGateway, testGateway, unique } from './gateway-support.ts';

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
        config: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/{{ input.n }}` },
      },
      nextSteps: { success: 'ask' },
    },
    ask: { stepType: 'approval', config: { message: 'Go on?' } },
  };
  const config = { mode: 'restart', debounce: { key: 'customer', seconds: 0 } };
  const answer = await gateway.request('PUT', `/api/workflows/${slug}`, {
    json: echoDefinition(slug, { config, steps, ...more }),
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
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

  it('leaves one running of twenty that come at once', async () => {
    const slug = await restarting();
    const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => send(slug, { customer: 'a', n })));
    const settled = await gateway.until(
      `/api/workflows/${slug}/executions?limit=100`,
      ({ body }) => {
        const statuses = body.items.map((run: Members) => run['status']);
        return (
          statuses.filter((one: string) => one === 'waiting').length === 1 &&
          statuses.filter((one: string) => one === 'aborted').length === ids.length - 1
        );
      },
      30,
    );
    expect(settled.body.items).toHaveLength(ids.length);
  });
});
