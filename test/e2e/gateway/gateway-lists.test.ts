import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvalDefinition, echoDefinition, type TestGateway, testGateway, unique } from './gateway-support.ts';

let gateway: TestGateway;
/** A workflow with three completed runs, one that failed, and one that waits. */
let slug: string;
const ids: string[] = [];
beforeAll(async () => {
  gateway = await testGateway();
  slug = unique('listed');
  await gateway.store({
    ...echoDefinition(slug),
    state: { customer: { type: 'string', searchable: true } },
    steps: {
      keep: {
        stepType: 'set',
        config: { target: 'state', values: { customer: '{{ input.customer }}' } },
        nextSteps: { success: 'which' },
      },
      which: {
        stepType: 'switch',
        config: { value: '{{ input.how }}', cases: { fail: 'fail', wait: 'wait' }, default: 'end' },
        nextSteps: { fail: 'no', wait: 'ask', end: 'end' },
      },
      no: { stepType: 'fail', config: { code: 'no', message: 'No.' } },
      ask: { stepType: 'approval', config: { message: 'Go on?' } },
      end: { stepType: 'finish', config: { output: 'x'.repeat(1_000) } },
    },
  });
  for (const how of ['end', 'end', 'end', 'fail', 'wait'])
    ids.push(await gateway.start(slug, { how, customer: `c-${how}` }));
  for (const id of ids.slice(0, 4)) await gateway.request('GET', `/api/executions/${id}/result?wait=20`);
  await gateway.until(`/api/executions?workflowId=${slug}&status=waiting`, ({ body }) => body.items.length === 1);
  await gateway.until(`/api/executions?workflowId=${slug}&status=completed`, ({ body }) => body.items.length === 3);
  await gateway.until(`/api/executions?workflowId=${slug}&status=failed`, ({ body }) => body.items.length === 1);
}, 60_000);
afterAll(() => gateway.close());

