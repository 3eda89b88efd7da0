// Schedules that Temporal would refuse are refused before anything is stored.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { putDefinition } from '../../../src/client/definitions/definitions.ts';
import { syncSet } from '../../../src/client/definitions/sync.ts';
import { demandValidSchedules } from '../../../src/client/triggers/schedule-validation.ts';
import { deleteSchedule, readSchedule } from '../../../src/client/triggers/schedules.ts';
import { changeTrigger, createTrigger, readTrigger } from '../../../src/client/triggers/triggers.ts';
import { readHead } from '../../../src/client/versions/definition-head.ts';
import { definitionHash } from '../../../src/definition/document/canonical.ts';
import type { Definition } from '../../../src/definition/document/types.ts';
import { ZONE_NAMES } from '../../../src/definition/document/zone-names.ts';
import type { Json } from '../../../src/json/json.ts';
import { writeAccess } from '../../support/temporal.ts';
import { echoDefinition, unique } from '../gateway/gateway-support.ts';
import { type ScheduleGateway, scheduleGateway } from './schedule-support.ts';

const ORG = 'default';

let gateway: ScheduleGateway;
beforeAll(async () => {
  gateway = await scheduleGateway();
});
afterAll(() => gateway.close());

const schedule = (timezone: string, name = 'at-eight') => ({
  name,
  type: 'schedule' as const,
  enabled: true,
  config: { cron: '0 8 * * *', timezone },
});

/** A definition as the gateway hands it on, whose zone the checks would not let pass. */
function given(timezone: string, slug = unique('zone')) {
  const definition = { ...echoDefinition(slug), triggers: [schedule(timezone)] } as unknown as Definition;
  return { definition, hash: definitionHash(definition), slug };
}

const over = () => writeAccess(gateway.server);

const REFUSED = {
  code: 'invalid_trigger',
  message: expect.stringMatching(/^Temporal refuses .*unknown time zone BST\.$/),
};

describe('the time zone of a schedule', () => {
  it('may be each name of the list, for the server', async () => {
    const triggers = ZONE_NAMES.map((name) => ({ trigger: schedule(name), at: `/${name}` }));
    await demandValidSchedules(over(), ORG, triggers);
  });

  it.each(['PST', 'IST', 'SystemV/EST5', 'Mars/Olympus'])('%s is refused by the server', async (name) => {
    await expect(
      demandValidSchedules(over(), ORG, [{ trigger: schedule(name), at: '/triggers/3' }]),
    ).rejects.toMatchObject({
      code: 'invalid_trigger',
      details: { problems: [{ pointer: '/triggers/3/config', code: 'invalid_value' }] },
    });
  });

  it('is refused with its place by each route, and nothing is stored', async () => {
    const slug = unique('zone');
    const written = { ...echoDefinition(slug), triggers: [schedule('BST')] } as unknown as Json;
    for (const [method, path, json, pointer] of [
      ['PUT', `/api/workflows/${slug}`, written, '/triggers/0/config/timezone'],
      ['POST', '/api/workflows', written, '/triggers/0/config/timezone'],
      [
        'POST',
        '/api/workflows/sync-all',
        { workflows: [written] } as unknown as Json,
        '/workflows/0/triggers/0/config/timezone',
      ],
    ] as const) {
      const { status, body } = await gateway.request(method, path, { json });
      expect(status, path).toBe(422);
      expect(body.problems, path).toMatchObject([{ pointer, message: expect.stringMatching(/abbreviation/) }]);
    }
    expect((await gateway.request('GET', `/api/workflows/${slug}`)).status).toBe(404);
  });

  it('is shown in the spelling of tzdata', async () => {
    const slug = unique('zone');
    gateway.stored.push(slug);
    const written = { ...echoDefinition(slug), triggers: [schedule('europe/berlin')] };
    expect((await gateway.request('PUT', `/api/workflows/${slug}`, { json: written })).status).toBe(201);
    const { body } = await gateway.request('GET', `/api/triggers/${slug}.at-eight`);
    expect(body.config.timezone).toBe('Europe/Berlin');
    expect(body.schedule.nextTimes).toHaveLength(10);
    const api = { workflowId: slug, name: 'other', type: 'schedule', config: { cron: '0 8 * * *', timezone: 'utc' } };
    const made = await gateway.request('POST', '/api/triggers', { json: api });
    expect([made.status, made.body.config.timezone]).toEqual([201, 'UTC']);
    const patched = await gateway.request('PATCH', `/api/triggers/${slug}.other`, {
      json: { config: { timezone: 'AMERICA/new_york' } },
    });
    expect([patched.status, patched.body.config.timezone]).toEqual([200, 'America/New_York']);
    const refused = await gateway.request('PATCH', `/api/triggers/${slug}.other`, {
      json: { config: { timezone: 'CST', cron: '0 9 * * *' } },
    });
    expect([refused.status, refused.body.code]).toEqual([422, 'invalid_trigger']);
    const after = await gateway.request('GET', `/api/triggers/${slug}.other`);
    expect(after.body.config).toEqual({ cron: '0 8 * * *', timezone: 'America/New_York' });
  });
});

