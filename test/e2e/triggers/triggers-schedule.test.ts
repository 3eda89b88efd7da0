import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scheduleId } from '../../../src/client/temporal/ids.ts';
import { backfillSchedule } from '../../../src/client/triggers/schedules.ts';
import type { Json } from '../../../src/json/json.ts';
import { writeAccess } from '../../support/temporal.ts';
import { echoDefinition, unique } from '../gateway/gateway-support.ts';
import { fired, type ScheduleGateway, scheduleGateway } from './schedule-support.ts';

let gateway: ScheduleGateway;
beforeAll(async () => {
  gateway = await scheduleGateway();
});
afterAll(() => gateway.close());

type Members = { [key: string]: Json };

/** A workflow with a schedule that comes once a year, in a month that is far. */
async function scheduled(
  config: Members,
  definition = echoDefinition(unique('tick')),
): Promise<{ slug: string; id: string }> {
  const slug = String(definition['slug']);
  const triggers = [{ name: 'tick', type: 'schedule', config: { cron: '0 0 * * *', ...config } }];
  const answer = await gateway.request('PUT', `/api/workflows/${slug}`, { json: { ...definition, triggers } });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  gateway.stored.push(slug);
  return { slug, id: `${slug}.tick` };
}

/** A definition whose runs wait for somebody. */
const waiting = (slug: string) =>
  echoDefinition(slug, { steps: { ask: { stepType: 'approval', config: { message: 'Go on?' } } } });

/** Ticks of midnight, from one number of days back to another. */
async function backfill(id: string, from: number, to = 1, overlap?: string): Promise<string[]> {
  const midnight = new Date();
  midnight.setUTCHours(0, 0, 0, 0);
  const times = Array.from({ length: from - to + 1 }, (_, n) => new Date(midnight.getTime() - (from - n) * 86_400_000));
  const json = {
    start: new Date(times[0]!.getTime() - 1_000).toISOString(),
    end: new Date(times.at(-1)!.getTime() + 1_000).toISOString(),
    ...(overlap === undefined ? {} : { overlap }),
  };
  const answer = await gateway.request('POST', `/api/triggers/${id}/backfill`, { json });
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  expect(answer.body.times).toBe(times.length);
  return times.map((time) => time.toISOString());
}

const runsOf = async (slug: string, enough: (runs: Members[]) => boolean): Promise<Members[]> =>
  (await gateway.until(`/api/workflows/${slug}/executions`, ({ body }) => enough(body.items))).body.items;
const counts = async (id: string, fits: (counts: { [outcome: string]: number }) => boolean) =>
  (await gateway.until(`/api/triggers/${id}`, ({ body }) => fits(body.counts))).body;

