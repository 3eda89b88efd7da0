import { describe, expect, it } from 'vitest';
import { startGateway } from '../../../src/gateway/serve.ts';
import type { Json } from '../../../src/json/json.ts';
import { testServer } from '../../support/temporal.ts';
import { requestTo, sharedGateway, unique } from './gateway-support.ts';

const gateway = sharedGateway();

/** Three shops with four pages each; page 2 of shop 1 fails. */
const steps: { [slug: string]: Json } = {
  shops: { stepType: 'forEach', config: { items: [0, 1, 2], as: 'shop' }, nextSteps: { item: 'pages', done: 'ask' } },
  pages: {
    stepType: 'forEach',
    config: { items: [0, 1, 2, 3], as: 'page', onError: 'continue' },
    nextSteps: { item: 'look' },
  },
  look: {
    stepType: 'condition',
    config: { expression: 'shop == 1 && page == 2' },
    nextSteps: { true: 'bad', false: 'good' },
  },
  bad: { stepType: 'fail', config: { message: 'No.' } },
  good: { stepType: 'set', config: { values: { seen: '{{ page }}' } } },
  ask: { stepType: 'approval', config: { message: 'Go on?' } },
};

async function start(): Promise<string> {
  const definition = { name: 'Steps', slug: unique('steps'), steps };
  const path = `/api/executions/${await gateway.startInline(definition)}`;
  await gateway.until(path, (answer) => answer.body.waitingFor?.length > 0);
  return path;
}

