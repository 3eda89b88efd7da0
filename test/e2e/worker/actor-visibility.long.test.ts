// Actors are not in Temporal's lists, counts and batches of runs, and cancelling does not end them. The test has its
// own namespace, because queries without conditions see all of it.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { backfillDivision } from '../../../src/client/temporal/namespace-division.ts';
import { startGateway } from '../../../src/gateway/serve.ts';
import { sharedServer, workflowsOf } from '../../support/temporal.ts';
import {
  approvalDefinition,
  echoDefinition,
  type RequestOptions,
  requestTo,
  unique,
} from '../gateway/gateway-support.ts';

const { server } = sharedServer({ TEMPORAL_NAMESPACE: unique('apart'), SIGNALBOX_HISTORY_LIMIT: '20' });
let gateway: Awaited<ReturnType<typeof startGateway>>;
const ask = (method: string, path: string, options: RequestOptions = {}) =>
  requestTo(gateway.url, method, path, options);

beforeAll(async () => {
  gateway = await startGateway(server.config, { temporal: server });
});
afterAll(async () => {
  await gateway.close();
});

async function typesOf(query?: string): Promise<string[]> {
  const types: string[] = [];
  for await (const { type } of server.client.workflow.list(query === undefined ? {} : { query })) types.push(type);
  return types.sort();
}

/** Lists lag. */
const eventually = <T>(look: () => Promise<T>, expected: T): Promise<void> =>
  expect.poll(look, { timeout: 30_000, interval: 100 }).toEqual(expected);

const temporal = async (...args: string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(inject('temporalBinary'), [
    ...args,
    ...['--address', inject('temporalAddress'), '--namespace', server.namespace],
  ]);
  return stdout;
};

/** A definition with every kind of actor: triggers, a hook, a limiter, a debouncer, and remembered requests. */
const crowded = (slug: string) =>
  approvalDefinition(slug, {
    config: { concurrency: { limit: 5 } },
    triggers: [
      { name: 'in', type: 'webhook', config: { path: slug, method: 'POST' } },
      { name: 'often', type: 'schedule', config: { cron: '0 0 1 1 *' } },
      { name: 'heard', type: 'event', config: { name: `${slug}-event` } },
    ],
  });

async function startRun(slug: string): Promise<string> {
  const { status, body } = await ask('POST', '/api/triggers/manual/run', {
    json: { workflowId: slug, input: { amount: 1 } },
  });
  expect(status).toBe(201);
  return body.executionId;
}

