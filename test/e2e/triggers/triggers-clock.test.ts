// Schedules on the days on which the clock is changed.
import { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scheduleId } from '../../../src/client/temporal/ids.ts';
import { withMethods } from '../../../src/client/temporal/replaced-methods.ts';
import { cronSpec } from '../../../src/client/triggers/schedule-spec.ts';
import { renewScheduleTimes } from '../../../src/client/triggers/triggers.ts';
import { clockChanges } from '../../../src/definition/document/zone-clock.ts';
import { forkWorker, writeAccess } from '../../support/temporal.ts';
import { echoDefinition, unique } from '../gateway/gateway-support.ts';
import { fired, type ScheduleGateway, scheduleGateway } from './schedule-support.ts';

const HOUR = 3_600_000;
const YEAR_MS = 366 * 24 * HOUR;

let gateway: ScheduleGateway;
beforeAll(async () => {
  gateway = await scheduleGateway();
});
afterAll(() => gateway.close());

/** The last change of the clock, and the next one: to summer time, or back. */
function changesOf(timezone: string, isSpring: boolean): { last: number; next: number } {
  const changes = clockChanges(timezone, Date.UTC(new Date().getUTCFullYear() - 1), Date.now() + YEAR_MS)
    .filter(({ before, after }) => after > before === isSpring)
    .map(({ at }) => at);
  return { last: changes.findLast((at) => at < Date.now())!, next: changes.find((at) => at > Date.now())! };
}

