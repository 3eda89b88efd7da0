// What lists of runs say for tables: counts of each status, the runs that wait for something, names and error codes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { type TestGateway, testGateway, unique } from './gateway-support.ts';

let gateway: TestGateway;
let slug: string;
const ids: { [how: string]: string } = {};

beforeAll(async () => {
  gateway = await testGateway();
  slug = unique('rows');
  const definition = {
    name: 'Rows of a table',
    slug,
    steps: {
      which: {
        stepType: 'switch',
        config: {
          value: '{{ input.how }}',
          cases: { no: 'no', never: 'never', ask: 'ask', hear: 'hear' },
          default: 'end',
        },
        nextSteps: { no: 'no', never: 'never', ask: 'ask', hear: 'hear', end: 'end' },
      },
      no: { stepType: 'fail', config: { code: 'no', message: 'x'.repeat(1_000) } },
      never: { stepType: 'fail', config: { code: 'never', message: 'Never.' } },
      ask: { stepType: 'approval', config: { message: 'Go on?' } },
      hear: { stepType: 'listen', config: { name: unique('heard') } },
      end: { stepType: 'finish' },
    },
  };
  const stored = await gateway.request('PUT', `/api/workflows/${slug}`, { json: definition });
  expect(stored.status, JSON.stringify(stored.body)).toBe(201);
  for (const how of ['no', 'never', 'ask', 'hear', 'end']) ids[how] = await start(how);
  await gateway.until(`/api/executions/counts?workflowId=${slug}`, ({ body: { statuses } }) => {
    const { completed, failed, waiting } = statuses;
    return completed === 1 && failed === 2 && waiting === 2;
  });
}, 60_000);
afterAll(() => gateway.close());

async function start(how: string): Promise<string> {
  const json: Json = { workflowId: slug, input: { how } };
  return String((await gateway.request('POST', '/api/triggers/manual/run', { json })).body.executionId);
}
const counts = async (query = '') => {
  const { status, body } = await gateway.request('GET', `/api/executions/counts?workflowId=${slug}${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const rows = async (query: string) => {
  const { status, body } = await gateway.request('GET', `/api/executions?workflowId=${slug}&${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.items as { id: string; workflowName?: string; error?: { code: string; message: string } }[];
};

describe('lists of runs', () => {
  it('find what waits for something', async () => {
    expect((await rows('waitingFor=approval')).map(({ id }) => id)).toEqual([ids['ask']]);
    expect((await rows('waiting_for=message')).map(({ id }) => id)).toEqual([ids['hear']]);
    expect((await rows('waitingFor=approval,message')).map(({ id }) => id).sort()).toEqual(
      [ids['ask'], ids['hear']].sort(),
    );
    expect(await rows('waitingFor=timer')).toEqual([]);
    expect((await gateway.request('GET', '/api/executions?waitingFor=luck')).body.code).toBe('invalid_request');
  });

  it('find error codes, and say which', async () => {
    const [found, ...others] = await rows('errorCode=no,other');
    expect(found).toMatchObject({ id: ids['no'], error: { code: 'no', stepSlug: 'no' } });
    expect(found?.error?.message).toHaveLength(301);
    expect(others).toEqual([]);
    expect(await rows('errorCode=never&status=completed')).toEqual([]);
    expect(await rows('errorCode=neve')).toEqual([]);
  });

  it('have names and errors where they are asked for', async () => {
    const plain = await rows('limit=100');
    expect(plain).toHaveLength(5);
    expect(plain.filter(({ workflowName, error }) => workflowName ?? error)).toEqual([]);
    const whole = await rows('include=workflowName,error');
    expect(new Set(whole.map(({ workflowName }) => workflowName))).toEqual(new Set(['Rows of a table']));
    const codes = Object.fromEntries(whole.map(({ id, error }) => [id, error?.code]));
    expect(codes).toMatchObject({ [ids['no']!]: 'no', [ids['never']!]: 'never' });
    expect(codes[ids['end']!]).toBeUndefined();
    expect((await gateway.request('GET', '/api/executions?include=input')).status).toBe(400);
  });

  it('are counted by status, each run once, with the filters of the list', async () => {
    expect(await counts()).toEqual({
      statuses: {
        pending: 0,
        running: 0,
        waiting: 2,
        rolling_back: 0,
        completed: 1,
        failed: 2,
        cancelled: 0,
        aborted: 0,
      },
    });
    expect((await counts('&waitingFor=approval')).statuses).toMatchObject({ waiting: 1, failed: 0 });
    expect((await counts('&started[lt]=2020-01-01')).statuses).toMatchObject({ waiting: 0, completed: 0 });
    expect((await gateway.request('GET', '/api/executions/counts?status=failed')).status).toBe(400);
    // It fails again: two runs in Temporal are one here.
    expect((await gateway.request('POST', `/api/executions/${ids['never']}/retry`)).status).toBe(202);
    await gateway.request('GET', `/api/executions/${ids['never']}/result?wait=20`);
    await gateway.until(
      `/api/executions?executionId=${ids['never']}`,
      ({ body }) => body.items[0]?.status === 'failed',
    );
    await expect.poll(async () => (await counts()).statuses.failed).toBe(2);
  });

  it('do not have runs that were terminated while they waited', async () => {
    await gateway.request('POST', `/api/executions/${ids['hear']}/terminate`, { json: { reason: 'A test.' } });
    await expect.poll(async () => (await counts()).statuses.aborted).toBe(1);
    expect(await rows('waitingFor=message')).toEqual([]);
    expect((await rows('errorCode=terminated')).map(({ id }) => id)).toEqual([ids['hear']]);
  });
});
