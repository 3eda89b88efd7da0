// Who stands behind a run that was not started by hand, and so may not approve it; and whose a webhook's address is.

import { beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/contract/organization/organization.ts';
import type { Json } from '../../../src/json/json.ts';
import { approvalDefinition, echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

type Members = { [key: string]: Json };
const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789' });
const people = new Map<string, { headers: { authorization: string } }>();
beforeAll(async () => {
  const roles: [name: string, role: Role][] = [
    ['ann', 'editor'],
    ['bob', 'approver'],
    ['run', 'runner'],
  ];
  for (const [name, role] of roles) {
    const { body } = await gateway.request('POST', '/api/keys', { json: { name, role } });
    people.set(name, { headers: { authorization: `Bearer ${body.key}` } });
  }
});

const as = (name: string, method: string, path: string, json?: Json) =>
  gateway.request(method, path, { ...people.get(name), ...(json === undefined ? {} : { json }) });

async function stored(more: Members): Promise<string> {
  const slug = unique('initiated');
  const answer = await as('ann', 'PUT', `/api/workflows/${slug}`, approvalDefinition(slug, more));
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return slug;
}

/** The only run of the workflow, once it waits. */
async function waitingRun(slug: string): Promise<string> {
  const { body } = await gateway.until(
    `/api/workflows/${slug}/executions`,
    (answer) => answer.body.items.length === 1 && answer.body.items[0].status === 'waiting',
    20,
  );
  return `/api/executions/${body.items[0].id}`;
}

const decide = (name: string, path: string) => as(name, 'POST', `${path}/approve`, { approve: true });
async function expectStartedBy(path: string, initiator: string): Promise<void> {
  expect((await as('ann', 'GET', path)).body.initiator).toBe(initiator);
  expect((await decide(initiator, path)).body.code).toBe('requester_may_not_approve');
  expect((await decide(initiator === 'ann' ? 'bob' : 'ann', path)).status).toBe(200);
}

describe('the initiator', () => {
  it('of what an event starts is whoever published it, also where it is put off', async () => {
    for (const config of [{}, { debounce: { seconds: 1 } }]) {
      const name = unique('event');
      const slug = await stored({ config, triggers: [{ name: 'on', type: 'event', config: { name } }] });
      expect((await as('bob', 'POST', '/api/events', { name, data: { amount: 1 } })).status).toBe(202);
      await expectStartedBy(await waitingRun(slug), 'bob');
    }
  });

  it('of a public start is whoever shows a key of the organization as well', async () => {
    const slug = await stored({ config: { publicStart: true } });
    expect((await as('bob', 'GET', '/api/public-key')).status).toBe(403);
    expect((await as('run', 'GET', '/api/public-key')).body.code).toBe('role_required');
    const { publicApiKey } = (await as('ann', 'GET', '/api/public-key')).body;
    const path = `/api/public/trigger/${publicApiKey}/${slug}`;
    expect((await as('bob', 'POST', path, { amount: 1 })).status).toBe(201);
    await expectStartedBy(await waitingRun(slug), 'bob');
    const other = await stored({ config: { publicStart: true } });
    const strange = { headers: { authorization: 'Basic c3RyYW5nZXI=' }, json: { amount: 1 } };
    expect((await gateway.request('POST', `/api/public/trigger/${publicApiKey}/${other}`, strange)).status).toBe(201);
    expect((await as('ann', 'GET', await waitingRun(other))).body.initiator).toBeUndefined();
  });

  it('of a test request of a webhook is whoever sends it, and of a delivery nobody', async () => {
    const path = unique('path');
    const triggers = [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }];
    const slug = await stored({ triggers });
    expect((await as('bob', 'POST', `/api/triggers/${slug}.in/run`, { input: { amount: 1 } })).status).toBe(201);
    await expectStartedBy(await waitingRun(slug), 'bob');
    const delivered = await fetch(`${gateway.url}/webhooks/${path}`, { method: 'POST', body: '{"amount":2}' });
    const { executionId } = (await delivered.json()) as { executionId: string };
    const run = await as('ann', 'GET', `/api/executions/${executionId}`);
    expect(run.status).toBe(200);
    expect(run.body.initiator).toBeUndefined();
  });

  it('of a delivery is whoever shows a key of the organization as well, also where it is put off', async () => {
    for (const config of [{}, { debounce: { seconds: 1 } }]) {
      const path = unique('path');
      const slug = await stored({
        config,
        triggers: [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }],
      });
      expect((await as('bob', 'POST', `/webhooks/${path}`, { amount: 1 })).status).toBe(202);
      await expectStartedBy(await waitingRun(slug), 'bob');
    }
    const path = unique('path');
    const slug = await stored({ triggers: [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }] });
    const strange = { headers: { authorization: 'Bearer c3RyYW5nZXI=' }, json: { amount: 1 } };
    expect((await gateway.request('POST', `/webhooks/${path}`, strange)).status).toBe(202);
    expect((await as('ann', 'GET', await waitingRun(slug))).body.initiator).toBeUndefined();
  });

  it('of times of a schedule that are made up for is whoever asked for them', async () => {
    const slug = await stored({
      triggers: [
        {
          name: 'daily',
          type: 'schedule',
          config: { cron: '0 6 * * *', overlap: 'allow_all' },
          variableMapping: { amount: '$.scheduledTime' },
        },
      ],
    });
    const day = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
    const span = { start: `${day}T05:00:00Z`, end: `${day}T07:00:00Z` };
    expect(await as('ann', 'POST', `/api/triggers/${slug}.daily/backfill`, span)).toMatchObject({
      status: 202,
      body: { times: 1 },
    });
    await expectStartedBy(await waitingRun(slug), 'ann');
  }, 90_000);
});

describe("a webhook's address", () => {
  it('that begins with the name of an organization is of that organization alone', async () => {
    const acme = unique('acme');
    const early = `${acme}/orders`;
    const hooked = (path: string): Members => ({
      triggers: [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }],
    });
    // While there is no such organization, the word is as good as any.
    const slug = unique('early');
    expect((await as('ann', 'PUT', `/api/workflows/${slug}`, echoDefinition(slug, hooked(early)))).status).toBe(201);
    expect((await gateway.request('POST', `/webhooks/${early}`, { json: {} })).status).toBe(202);
    const made = await gateway.request('POST', '/api/keys', { json: { name: 'a', role: 'admin', organization: acme } });
    const ofAcme = { headers: { authorization: `Bearer ${made.body.key}` } };
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await gateway.request('POST', `/webhooks/${early}`, { json: {} })).status).toBe(404);
    const own = unique('own');
    const put = (enabled: boolean) =>
      gateway.request('PUT', `/api/workflows/${own}`, {
        json: { ...echoDefinition(own, hooked('orders')), enabled },
        ...ofAcme,
      });
    expect((await put(true)).status).toBe(201);
    const taken = await gateway.request('POST', `/webhooks/${early}`, { json: { n: 1 } });
    expect(taken.status).toBe(202);
    expect(taken.body.executionId).toContain(`run.${acme}.`);
    expect((await put(false)).status).toBe(200);
    expect((await gateway.request('POST', `/webhooks/${early}`, { json: { n: 2 } })).status).toBe(409);
    for (const path of [`${acme}/other`, 'default/other']) {
      const refused = unique('refused');
      expect(await as('ann', 'PUT', `/api/workflows/${refused}`, echoDefinition(refused, hooked(path)))).toMatchObject({
        status: 409,
        body: { code: 'path_reserved' },
      });
    }
  });
});