async function scheduled(cron: string, timezone: string): Promise<{ slug: string; path: string; id: string }> {
  const slug = unique('clock');
  gateway.stored.push(slug);
  const triggers = [{ name: 'tick', type: 'schedule', config: { cron, timezone, overlap: 'allow_all' } }];
  const answer = await gateway.request('PUT', `/api/workflows/${slug}`, {
    json: { ...echoDefinition(slug), triggers },
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return { slug, path: `/api/triggers/${slug}.tick`, id: `${slug}.tick` };
}

const over = () => writeAccess(gateway.server);

const around = (at: number) => ({
  start: new Date(at - 6 * HOUR).toISOString(),
  end: new Date(at + 15 * HOUR).toISOString(),
});

const runsOf = async (slug: string): Promise<{ id: string }[]> =>
  (await gateway.request('GET', `/api/workflows/${slug}/executions`)).body.items;

describe('a schedule on the day on which the clock is changed', () => {
  it.each([
    ['30 1 * * *', 'Europe/Berlin', false, -1.5 * HOUR],
    ['0 0 * * *', 'Europe/Dublin', false, -2 * HOUR],
    ['30 1 * * *', 'America/New_York', false, -0.5 * HOUR],
    ['30 1 * * SUN', 'Atlantic/Azores', true, 0.5 * HOUR],
    ['0 12 * * SUN', 'America/Havana', true, 11 * HOUR],
  ])('that comes at %s in %s makes up for one run', async (cron, timezone, isSpring, after) => {
    const { last } = changesOf(timezone, isSpring);
    const { slug, path } = await scheduled(cron, timezone);
    const filled = await gateway.request('POST', `${path}/backfill`, { json: around(last) });
    expect(filled).toMatchObject({ status: 202, body: { times: 1 } });
    const { body } = await gateway.until(path, ({ body: { counts } }) => counts.started > 0);
    const run = await gateway.request('GET', `/api/executions/${body.last.executionId}`);
    expect(run.body.trigger.metadata).toEqual({ scheduledTime: new Date(last + after).toISOString() });
    await expect.poll(() => runsOf(slug)).toHaveLength(1);
  });

  it('shows no time that the pattern does not have', async () => {
    const { next } = changesOf('Europe/Berlin', false);
    const { path } = await scheduled(`30 1 ${new Date(next).getUTCDate()} 10 *`, 'Europe/Berlin');
    const { nextTimes } = (await gateway.request('GET', path)).body.schedule;
    expect(nextTimes[0]).toBe(new Date(next - 1.5 * HOUR).toISOString());
    expect(Date.parse(nextTimes[1]) - next).toBeGreaterThan(300 * 24 * HOUR);
  });
});

/** A schedule as 0.3 made it: calendars alone, no word of what they were made from, and no search attributes. */
async function older(cron: string, name: string, slug: string) {
  const { client } = gateway.server;
  const triggerId = `${slug}.${name}`;
  const written = client.schedule.getHandle(scheduleId('default', triggerId));
  const { action, policies } = await written.describe();
  await written.delete();
  const { calendars } = cronSpec(cron, 'UTC');
  return client.schedule.create({
    scheduleId: written.scheduleId,
    spec: { calendars, timezone: 'Europe/Berlin' },
    action: { ...action, args: [{ organizationId: 'default', triggerId }] },
    policies,
  });
}

describe('a schedule of 0.3', () => {
  const written = cronSpec('30 1 * * *', 'Europe/Berlin');

  it('starts no run at a time that Temporal makes up, and has the right times from then on', async () => {
    const { last } = changesOf('Europe/Berlin', false);
    const { slug, path, id } = await scheduled('30 1 * * *', 'Europe/Berlin');
    const schedule = await older('30 1 * * *', 'tick', slug);
    await schedule.pause('Maintenance');
    const span = { start: new Date(last - 6 * HOUR), end: new Date(last + 15 * HOUR) };
    await schedule.backfill({ ...span, overlap: 'ALLOW_ALL' });
    // One that has not begun yet is not found.
    const came = (after: number) => expect.poll(() => fired(gateway, id, last + after).catch(() => undefined));
    const message = expect.stringContaining('30 1 * * *');
    await came(-0.5 * HOUR).toEqual({ refused: { code: 'not_in_pattern', message } });
    // Each of them renews the times after it has fired.
    await came(-1.5 * HOUR).toMatchObject({ created: true });
    const { body } = await gateway.until(path, ({ body: { counts } }) => counts.started > 0);
    expect(body.counts).toEqual({ started: 1, repeated: 0, debounced: 0, refused: 0 });
    await expect.poll(() => runsOf(slug)).toHaveLength(1);

    await expect.poll(async () => (await schedule.describe()).spec.intervals).toHaveLength(4);
    const { spec, state, policies } = await schedule.describe();
    expect(spec.calendars).toHaveLength(written.calendars.length);
    expect(state).toMatchObject({ paused: true, note: 'Maintenance' });
    expect(policies.overlap).toBe('ALLOW_ALL');
    // A schedule that has the times of this year is left alone.
    const before = (await schedule.describe()).info.lastUpdatedAt;
    await renewScheduleTimes(over(), 'default', id);
    expect((await schedule.describe()).info.lastUpdatedAt).toEqual(before);
  });

  it('has the right times once a worker of this version has started', async () => {
    const { slug } = await scheduled('30 1 * * *', 'Europe/Berlin');
    const schedule = await older('30 1 * * *', 'tick', slug);
    const { client } = gateway.server;
    const isListed = async () => {
      for await (const one of client.schedule.list({ query: 'SignalboxTrigger IS NULL' }))
        if (one.scheduleId === schedule.scheduleId) return true;
      return false;
    };
    await expect.poll(isListed).toBe(true);
    const worker = await forkWorker(gateway.server);
    try {
      await expect.poll(async () => (await schedule.describe()).spec.intervals).toHaveLength(4);
      await expect.poll(isListed).toBe(false);
    } finally {
      await worker.end();
    }
  });

  it('has the right times before they are made up for', async () => {
    const { last } = changesOf('Europe/Berlin', false);
    const { slug, path } = await scheduled('30 1 * * *', 'Europe/Berlin');
    await older('30 1 * * *', 'tick', slug);
    const filled = await gateway.request('POST', `${path}/backfill`, { json: around(last) });
    expect(filled).toMatchObject({ status: 202, body: { times: 1 } });
  });

  it('stays paused where it is paused while it is renewed', async () => {
    const { slug } = await scheduled('30 1 * * *', 'Europe/Berlin');
    const schedule = await older('30 1 * * *', 'tick', slug);
    const { client, ...access } = over();
    const { workflowService } = client.connection;
    let updates = 0;
    const updateSchedule = async (request: temporal.api.workflowservice.v1.IUpdateScheduleRequest) => {
      if (updates++ === 0) await schedule.pause('Maintenance');
      return workflowService.updateSchedule(request);
    };
    const pausing = new Client({ ...client.options, connection: withMethods(client.connection, { updateSchedule }) });
    await renewScheduleTimes({ ...access, client: pausing }, 'default', `${slug}.tick`);
    const { spec, state } = await schedule.describe();
    expect(state).toMatchObject({ paused: true, note: 'Maintenance' });
    expect(spec.intervals).toHaveLength(4);
    expect(updates).toBe(2);
  });

  it('is not set back by its renewal where it is written at the same time', async () => {
    const { slug } = await scheduled('0 0 1 1 *', 'Europe/Berlin');
    const json = { workflowId: slug, name: 'other', type: 'schedule', config: { cron: '30 1 * * *' } };
    expect((await gateway.request('POST', '/api/triggers', { json })).status).toBe(201);
    const schedule = await older('30 1 * * *', 'other', slug);
    let isWritten = false;
    const beforeWrite = async () => {
      if (isWritten) return;
      isWritten = true;
      const change = { config: { cron: '45 7 * * *' }, enabled: false };
      const answer = await gateway.request('PATCH', `/api/triggers/${slug}.other`, { json: change });
      expect(answer.status).toBe(200);
    };
    await renewScheduleTimes({ ...over(), beforeWrite }, 'default', `${slug}.other`);
    const { spec, state } = await schedule.describe();
    expect(spec.calendars).toMatchObject([{ hour: [{ start: 7 }], minute: [{ start: 45 }] }]);
    expect(state.paused).toBe(true);
  });
});