describe('a schedule', () => {
  it('starts one run for each of its times, however often they are asked for', async () => {
    const { slug, id } = await scheduled({ overlap: 'allow_all' });
    const times = await backfill(id, 3);
    await counts(id, ({ started }) => started === 3);
    await Promise.all(times.map((time) => fired(gateway, id, Date.parse(time))));
    const again = await backfill(id, 3);
    expect(again).toEqual(times);
    await counts(id, ({ repeated }) => repeated === 3);
    const runs = await runsOf(
      slug,
      (items) => items.length >= 3 && items.every(({ status }) => status === 'completed'),
    );
    expect(runs).toHaveLength(3);
    const outputs = await Promise.all(
      runs.map(async (run) => (await gateway.request('GET', `/api/executions/${String(run['id'])}`)).body),
    );
    expect(outputs.map(({ output }) => output.scheduledTime).sort()).toEqual(times);
    for (const run of outputs) {
      expect(run.trigger).toEqual({
        type: 'schedule',
        id,
        name: 'tick',
        metadata: { scheduledTime: run.output.scheduledTime },
      });
      expect(run.id).toMatch(/\.tick-[0-9a-f]{32}-\d{8}T000000Z$/);
    }
  });

  it('skips a time while the previous run is open, and fires again when that one ends', async () => {
    const { slug, id } = await scheduled({}, waiting(unique('slow')));
    await backfill(id, 3, 1, 'skip');
    const [run] = await runsOf(slug, (items) => items[0]?.['status'] === 'waiting');
    await gateway.until(`/api/triggers/${id}`, ({ body: { counts, schedule } }) => {
      return counts.started === 1 && schedule.skipped === 2;
    });
    const approved = await gateway.request('POST', `/api/executions/${String(run!['id'])}/approve`, {
      json: { approve: true },
    });
    expect(approved.status).toBe(200);
    await gateway.until(`/api/executions/${String(run!['id'])}`, ({ body }) => body.status === 'completed');
    await backfill(id, 4, 1, 'buffer_all');
    expect(await counts(id, ({ started }) => started === 2)).toMatchObject({ lastRun: { status: 'waiting' } });
  });

  it.each([
    ['cancel_other', 'cancelled'],
    ['terminate_other', 'aborted'],
  ])('%s ends the run before', async (overlap, status) => {
    const { slug, id } = await scheduled({ overlap }, waiting(unique('replaced')));
    await backfill(id, 1, 1, overlap);
    const [first] = await runsOf(slug, (items) => items[0]?.['status'] === 'waiting');
    await backfill(id, 2, 2, overlap);
    await gateway.until(`/api/executions/${String(first!['id'])}`, ({ body }) => body.status === status);
    const runs = await runsOf(slug, (items) => items.length === 2 && items.some((run) => run['status'] === 'waiting'));
    expect(runs.map((run) => run['status']).sort()).toEqual([status, 'waiting'].sort());
  });

  it('sends its prompt to an agent where the orchestrator is its target', async () => {
    const agent = { ...echoDefinition(unique('agent')), type: 'agent' };
    const { id } = await scheduled({ target: 'orchestrator', prompt: 'What is new?', overlap: 'allow_all' }, agent);
    await backfill(id, 1);
    const { lastRun } = await counts(id, ({ started }) => started === 1);
    const result = await gateway.request('GET', `/api/executions/${lastRun.executionId}/result?wait=10`);
    expect(result.body.output).toEqual({ prompt: 'What is new?' });
  });

  it('that is disabled or asks for what the workflow does not take says so', async () => {
    const { id } = await scheduled(
      { overlap: 'allow_all' },
      echoDefinition(unique('strict'), { input: { amount: 'number' } }),
    );
    await backfill(id, 1);
    expect(await counts(id, ({ refused }) => refused === 1)).toMatchObject({
      last: { outcome: 'refused', code: 'invalid_input' },
    });
    const disabled = await gateway.request('POST', `/api/triggers/${id}/disable`);
    expect(disabled).toMatchObject({ status: 200, body: { schedule: { nextTimes: [] } } });
    const span = { start: new Date(Date.now() - 172_800_000).toISOString(), end: new Date().toISOString() };
    const refused = await gateway.request('POST', `/api/triggers/${id}/backfill`, { json: span });
    expect([refused.status, refused.body.code]).toEqual([409, 'trigger_disabled']);
  });

  it('has the jitter, the catch-up window and the time zone that it says', async () => {
    const { id } = await scheduled({ jitter: '90s', catchup: 'PT1H', timezone: 'Asia/Tokyo', overlap: 'buffer_one' });
    const described = await gateway.server.client.schedule.getHandle(scheduleId('default', id)).describe();
    expect(described.spec).toMatchObject({ jitter: 90_000, timezone: 'Asia/Tokyo' });
    expect(described.policies).toMatchObject({ catchupWindow: 3_600_000, overlap: 'BUFFER_ONE' });
    const shown = await gateway.request('GET', `/api/triggers/${id}`);
    expect(shown.body.schedule.nextTimes[0]).toMatch(/T15:0[01]:/);
  });

  it('makes up for no more times than Temporal can be asked about', async () => {
    const { id } = await scheduled({ cron: '* * * * *' });
    const json = { start: '2000-01-01T00:00:00Z', end: '2026-01-01T00:00:00Z' };
    const refused = await gateway.request('POST', `/api/triggers/${id}/backfill`, { json });
    expect(refused).toMatchObject({ status: 409, body: { code: 'too_many' } });
    // Who asked is recorded only for what is made up for.
    let noted = 0;
    const before = async () => void noted++;
    const { server } = gateway;
    const over = writeAccess(server);
    const span = (end: string) => ({ start: new Date(json.start), end: new Date(end), before });
    const asked = (end: string) => backfillSchedule(over, 'default', id, span(end));
    await expect(asked(json.end)).rejects.toMatchObject({ code: 'too_many' });
    expect(noted).toBe(0);
    expect(await asked('2000-01-01T00:01:00Z')).toBe(2);
    expect(noted).toBe(1);
  });

  it('makes up for each of its times, start and end included, whatever overlap it has', async () => {
    const { slug, id } = await scheduled({ cron: '*/10 * * * *' }, waiting(unique('all')));
    const json = { start: '2026-01-01T17:00:00Z', end: '2026-01-01T17:30:00Z' };
    const filled = await gateway.request('POST', `/api/triggers/${id}/backfill`, { json });
    expect(filled).toMatchObject({ status: 202, body: { times: 4 } });
    const runs = await runsOf(slug, (items) => items.length >= 4);
    expect(runs).toHaveLength(4);
    // From a moment later on, and to a moment before, the ends are not in it.
    const within = { start: '2026-01-02T17:00:00.001Z', end: '2026-01-02T17:29:59.999Z' };
    const fewer = await gateway.request('POST', `/api/triggers/${id}/backfill`, { json: within });
    expect(fewer).toMatchObject({ status: 202, body: { times: 2 } });
    expect(await runsOf(slug, (items) => items.length >= 6)).toHaveLength(6);
    expect((await counts(id, ({ started }) => started === 6)).schedule.skipped).toBe(0);
  });

  it('shows that somebody has paused it in Temporal', async () => {
    const { id } = await scheduled({});
    const shown = async () => (await gateway.request('GET', `/api/triggers/${id}`)).body;
    expect(await shown()).toMatchObject({ enabled: true, schedule: { paused: false } });
    const schedule = gateway.server.client.schedule.getHandle(scheduleId('default', id));
    await schedule.pause('Not now');
    expect(await shown()).toMatchObject({ enabled: true, schedule: { paused: true, nextTimes: [] } });
    await schedule.unpause();
    expect((await shown()).schedule).toMatchObject({
      paused: false,
      nextTimes: expect.arrayContaining([expect.any(String)]),
    });
  });

  it('is found by its trigger in Temporal, and says there whose it is', async () => {
    const { slug, id } = await scheduled({});
    const { client } = gateway.server;
    const listed = async () => {
      const found = [];
      for await (const one of client.schedule.list({ query: `SignalboxTrigger = '${id}'` })) found.push(one);
      return found;
    };
    await expect.poll(listed).toHaveLength(1);
    const [one] = await listed();
    const of = { SignalboxOrg: ['default'], SignalboxWorkflow: [slug], SignalboxTrigger: [id] };
    expect(one).toMatchObject({ searchAttributes: of, state: { note: `Trigger ${id} of the organization default.` } });
    expect((await gateway.request('GET', `/api/triggers/${id}`)).body.schedule.scheduleId).toBe(one!.scheduleId);
    await gateway.request('POST', `/api/triggers/${id}/disable`);
    const { state, searchAttributes } = await client.schedule.getHandle(one!.scheduleId).describe();
    expect(state.note).toBe(`Disabled. Trigger ${id} of the organization default.`);
    expect(searchAttributes).toMatchObject(of);
  });

  it('of the orchestrator takes null for its workflow', async () => {
    const config = { target: 'orchestrator', prompt: 'What is new?', cron: '0 0 1 1 *' };
    const json = { workflowId: null, name: unique('prompt'), type: 'schedule', config };
    const made = await gateway.request('POST', '/api/triggers', { json });
    expect(made, JSON.stringify(made.body)).toMatchObject({ status: 201, body: { workflowId: 'orchestrator' } });
    expect((await gateway.request('DELETE', `/api/triggers/${made.body.id}`)).status).toBe(204);
    const other = await gateway.request('POST', '/api/triggers', { json: { ...json, config: { cron: '0 0 1 1 *' } } });
    expect(other.status).toBe(400);
  });

  it('is distinguished from other triggers', async () => {
    const json = { workflowId: (await scheduled({})).slug, name: 'hand', type: 'manual' };
    const made = await gateway.request('POST', '/api/triggers', { json });
    const span = { start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z' };
    const refused = await gateway.request('POST', `/api/triggers/${made.body.id}/backfill`, { json: span });
    expect(refused.status).toBe(409);
  });
});
