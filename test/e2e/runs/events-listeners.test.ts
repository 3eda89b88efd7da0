import { describe, expect, it } from 'vitest';
import { eventId } from '../../../src/client/temporal/ids.ts';
import type { Json } from '../../../src/json/json.ts';
import { type Answer, sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway();

type Members = { [key: string]: Json };

async function listening(config: Members): Promise<string> {
  const slug = unique('listening');
  const steps = {
    wait: { stepType: 'listen', config, nextSteps: { received: 'done' } },
    done: { stepType: 'finish', config: { output: '{{ steps.wait.output.data }}' } },
  };
  const json = { name: 'Listening', slug, steps };
  expect((await gateway.request('PUT', `/api/workflows/${slug}`, { json })).status).toBe(201);
  return slug;
}

const publish = (json: Members): Promise<Answer> => gateway.request('POST', '/api/events', { json });
const result = async (id: string) => (await gateway.request('GET', `/api/executions/${id}/result?wait=20`)).body;
const waiting = (slug: string, count: number) =>
  gateway.until(
    `/api/executions?workflowId=${slug}&status=waiting&limit=1000`,
    ({ body }) => body.items.length === count,
  );

async function signalsOf(id: string): Promise<number> {
  const { events } = await gateway.server.client.workflow.getHandle(id).fetchHistory();
  return (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes != null).length;
}

describe('an event', () => {
  it('that a listener refuses leaves nothing in its run, however many there are', async () => {
    const name = unique('order-event');
    const slug = await listening({ name, match: 'payload.order == input.order', timeout: '1h' });
    const id = await gateway.start(slug, { order: 'Z' });
    await waiting(slug, 1);
    const doc = 'x'.repeat(55_000);
    for (let n = 0; n < 22; n++)
      expect((await publish({ name, data: { order: `OTHER${n}`, doc } })).body.told).toEqual([id]);
    expect(await gateway.server.client.workflow.getHandle(id).query('status')).toMatchObject({
      status: 'waiting',
      unread: 0,
      unreadBytes: 0,
    });
    await publish({ name, data: { order: 'Z', paid: true } });
    expect(await result(id)).toMatchObject({ status: 'completed', output: { order: 'Z', paid: true } });
  });

  it('with a key wakes one run of many that wait for other keys', { timeout: 120_000 }, async () => {
    const name = unique('order-event');
    const slug = await listening({ name, key: '{{ input.order }}' });
    const keys = ['mine', 'MINE', ...Array.from({ length: 118 }, (_, n) => `order-${n}`)];
    const ids: string[] = [];
    for (let n = 0; n < keys.length; n += 20)
      ids.push(...(await Promise.all(keys.slice(n, n + 20).map((order) => gateway.start(slug, { order })))));
    const all = await listening({ name });
    const hears = await gateway.start(all, {});
    await waiting(slug, keys.length);
    await waiting(all, 1);
    const { body } = await publish({ name, key: 'mine', data: { paid: 4 } });
    expect(body).toMatchObject({ name, key: 'mine' });
    expect([...body.told].sort()).toEqual([ids[0]!, hears].sort());
    expect(await result(ids[0]!)).toMatchObject({ status: 'completed', output: { paid: 4 } });
    expect(await result(hears)).toMatchObject({ status: 'completed', output: { paid: 4 } });
    // Also not by the second round, which looks for those that Visibility did not show at first.
    await gateway.server.client.workflow.result(eventId('default', body.id));
    const others = ids.slice(1);
    expect(await Promise.all(others.map(signalsOf))).toEqual(others.map(() => 0));
    expect((await publish({ name, data: {} })).body.told).toEqual([]);
    const shown = await gateway.request('GET', `/api/executions/${ids[1]}`);
    expect(shown.body.waitingFor).toMatchObject([{ kind: 'message', name, key: 'MINE' }]);
    await gateway.request('POST', `/api/executions/${ids[1]}/messages/${name}`, { json: 'directly' });
    expect(await result(ids[1]!)).toMatchObject({ status: 'completed', output: 'directly' });
  });

  it('finds a run that Visibility does not show yet, and one by each of its names', async () => {
    const [first, second] = [unique('first'), unique('second')];
    const slug = await listening({ name: [first, second], key: '{{ input.n }}' });
    const id = await gateway.start(slug, { n: 7 });
    await publish({ name: second, key: 7, data: { at: 'once' } });
    expect(await result(id)).toMatchObject({ status: 'completed', output: { at: 'once' } });
  });

  it('finds a run that began to listen while another branch of it is at work', async () => {
    const [name, slug] = [unique('beside'), unique('busy')];
    const code = 'export default () => { const end = Date.now() + 6000; while (Date.now() < end); return 1; }';
    const steps = {
      both: { stepType: 'parallel', nextSteps: { a: 'busy', b: 'rest' } },
      busy: { stepType: 'run_code', local: false, config: { language: 'javascript', code, timeoutMs: 10_000 } },
      rest: { stepType: 'sleep', config: { duration: '300ms' }, nextSteps: { success: 'hear' } },
      hear: { stepType: 'listen', config: { name, key: 'mine' } },
    };
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: { name: 'Busy', slug, steps } });
    const id = await gateway.start(slug, {});
    await gateway.until(`/api/executions/${id}`, ({ body }) => body.waitingFor[0]?.path === 'both/b/hear');
    const { body } = await publish({ name, key: 'mine', data: 'heard' });
    expect(body.told).toEqual([id]);
    expect((await gateway.request('GET', `/api/executions/${id}`)).body.status).toBe('running');
    expect(await result(id)).toMatchObject({ status: 'completed', output: { a: 1, b: 'heard' } });
  });

  it('is not kept by a run that listened no more when it came', async () => {
    const name = unique('late');
    const slug = await listening({ name, key: 'other' });
    const id = await gateway.start(slug, {});
    await waiting(slug, 1);
    const run = gateway.server.client.workflow.getHandle(id);
    await run.signal('message', { name, payload: 1, event: { key: 'mine' } });
    await run.signal('message', { name: unique('nobody'), payload: 1, event: {} });
    expect(await run.query('status')).toMatchObject({ status: 'waiting', unread: 0 });
    await gateway.request('POST', `/api/executions/${id}/cancel`, { json: {} });
  });

  it('lets a trigger read its key', async () => {
    const name = unique('keyed');
    const slug = unique('triggered');
    const triggers = [
      {
        name: 'on',
        type: 'event',
        config: { name, filter: "key == 'A' && event.key == key" },
        variableMapping: { key: '{{ params.key }}' },
      },
    ];
    const steps = {
      done: { stepType: 'finish', config: { output: ['{{ input.key }}', '{{ execution.trigger.metadata.key }}'] } },
    };
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: { name: 'Triggered', slug, steps, triggers } });
    await publish({ name, key: 'B', data: {} });
    await publish({ name, data: {} });
    await publish({ name, key: 'A', data: {} });
    const { body } = await gateway.until(`/api/triggers/${slug}.on`, (answer) => answer.body.counts.started > 0);
    expect(await result(body.lastRun.executionId)).toMatchObject({ output: ['A', 'A'] });
    expect(body.counts.started).toBe(1);
  });

  it('is another event with another key', async () => {
    const [name, id] = [unique('name'), unique('id')];
    expect(await publish({ name, id, key: 'A', data: {} })).toMatchObject({ status: 202 });
    expect(await publish({ name, id, key: 'A', data: {} })).toMatchObject({ status: 200 });
    expect(await publish({ name, id, key: 'B', data: {} })).toMatchObject({
      status: 422,
      body: { code: 'idempotency_conflict' },
    });
  });
});
