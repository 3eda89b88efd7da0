import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventActivities } from '../../../src/client/triggers/event-fanout.ts';
import { publishEvent } from '../../../src/client/triggers/events.ts';
import type { Json } from '../../../src/json/json.ts';
import { writeAccess } from '../../support/temporal.ts';
import { type Answer, echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';
import { lastHeld } from './debounce-support.ts';

const gateway = sharedGateway();

type Members = { [key: string]: Json };

async function taking(name: string, config: Members = {}, trigger: Members = {}): Promise<string> {
  const slug = unique('taking');
  const triggers = [{ name: 'on', type: 'event', config: { name, ...config }, ...trigger }];
  await gateway.store(echoDefinition(slug, { triggers }));
  return slug;
}

const publish = (json: Members): Promise<Answer> => gateway.request('POST', '/api/events', { json });
const output = async (executionId: string): Promise<unknown> =>
  (await gateway.request('GET', `/api/executions/${executionId}/result?wait=20`)).body.output;
const startedOf = (slug: string, count: number) =>
  gateway.until(`/api/triggers/${slug}.on`, ({ body }) => body.counts.started === count);

describe('an event', () => {
  it('starts the triggers of its name whose filter lets it, once for each id', async () => {
    const name = unique('order.created');
    const [large, all, other] = [
      await taking(name, { filter: 'data.amount > 100 && name == event.name' }),
      await taking(name, {}, { variableMapping: { amount: '$.amount', from: '{{ params.name }}' } }),
      await taking(unique('other')),
    ];
    const id = unique('event');
    const first = await publish({ name, data: { amount: 50 }, id });
    expect(first).toMatchObject({ status: 202, body: { id, name } });
    await startedOf(all, 1);
    const again = await publish({ name, data: { amount: 50 }, id });
    expect(again).toMatchObject({ status: 200, body: { id } });
    expect(await publish({ name, data: { amount: 51 }, id })).toMatchObject({
      status: 422,
      body: { code: 'idempotency_conflict' },
    });
    const second = await publish({ name, data: { amount: 500 } });
    await startedOf(large, 1);
    const { body } = await startedOf(all, 2);
    expect(await output(body.lastRun.executionId)).toEqual({ amount: 500, from: name });
    expect(second.body.executions).toHaveLength(2);
    expect((await gateway.request('GET', `/api/triggers/${other}.on`)).body.counts.started).toBe(0);
    const run = await gateway.request('GET', `/api/executions/${body.lastRun.executionId}`);
    expect(run.body.trigger).toEqual({
      type: 'event',
      id: `${all}.on`,
      name: 'on',
      metadata: { id: expect.any(String), name },
    });
  });

  it('reaches runs that listen for its name', async () => {
    const name = unique('payment');
    const slug = unique('listening');
    const steps = {
      wait: {
        stepType: 'listen',
        config: { name, match: 'payload.order == input.order', timeout: '1m' },
        nextSteps: { received: 'done' },
      },
      done: { stepType: 'finish', config: { output: '{{ steps.wait.output.data }}' } },
    };
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: { name: 'Listening', slug, steps } });
    const start = async (order: number) =>
      (await gateway.request('POST', '/api/triggers/manual/run', { json: { workflowId: slug, input: { order } } })).body
        .executionId as string;
    const [one, two] = [await start(1), await start(2)];
    await gateway.until(`/api/executions?workflowId=${slug}&status=waiting`, ({ body }) => body.items.length === 2);
    const sent = await publish({ name, data: { order: 1, paid: true } });
    expect(sent.body.told.sort()).toEqual([one, two].sort());
    expect(await output(one)).toEqual({ order: 1, paid: true });
    expect((await gateway.request('GET', `/api/executions/${two}`)).body.status).toBe('waiting');
    expect((await gateway.request('POST', `/api/executions/${two}/cancel`, { json: {} })).status).toBe(202);
  });

  it('reaches a trigger that Visibility does not show yet', async () => {
    const name = unique('at.once');
    const slug = await taking(name);
    await publish({ name, data: { fast: true } });
    await startedOf(slug, 1);
  });

  it('reaches a trigger though the clock of the gateway is behind', async () => {
    const name = unique('behind');
    const slug = await taking(name);
    const over = writeAccess(gateway.server);
    const at = new Date(Date.now() - 60_000).toISOString();
    await publishEvent(over, 'default', { name, data: {}, id: unique('event'), at });
    await startedOf(slug, 1);
  });

  it('whose filter cannot be asked is refused by that trigger alone', async () => {
    const name = unique('odd');
    const slug = await taking(name, { filter: "'a' + data.b == 'x'" });
    await publish({ name, data: {} });
    const refused = await gateway.until(`/api/triggers/${slug}.on`, ({ body }) => body.counts.refused === 1);
    expect(refused.body.last.code).toBe('invalid_filter');
  });

  it('that meets a full limit with reject is counted by its trigger, and starts no run later', async () => {
    const name = unique('full');
    const slug = unique('limited');
    const steps = { ask: { stepType: 'approval', config: { message: 'Go on?' } } };
    const config = { concurrency: { limit: 1, overflow: 'reject' } };
    const triggers = [{ name: 'on', type: 'event', config: { name } }];
    await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: { name: 'Limited', slug, config, steps, triggers },
    });
    await publish({ name, data: { n: 1 } });
    const { body } = await startedOf(slug, 1);
    const second = await publish({ name, data: { n: 2 } });
    expect(second).toMatchObject({ status: 202, body: { executions: [] } });
    const refused = await gateway.until(`/api/triggers/${slug}.on`, ({ body }) => body.counts.refused === 1);
    expect(refused.body).toMatchObject({
      counts: { started: 1, refused: 1 },
      last: { outcome: 'refused', code: 'limit_reached' },
    });
    await gateway.request('POST', `/api/executions/${body.lastRun.executionId}/cancel`, { json: {} });
  });

  it('starts a run that cannot start yet once it can, and the others immediately', async () => {
    const name = unique('large');
    const [large, small] = [
      await taking(name),
      await taking(name, {}, { variableMapping: { size: '{{ body.text.length }}' } }),
    ];
    await gateway.until(`/api/triggers?workflowId=${large}`, ({ body }) => body.items.length === 1);
    await gateway.until(`/api/triggers?workflowId=${small}`, ({ body }) => body.items.length === 1);
    const { folder } = gateway.server.config.blobs;
    mkdirSync(folder, { recursive: true });
    renameSync(folder, `${folder}.away`);
    writeFileSync(folder, 'no folder');
    const sent = publish({ name, data: { text: 'x'.repeat(300_000) } });
    try {
      await startedOf(small, 1);
    } finally {
      rmSync(folder);
      renameSync(`${folder}.away`, folder);
    }
    expect(await sent).toMatchObject({ status: 202, body: { executions: { length: 2 } } });
    const { body } = await startedOf(large, 1);
    expect(body.counts.refused).toBe(0);
    expect((await gateway.request('GET', `/api/triggers/${small}.on`)).body.counts).toMatchObject({
      started: 1,
      repeated: 0,
    });
  });

  it('is held once by a definition that debounces, however often it is brought', async () => {
    const name = unique('held');
    const slug = unique('debouncing');
    const config = { debounce: { seconds: 1 } };
    const triggers = [{ name: 'on', type: 'event', config: { name } }];
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug, { config, triggers }) });
    const id = unique('event');
    const at = new Date(Date.now() + 60_000).toISOString();
    const over = writeAccess(gateway.server);
    // As after attempts whose heartbeat was lost.
    const { spreadEvent } = eventActivities(over, { last: () => undefined, send: () => undefined });
    const round = { organizationId: 'default', event: { name, data: { n: 1 }, id, at } };
    await gateway.until(`/api/triggers?workflowId=${slug}`, ({ body }) => body.items.length === 1);
    await spreadEvent(round);
    await startedOf(slug, 1);
    const first = await lastHeld(gateway, `${slug}.on`);
    await spreadEvent(round);
    expect(await lastHeld(gateway, `${slug}.on`)).toBe(first);
    expect((await gateway.request('GET', `/api/triggers/${slug}.on`)).body.counts.started).toBe(1);
  });

  it('cannot pretend to be a callback', async () => {
    expect(await publish({ name: 'callback:x', data: {} })).toMatchObject({
      status: 400,
      body: { code: 'invalid_name' },
    });
  });

  it('is one event when it is sent fifty times concurrently', async () => {
    const name = unique('burst');
    const slug = await taking(name);
    await gateway.until(`/api/triggers?workflowId=${slug}`, ({ body }) => body.items.length === 1);
    const id = unique('event');
    const answers = await Promise.all(Array.from({ length: 50 }, () => publish({ name, id, data: { n: 1 } })));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(49);
    await startedOf(slug, 1);
    expect((await gateway.request('GET', `/api/triggers/${slug}.on`)).body.counts).toMatchObject({ started: 1 });
  });
});