describe('a schedule that the server alone refuses', () => {
  it('leaves no definition behind', async () => {
    const { definition, hash, slug } = given('BST');
    await expect(putDefinition(over(), ORG, { definition, hash, source: 'update' })).rejects.toMatchObject(REFUSED);
    expect(await readHead(over(), ORG, slug)).toBeUndefined();
    expect(await readTrigger(over(), ORG, `${slug}.at-eight`)).toBeUndefined();
  });

  it('leaves nothing of its set behind', async () => {
    const [good, bad] = [given('UTC'), given('BST')];
    await expect(syncSet(over(), ORG, [good, bad], { source: unique('set') })).rejects.toMatchObject({
      ...REFUSED,
      details: { problems: [{ pointer: '/workflows/1/triggers/0/config' }] },
    });
    expect(await readHead(over(), ORG, good.slug)).toBeUndefined();
  });

  it('leaves no trigger of the API behind, and a changed one as it was', async () => {
    const slug = unique('zone');
    gateway.stored.push(slug);
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
    await expect(createTrigger(over(), ORG, slug, schedule('BST'))).rejects.toMatchObject(REFUSED);
    expect(await readTrigger(over(), ORG, `${slug}.at-eight`)).toBeUndefined();

    const made = await createTrigger(over(), ORG, slug, schedule('UTC'));
    const before = await readSchedule(over(), ORG, made.id);
    await expect(changeTrigger(over(), ORG, made, { config: schedule('BST').config })).rejects.toMatchObject(REFUSED);
    expect((await readTrigger(over(), ORG, made.id))?.trigger).toEqual(made);
    expect(await readSchedule(over(), ORG, made.id)).toEqual(before);
  });
});

describe('a disabled schedule', () => {
  it('refuses a backfill as it refuses to run', async () => {
    const slug = unique('zone');
    gateway.stored.push(slug);
    const written = { ...echoDefinition(slug), triggers: [{ ...schedule('UTC'), enabled: false }] } as unknown as Json;
    expect((await gateway.request('PUT', `/api/workflows/${slug}`, { json: written })).status).toBe(201);
    const id = `/api/triggers/${slug}.at-eight`;
    const span = { start: '2026-01-01T00:00:00Z', end: '2026-01-05T00:00:00Z' };
    const answers = [
      await gateway.request('POST', `${id}/run`),
      await gateway.request('POST', `${id}/backfill`, { json: span }),
    ];
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [409, 'trigger_disabled'],
      [409, 'trigger_disabled'],
    ]);
    await gateway.request('POST', `${id}/enable`);
    expect((await gateway.request('POST', `${id}/backfill`, { json: span })).body.times).toBe(4);
  });
});

describe('a request that stored a trigger and was interrupted before its schedule', () => {
  it('is completed by the same request, and by no other', async () => {
    const slug = unique('zone');
    gateway.stored.push(slug);
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
    const json = { workflowId: slug, ...schedule('UTC') };
    expect((await gateway.request('POST', '/api/triggers', { json })).status).toBe(201);
    expect((await gateway.request('POST', '/api/triggers', { json })).body.code).toBe('trigger_exists');
    await deleteSchedule(over(), ORG, `${slug}.at-eight`);
    const other = await gateway.request('POST', '/api/triggers', { json: { workflowId: slug, ...schedule('EST') } });
    expect(other.body.code).toBe('trigger_exists');
    const again = await gateway.request('POST', '/api/triggers', { json });
    expect(again.status, JSON.stringify(again.body)).toBe(201);
    expect(again.body.schedule.nextTimes).toHaveLength(10);
  });
});