const list = async (query: string): Promise<string[]> => {
  const { status, body } = await gateway.request('GET', `/api/executions?workflow_id=${slug}&${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return (body.items as { id: string }[]).map(({ id }) => id).sort();
};
const some = (...places: number[]) => places.map((place) => ids[place]!).sort();
const org = '/api/organizations/default/workflows';

describe('run lists', () => {
  it('take the filters of agent-ops and alloy, by both their names', async () => {
    expect(await list('status=completed')).toEqual(some(0, 1, 2));
    expect(await list('status=failed,waiting_approval')).toEqual(some(3, 4));
    expect(await list('status=suspended&status=exhausted')).toEqual(some(3, 4));
    expect(await list(`run_id=${ids[1]}`)).toEqual(some(1));
    expect(await list(`executionId=${ids[1]}`)).toEqual(some(1));
    expect(await list('state[customer]=c-fail')).toEqual(some(3));
    expect(await list('state[customer]=c-end&status=completed')).toEqual(some(0, 1, 2));
    expect(await list('state[customer]=c-end&state[other]=1')).toEqual([]);
    expect(await list('trigger_type=manual')).toHaveLength(5);
    expect(await list('trigger_id=none')).toEqual([]);
    for (const name of ['conversation_id', 'channel', 'ai_employee_id', 'model', 'aiEmployeeId', 'conversationId'])
      expect(await list(`${name}=none`)).toEqual([]);
  });

  it('take ranges', async () => {
    const today = new Date().toISOString().slice(0, 10);
    expect(await list(`started=${today}`)).toHaveLength(5);
    expect(await list('started[lt]=2020-01-01')).toEqual([]);
    expect(await list('started[gte]=2020-01-01T00:00:00Z&started[lte]=2100-01-01')).toHaveLength(5);
    expect(await list('ended[gte]=2020-01-01')).toEqual(some(0, 1, 2));
    expect(await list('duration[gte]=0')).toEqual(some(0, 1, 2));
    expect(await list('duration[gt]=3600')).toEqual([]);
    expect(await list('tokens[gt]=0')).toEqual([]);
    expect(await list('tokens=0')).toHaveLength(5);
    expect(await list('tokens[lte]=100&status=failed')).toEqual(some(3));
    for (const wrong of [
      'started[gte]=soon',
      'duration[about]=5',
      'tokens=-1',
      'status=odd',
      'exclude=all',
      'limit=1001',
    ])
      expect((await gateway.request('GET', `/api/executions?${wrong}`)).status, wrong).toBe(400);
  });

  it('have what is open first, then what has ended latest', async () => {
    const { body } = await gateway.request('GET', `/api/executions?workflowId=${slug}`);
    const [first, ...closed] = body.items as { id: string; completedAt: string }[];
    expect(first?.id).toBe(ids[4]);
    const times = closed.map(({ completedAt }) => completedAt);
    expect(times).toHaveLength(4);
    expect(times).toEqual(times.toSorted().reverse());
  });

  it('give cursors that cannot be forged, nor used for another list', async () => {
    const first = await gateway.request('GET', `/api/executions?workflowId=${slug}&limit=2`);
    const { nextCursor } = first.body;
    const seen = new Set((first.body.items as { id: string }[]).map(({ id }) => id));
    const next = await gateway.request('GET', `/api/executions?workflowId=${slug}&limit=3&cursor=${nextCursor}`);
    for (const { id } of next.body.items) seen.add(id);
    expect(seen.size).toBe(5);
    const forged = `${nextCursor.slice(0, -2)}${nextCursor.endsWith('AA') ? 'BB' : 'AA'}`;
    for (const query of [`workflowId=${slug}&cursor=${forged}`, `workflowId=other&cursor=${nextCursor}`, 'cursor=x'])
      expect((await gateway.request('GET', `/api/executions?${query}`)).body.code, query).toBe('invalid_cursor');
  });

  it('are those of alloy, with flow and state, or compressed', async () => {
    const full = await gateway.request('GET', `${org}/${slug}/runs/?status=completed&limit=1`);
    expect(full.status).toBe(200);
    const [run] = full.body.items;
    expect(run).toMatchObject({
      workflow_id: slug,
      status: 'completed',
      conversation_id: null,
      costs: [],
      input_tokens: 0,
      failed_at: null,
      flow: { slug },
      state: {
        error: null,
        runtimeContext: { isAsync: true, isDebug: false, employeeId: null, state: { customer: 'c-end' } },
      },
    });
    expect(run.state.steps.at(-1).output.data).toHaveLength(1_000);
    for (const exclude of ['flow', 'state', 'flow,state']) {
      const list = await gateway.request('GET', `${org}/runs/?workflow_id=${slug}&exclude=${exclude}`);
      expect(list.body.items).toHaveLength(5);
      for (const item of list.body.items) {
        expect(item).not.toHaveProperty('flow');
        expect(Object.keys(item.state.runtimeContext)).toEqual(['userId', 'employeeId', 'isAsync']);
        expect(JSON.stringify(item.state.steps.at(-1).output).length).toBeLessThan(400);
      }
    }
    const states = new Map(
      (await gateway.request('GET', `${org}/${slug}/runs?exclude=flow`)).body.items.map(
        (item: { id: string; status: string; state: { currentStepId: string; error: { code: string } | null } }) => [
          item.id,
          [item.status, item.state.currentStepId, item.state.error?.code],
        ],
      ),
    );
    expect(states.get(ids[3])).toEqual(['failed', 'no', 'no']);
    expect(states.get(ids[4])).toEqual(['suspended', 'ask', undefined]);
    const one = await gateway.request('GET', `${org}/${slug}/runs/${ids[4]}/`);
    expect(one.body).toMatchObject({ run_id: ids[4], status: 'suspended', flow: { slug } });
  });

  it('of alloy take a limit of 1,000, and give it in pages of a hundred', async () => {
    const many = unique('many');
    await gateway.store(echoDefinition(many));
    const started: string[] = [];
    while (started.length < 103)
      started.push(
        ...(await Promise.all(
          Array.from({ length: Math.min(20, 103 - started.length) }, (_, n) => gateway.start(many, n)),
        )),
      );
    await gateway.until(
      `/api/executions?workflowId=${many}&status=completed&limit=200`,
      ({ body }) => body.items.length === 103,
      30,
    );
    const first = await gateway.request('GET', `${org}/${many}/runs/?limit=1000&exclude=flow`);
    expect(first.body.items).toHaveLength(100);
    const rest = await gateway.request(
      'GET',
      `${org}/${many}/runs/?limit=1000&exclude=flow&cursor=${first.body.nextCursor}`,
    );
    expect(rest.body.nextCursor).toBeUndefined();
    const shown = [...first.body.items, ...rest.body.items].map(({ id }: { id: string }) => id);
    expect(shown.toSorted()).toEqual(started.toSorted());
  });

  it('show nothing of other organizations, nor of other workflows', async () => {
    expect((await gateway.request('GET', '/api/organizations/other/workflows/runs/')).status).toBe(404);
    expect((await gateway.request('GET', `/api/organizations/other/workflows/${slug}/runs/`)).status).toBe(404);
    expect((await gateway.request('GET', `${org}/${slug}/runs/run.other.x.1/`)).status).toBe(404);
    expect((await gateway.request('GET', `${org}/nowhere/runs/`)).status).toBe(404);
    const other = unique('other');
    await gateway.store(approvalDefinition(other));
    expect((await gateway.request('GET', `${org}/${other}/runs/${ids[0]}/`)).status).toBe(404);
    expect((await gateway.request('GET', `${org}/runs/?organization_id=other`)).status).toBe(400);
  });

  it('of one workflow have its executions, and its graph', async () => {
    const { body } = await gateway.request('GET', `/api/workflows/${slug}/executions?status=failed`);
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual(some(3));
    const graph = await gateway.request('GET', `/api/workflows/${slug}/graph`);
    expect(graph).toMatchObject({ status: 200, body: { slug, flow: 'ports', start: 'keep' } });
    expect(graph.body.edges).toContainEqual({ from: 'which', to: 'ask', port: 'wait' });
    const same = await gateway.request('GET', `/api/workflows/${slug}/graph?hash=${graph.body.hash}`);
    expect(same.body).toEqual(graph.body);
    const none = await gateway.request('GET', `/api/workflows/${slug}/graph?hash=sha256:${'0'.repeat(64)}`);
    expect(none).toMatchObject({ status: 404, body: { code: 'version_not_found' } });
    expect((await gateway.request('GET', '/api/workflows/nowhere/graph')).status).toBe(404);
  });

  it('tell upper from lower case, and a value from what stands in another', async () => {
    const customers = ['CASE', 'case', 'x♡customer=CASE'];
    const [upper, lower, inner] = await Promise.all(
      customers.map((customer) => gateway.start(slug, { how: 'end', customer })),
    );
    for (const id of [upper, lower, inner]) await gateway.request('GET', `/api/executions/${id}/result?wait=20`);
    await gateway.until(`/api/executions?workflowId=${slug}&status=completed`, ({ body }) => body.items.length === 6);
    expect(await list('state[customer]=CASE')).toEqual([upper]);
    expect(await list('state[customer]=case')).toEqual([lower]);
    expect(await list(`state[customer]=${encodeURIComponent('x♡customer=CASE')}`)).toEqual([inner]);
    expect(await list('state[customer]=Case')).toEqual([]);
    expect(await list('state[Customer]=case')).toEqual([]);
  });

  it('know the end and the start of a run to the millisecond that they show', async () => {
    const { body } = await gateway.request('GET', `/api/executions/${ids[0]}`);
    const { startedAt, completedAt } = body as { startedAt: string; completedAt: string };
    const has = async (query: string) => (await list(`run_id=${ids[0]}&${query}`)).length === 1;
    for (const [filter, time] of [
      ['started', startedAt],
      ['ended', completedAt],
    ] as const) {
      for (const bound of ['', '[eq]', '[gte]', '[lte]'])
        expect(await has(`${filter}${bound}=${time}`), filter + bound).toBe(true);
      for (const bound of ['[gt]', '[lt]']) expect(await has(`${filter}${bound}=${time}`), filter + bound).toBe(false);
    }
  });

  it('of one workflow are of no other, and outlive its definition', async () => {
    const gone = unique('gone');
    await gateway.store(approvalDefinition(gone));
    const id = await gateway.start(gone, {});
    await gateway.until(`/api/executions?workflowId=${gone}`, ({ body }) => body.items.length === 1);
    expect((await gateway.request('DELETE', `/api/workflows/${gone}`)).status).toBe(204);
    for (const list of [`/api/workflows/${gone}/executions`, `${org}/${gone}/runs/`]) {
      expect((await gateway.request('GET', list)).body.items, list).toMatchObject([{ id }]);
      expect((await gateway.request('GET', `${list}?workflow_id=${gone}`)).body.items).toHaveLength(1);
      expect((await gateway.request('GET', `${list}?workflow_id=${slug}`)).body.items).toEqual([]);
    }
  });
});