interface Row {
  path: string;
  stepSlug: string;
  stepName?: string;
  frame?: string;
  input?: unknown;
  output?: unknown;
  eventId?: number;
}
const rowsOf = async (path: string, query = ''): Promise<{ items: Row[]; nextCursor?: string; total: number }> => {
  const { status, body } = await gateway.request('GET', `${path}/steps${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

describe('the visits of a run', () => {
  it('are those of one iteration, backwards, and without their values, as asked', async () => {
    const path = await start();
    const all = await rowsOf(path);
    const paths = (rows: { items: Row[] }) => rows.items.map((row) => row.path);

    const inside = await rowsOf(path, '?under=shops[1]');
    expect(paths(inside)).toEqual(paths(all).filter((one) => one.startsWith('shops[1]/')));
    expect(inside.items.length).toBeGreaterThan(8);
    expect(paths(await rowsOf(path, '?under=shops[1]/pages[2]&step=look'))).toEqual(['shops[1]/pages[2]/look']);
    expect(paths(await rowsOf(path, '?under=shops[1]&status=failed'))).toContain('shops[1]/pages[2]/bad');
    expect(paths(await rowsOf(path, '?under=shops[2]&status=failed'))).toEqual([]);
    expect(paths(await rowsOf(path, '?under=nothing'))).toEqual([]);

    const backwards: string[] = [];
    for (let query = '?order=desc&limit=7', n = 0; n < 20; n++) {
      const page = await rowsOf(path, query);
      backwards.push(...paths(page));
      if (page.nextCursor === undefined) break;
      query = `?order=desc&limit=7&cursor=${encodeURIComponent(page.nextCursor)}`;
    }
    expect(backwards).toEqual(paths(all).reverse());
    expect(paths(await rowsOf(path, '?order=desc&limit=2&step=look'))).toEqual(
      paths(all)
        .filter((one) => one.endsWith('/look'))
        .reverse()
        .slice(0, 2),
    );

    const bare = await rowsOf(path, '?exclude=input,output');
    expect(paths(bare)).toEqual(paths(all));
    expect(bare.items.every((row) => !('input' in row) && !('output' in row))).toBe(true);
    expect(all.items.some((row) => 'input' in row && 'output' in row)).toBe(true);
    await gateway.request('POST', `${path}/terminate`);
  });

  it('have the names of their steps, also after a retry, and are found by ids of agent-ops', async () => {
    const written = {
      name: 'Nested',
      steps: [
        {
          type: 'loop',
          items: [1],
          steps: [
            { type: 'approval', name: 'The boss looks', prompt: 'Go on?' },
            { id: 'bad', type: 'subworkflow', workflow: 'nobody' },
          ],
        },
      ],
    };
    const { status, body } = await gateway.request('POST', '/api/executions', {
      json: { definition: written } as Json,
    });
    expect(status, JSON.stringify(body)).toBe(201);
    const path = `/api/executions/${body.executionId}`;
    await gateway.until(path, (answer) => answer.body.waitingFor?.length > 0);
    const named = (rows: { items: Row[] }) => rows.items.map(({ stepSlug, stepName }) => [stepSlug, stepName]);
    const [loop, boss, bad] = [
      ['step_0', 'step[0]'],
      ['step_0_steps_0', 'The boss looks'],
      ['bad', undefined],
    ];
    expect(named(await rowsOf(path))).toEqual([loop, boss]);
    expect(named(await rowsOf(path, '?names=002&step=step[0].steps[0]'))).toEqual([boss]);
    expect(named(await rowsOf(path, '?names=agent-ops&step=step[0]'))).toEqual([loop]);
    expect(named(await rowsOf(path, '?step=step[0].steps[0]'))).toEqual([]);
    await gateway.request('POST', `${path}/approve`, { json: { approve: true } });
    await gateway.until(path, (answer) => answer.body.status === 'failed');
    await gateway.request('POST', `${path}/retry`);
    await gateway.until(
      `${path}/steps`,
      (answer) => answer.body.items.at(-1).status === 'failed' && answer.body.total > 3,
    );
    expect(named(await rowsOf(path))).toEqual([loop, boss, bad, loop, bad]);
    const { body: events } = await gateway.request('GET', `${path}/events`);
    expect(events).toContain('"stepSlug":"step_0_steps_0","stepName":"The boss looks","stepType":"approval"');
  });

  it('follow the summary without a gap or a double, and without their values', async () => {
    const path = await start();
    const { body: summary } = await gateway.request('GET', `${path}/summary`);
    const whole = (await gateway.request('GET', `${path}/steps`)).body.total as number;
    expect(summary.total).toBe(whole);
    await gateway.request('POST', `${path}/approve`, { json: { approve: true } });
    await gateway.until(path, (answer) => answer.body.status === 'completed');
    const eventsOf = async (query: string) => {
      const { status, body } = await gateway.request('GET', `${path}/events${query}`);
      expect(status).toBe(200);
      return (body as string).split('\n\n').flatMap((block) => {
        const [, event] = /^event: (.*)$/m.exec(block) ?? [];
        const [, data] = /^data: (.*)$/m.exec(block) ?? [];
        return event === undefined || data === undefined ? [] : [{ event, data: JSON.parse(data) }];
      });
    };
    const after = await eventsOf(`?after=${encodeURIComponent(summary.lastEventId)}&exclude=output`);
    expect(after.filter(({ event }) => event === 'step').map(({ data }) => [data.path, data.status])).toEqual([
      ['ask', 'completed'],
    ]);
    expect(after.at(-1)).toMatchObject({ event: 'end', data: { status: 'completed' } });
    expect(after.every(({ data }) => !('output' in data))).toBe(true);
    const all = await eventsOf('');
    expect(all.filter(({ event }) => event === 'step').length).toBe(whole * 2);
    expect(all.some(({ data }) => 'output' in data)).toBe(true);
    const { body: ended } = await gateway.request('GET', `${path}/summary`);
    const nothing = await gateway.request('GET', `${path}/events?after=${encodeURIComponent(ended.lastEventId)}`);
    expect(nothing.status).toBe(204);
  });

  it('are refused for names that nobody knows', async () => {
    const path = await start();
    for (const [address, pointer] of [
      ['steps?order=up', '/order'],
      ['steps?exclude=input,secrets', '/exclude/1'],
      ['steps?under=', '/under'],
      ['events?exclude=port', '/exclude/0'],
    ]) {
      const { status, body } = await gateway.request('GET', `${path}/${address}`);
      expect([status, body.code], address).toEqual([400, 'invalid_request']);
      expect(body.problems[0].pointer, address).toBe(pointer);
    }
    expect((await gateway.request('GET', `${path}/events?after=nonsense`)).body.code).toBe('invalid_cursor');
    await gateway.request('POST', `${path}/terminate`);
  });

  it('wait for a worker where a run was started by hand on a queue that nobody polls', async () => {
    const taskQueue = unique('nobody');
    const definition = { name: 'By hand', slug: 'by-hand', steps: { end: { stepType: 'finish' } } };
    const { client } = gateway.server;
    const workflowId = `run.default.${unique('by-hand')}`;
    const handle = await client.workflow.start('run', { taskQueue, workflowId, args: [definition] });
    try {
      await expect
        .poll(async () => (await gateway.request('GET', `/api/executions/${workflowId}`)).body)
        .toMatchObject({
          status: 'pending',
          waitingFor: [{ kind: 'worker', message: `No worker polls its task queue '${taskQueue}'.` }],
        });
    } finally {
      await handle.terminate();
    }
  });

  it('wait for a worker where none lives, and the run says so', async () => {
    const server = await testServer();
    const lonely = await startGateway(server.config, { temporal: server });
    try {
      const definition = { name: 'Steps', slug: unique('steps'), steps: { end: { stepType: 'finish' } } };
      const started = await requestTo(lonely.url, 'POST', '/api/executions', { json: { definition } });
      const path = `/api/executions/${started.body.executionId}`;
      await expect
        .poll(async () => (await requestTo(lonely.url, 'GET', path, {})).body.waitingFor)
        .toMatchObject([{ kind: 'worker', path: '', stepSlug: '' }]);
    } finally {
      await lonely.close();
      await server.close();
    }
  });
});