describe('what is no run', () => {
  const slug = unique('crowded');
  let run: string;

  beforeAll(async () => {
    const once = { 'idempotency-key': unique('request') };
    expect(await ask('POST', '/api/workflows', { json: crowded(slug), headers: once })).toMatchObject({ status: 201 });
    expect(
      (await ask('PUT', '/api/secrets/apart', { json: { value: 'kept-by-the-organization' } })).status,
    ).toBeLessThan(300);
    run = await startRun(slug);
    expect((await ask('POST', '/api/events', { json: { name: unique('nobody'), data: {} } })).status).toBeLessThan(300);
    const { body } = await ask('GET', `/api/triggers?workflowId=${slug}&type=schedule`);
    expect((await ask('POST', `/api/triggers/${body.items[0].id}/run`, { json: {} })).status).toBeLessThan(300);
    const span = { start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:00:00Z' };
    const filled = await ask('POST', `/api/triggers/${body.items[0].id}/backfill`, { json: span });
    expect(filled).toMatchObject({ status: 202, body: { times: 1 } });
    // The manual run, the schedule's and the backfill's: later ones would change counts between two reads.
    const listed = async () => expect(await typesOf()).toEqual(['run', 'run', 'run']);
    await vi.waitFor(listed, { timeout: 30_000, interval: 100 });
  });

  it('is in no list and no count that does not ask for it', async () => {
    await eventually(
      () => typesOf(workflowsOf(server.taskQueue)).then((types) => [...new Set(types)]),
      ['audit', 'definition', 'event', 'fire', 'gate', 'hook', 'organization', 'request', 'run', 'trigger', 'version'],
    );
    expect([...new Set(await typesOf())]).toEqual(['run']);
    await expect.poll(async () => (await server.client.workflow.count()).count === (await typesOf()).length).toBe(true);
    expect(await typesOf("TemporalNamespaceDivision = 'signalbox' AND WorkflowType = 'definition'")).toEqual([
      'definition',
    ]);
  });

  it('is not in what the Temporal CLI lists and counts', async () => {
    const rows = JSON.parse(await temporal('workflow', 'list', '--output', 'json')) as { type: { name: string } }[];
    expect(rows.length).toBeGreaterThan(0);
    expect(new Set(rows.map(({ type }) => type.name))).toEqual(new Set(['run']));
    expect(await temporal('workflow', 'count')).toContain(`Total: ${rows.length}`);
  });

  it('is in the own lists of what it is', async () => {
    expect((await ask('GET', '/api/workflows')).body.items).toMatchObject([{ slug }]);
    expect((await ask('GET', `/api/triggers?workflowId=${slug}`)).body.items).toHaveLength(3);
    expect((await ask('GET', '/api/audit')).body.items.length).toBeGreaterThan(0);
    expect((await ask('GET', `/api/workflows/${slug}/executions`)).body.items.length).toBeGreaterThan(0);
  });

  it('is not hit by a batch over the runs of a workflow, which ends the runs', async () => {
    const batch = ['--query', `SignalboxWorkflow = "${slug}"`, '--reason', 'test', '--yes'];
    await temporal('workflow', 'cancel', ...batch);
    await expect.poll(async () => (await ask('GET', `/api/executions/${run}`)).body.status).toBe('cancelled');
    await temporal('workflow', 'terminate', ...batch);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect((await ask('GET', `/api/workflows/${slug}`)).body).toMatchObject({ slug, version: '1.0.0' });
    expect((await ask('GET', `/api/workflows/${slug}/history`)).body.items).toHaveLength(1);
    expect((await ask('GET', `/api/triggers?workflowId=${slug}`)).body.items).toHaveLength(3);
  });

  it('is not ended by a cancellation, where it stores something', async () => {
    const stored = ['audit', 'definition', 'gate', 'hook', 'organization', 'trigger', 'version'];
    const ids: string[] = [];
    const query = `${workflowsOf(server.taskQueue)} AND ExecutionStatus = 'Running'`;
    for await (const { workflowId, type } of server.client.workflow.list({ query }))
      if (stored.includes(type)) ids.push(workflowId);
    expect(ids.length).toBeGreaterThanOrEqual(stored.length);
    for (const id of ids) await server.client.workflow.getHandle(id).cancel();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    for (const id of ids)
      expect((await server.client.workflow.getHandle(id).describe()).status.name, id).toBe('RUNNING');
    expect((await ask('PUT', `/api/workflows/${slug}`, { json: { ...crowded(slug), name: 'Changed' } })).status).toBe(
      200,
    );
    expect((await ask('GET', `/api/workflows/${slug}/history`)).body.items).toHaveLength(2);
  });
});

describe('what continues as new', () => {
  it('stays apart', async () => {
    const slug = unique('rewritten');
    const handle = server.client.workflow.getHandle(`def.default.${slug}`);
    const runIds = new Set<string>();
    for (let n = 0; n < 8; n++) {
      const { status } = await ask('PUT', `/api/workflows/${slug}`, {
        json: echoDefinition(slug, { name: `Nº ${n}` }),
      });
      expect(status).toBeLessThan(300);
      runIds.add((await handle.describe()).runId);
    }
    expect(runIds.size).toBeGreaterThan(1);
    await expect
      .poll(() => typesOf(`${workflowsOf(server.taskQueue)} AND WorkflowId = 'def.default.${slug}'`), {
        timeout: 15_000,
      })
      .toHaveLength(runIds.size);
    expect([...new Set(await typesOf())]).toEqual(['run']);
  });
});

/** The client of a server that does not know the attribute: it refuses queries which name it, as Temporal does. */
function ignorant(client: Client): Client {
  const refused = Object.assign(new Error('3 INVALID_ARGUMENT: invalid query'), {
    code: 3,
    details: 'invalid query: column name TemporalNamespaceDivision is not a valid search attribute',
    metadata: {},
  });
  const workflow = new Proxy(client.workflow, {
    get: (target, name) => (name === 'count' ? () => Promise.reject(refused) : Reflect.get(target, name, target)),
  });
  return new Proxy(client, {
    get: (target, name) => {
      if (name === 'workflow') return workflow;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe('a server that does not know the attribute', () => {
  it('keeps everything all the same, and what it has kept is set apart once it knows', async () => {
    const old = await startGateway(server.config, { temporal: { ...server, client: ignorant(server.client) } });
    const slug = unique('old');
    const asked = (method: string, path: string, options: RequestOptions = {}) =>
      requestTo(old.url, method, path, options);
    try {
      const triggers = [{ name: 'often', type: 'schedule', config: { cron: '0 0 1 1 *' } }];
      expect((await asked('POST', '/api/workflows', { json: echoDefinition(slug, { triggers }) })).status).toBe(201);
      await expect
        .poll(async () => (await asked('GET', '/api/workflows')).body.items.map((item: { slug: string }) => item.slug))
        .toContain(slug);
    } finally {
      await old.close();
    }
    // Among the runs, as an earlier version had it.
    await eventually(
      () => typesOf("WorkflowType IN ('definition', 'trigger', 'version')"),
      ['definition', 'trigger', 'version'],
    );
    // It is found before it is set apart, too.
    const { body } = await ask('GET', '/api/workflows');
    expect(body.items.map((item: { slug: string }) => item.slug)).toContain(slug);

    const among = await typesOf("WorkflowType != 'run'");
    expect(await backfillDivision(server, server.taskQueue)).toBe(among.length);
    await eventually(() => typesOf("WorkflowType != 'run'"), []);
    expect(await backfillDivision(server, server.taskQueue)).toBe(0);
    expect((await ask('GET', `/api/workflows/${slug}`)).body).toMatchObject({ slug });
    const { items } = (await ask('GET', `/api/triggers?workflowId=${slug}`)).body;
    expect(items).toHaveLength(1);
    // The next tick of its schedule is set apart as well.
    for await (const { scheduleId } of server.client.schedule.list()) {
      const { action } = await server.client.schedule.getHandle(scheduleId).describe();
      expect(JSON.stringify(action.typedSearchAttributes), scheduleId).toContain('signalbox');
    }
  });
});
