// Two organizations on one store: one gets 404 for every id of the other, and neither reads nor changes its data. Every
// operation of the OpenAPI document is tried, so new routes are included.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { openApiDocument } from '../../../src/gateway/manual/openapi-document.ts';
import { routes } from '../../../src/gateway/route-table.ts';
import type { Json } from '../../../src/json/json.ts';
import { approvalDefinition, requestTo, type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';
import type { Document } from '../gateway/openapi-requests.ts';

/** Stands in whatever the other organization holds, and in no id. */
const CANARY = 'canary-of-acme';
const organization = unique('acme');
const slug = unique('refund');

let gateway: TestGateway;
let acme: { headers: { authorization: string } };
let ids: { readonly [parameter: string]: string };
let known: {
  readonly recording: string;
  readonly execution: string;
  readonly key: string;
  readonly trigger: string;
  readonly hash: string;
};

beforeAll(async () => {
  gateway = await testGateway({ SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789' });
  const made = await gateway.request('POST', '/api/keys', { json: { name: 'acme', role: 'admin', organization } });
  acme = { headers: { authorization: `Bearer ${made.body.key}` } };
  const as = async (method: string, path: string, json: Json) => {
    const { status, body } = await gateway.request(method, path, { json, ...acme });
    expect(status, JSON.stringify(body)).toBeLessThan(300);
    return body;
  };
  const named = { name: CANARY, description: CANARY, constraints: { allowSelfModification: true } };
  const { hash } = await as('PUT', `/api/workflows/${slug}`, approvalDefinition(slug, named));
  await as('PUT', '/api/secrets/payments', { value: CANARY, allowedHosts: [`${CANARY}.example.com`] });
  await as('PUT', '/api/models/main', { provider: 'openai', model: CANARY, apiKeySecret: 'payments' });
  await as('PUT', '/api/mcp-servers/main', { url: `https://${CANARY}.example.com/mcp` });
  const webhook = {
    name: unique('hook'),
    workflowId: slug,
    type: 'webhook',
    config: { path: unique('hook'), scheme: 'none' },
  };
  const trigger = await as('POST', '/api/triggers', webhook);
  const run = await as('POST', '/api/triggers/manual/run', { workflowId: slug, input: { amount: 3, note: CANARY } });
  const { id: recording } = await as('POST', '/api/recordings', { name: CANARY });
  known = { recording, execution: run.executionId, key: made.body.id, trigger: trigger.id, hash };
  const deadline = Date.now() + 10_000;
  for (;;) {
    const { body } = await gateway.request('GET', `/api/executions?workflowId=${slug}&status=waiting`, acme);
    if (body.items?.length === 1) break;
    expect(Date.now()).toBeLessThan(deadline);
  }
  ids = { slug, workflowId: slug, org: organization, run: run.executionId, hash, name: 'main', scope: 'organization' };
});
afterAll(() => gateway.close());

const document = openApiDocument(routes) as unknown as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
);

/** Bodies that the routes take, so that it is not for them that they refuse. */
const BODIES: { readonly [route: string]: () => Json } = {
  'POST /api/executions/{id}/approve': () => ({ approve: true }),
  'POST /api/executions/{id}/submit': () => ({ data: {} }),
  'POST /api/executions/{id}/fork': () => ({ from: 'review' }),
  'POST /api/workflows/{slug}/proposals': () => ({ baseWorkflowHash: known.hash, proposal: approvalDefinition(slug) }),
  'POST /api/workflows/{slug}/proposals/{id}/review': () => ({ decision: 'approve' }),
  'POST /api/workflows/{slug}/rollback': () => ({ workflowHash: known.hash }),
  'PATCH /api/workflows/{slug}': () => ({ enabled: false }),
  'PATCH /api/triggers/{id}': () => ({ enabled: false }),
  'POST /api/triggers/{id}/backfill': () => ({ start: '2026-01-15T10:00:00Z', end: '2026-01-15T11:00:00Z' }),
  'POST /api/triggers/manual/run': () => ({ workflowId: slug }),
  'POST /api/recordings/{id}/calls': () => ({ toolName: 'any' }),
  'POST /api/recordings/{id}/steps': () => ({ action: { return: true } }),
  'POST /api/recordings/{id}/suggestions/confirm': () => ({
    items: [{ step: 'a', pointer: '/a', reference: '@input.a' }],
  }),
};

/** What these write is the caller's own, whatever it is called. */
const OWN = /^PUT |^DELETE \/api\/limits\//;
/** Parameters that a route cannot do without. */
const QUERIES: { readonly [route: string]: () => string } = {
  'GET /api/workflows/{slug}/diff': () => `?from=${known.hash}&to=${known.hash}`,
};
/** These have nothing of an organization, or ids of none. */
const ELSEWHERE = /^(?!\/api\/)|^\/api\/public\//;

function addressed(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const id = path.startsWith('/api/keys')
      ? known.key
      : path.startsWith('/api/triggers')
        ? known.trigger
        : path.startsWith('/api/recordings')
          ? known.recording
          : known.execution;
    if (path.startsWith('/api/inbox')) return `msg_${'0'.repeat(32)}`;
    const value = name === 'id' ? id : (ids[name] ?? 'fuzz');
    return encodeURIComponent(path.startsWith('/api/secrets') ? 'payments' : value);
  });
}

/** Everything of the other organization, as it sees it itself. */
async function holdings(): Promise<unknown[]> {
  const lists = [
    'workflows',
    'secrets',
    'triggers',
    'models',
    'mcp-servers',
    'limits',
    'approvals',
    'executions',
    'inbox',
  ];
  const paths = [
    ...lists.map((list) => `/api/${list}`),
    `/api/workflows/${slug}`,
    `/api/executions/${known.execution}`,
    `/api/recordings/${known.recording}`,
  ];
  const answers = await Promise.all(paths.map((path) => gateway.request('GET', path, acme)));
  for (const [n, { status, body }] of answers.entries())
    expect(status, `${paths[n]} ${JSON.stringify(body)}`).toBe(200);
  const keys = await gateway.request('GET', '/api/keys', acme);
  const audit = await gateway.request('GET', '/api/audit', acme);
  return [
    ...answers.map(({ body }) => body),
    keys.body.items.map(({ lastUsedAt: _late, ...key }: { lastUsedAt?: string }) => key),
    audit.body.items.map(({ action, by }: { action: string; by: string }) => [action, by]),
  ];
}

it('every operation finds nothing of another organization, and changes nothing of it', async () => {
  const before = await holdings();
  expect(JSON.stringify(before)).toContain(CANARY);
  const faults: string[] = [];
  let tried = 0;
  for (const { method, path } of operations.filter((one) => !ELSEWHERE.test(one.path))) {
    const route = `${method} ${path}`;
    const body = method === 'GET' || method === 'DELETE' ? {} : { json: BODIES[route]?.() ?? {} };
    const stream = path.endsWith('/events') && method === 'GET';
    const answer = await requestTo(gateway.url, method, `${addressed(path)}${QUERIES[route]?.() ?? ''}`, {
      ...body,
      headers: {
        authorization: 'Bearer an-admin-of-the-environment-0123456789',
        ...(stream ? { accept: 'text/event-stream' } : {}),
      },
    });
    tried += 1;
    const named = path.includes('{') || route in BODIES;
    if (named && !OWN.test(route) && answer.status !== 404)
      faults.push(`${route} answered ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`);
    if (JSON.stringify(answer.body).includes(CANARY)) faults.push(`${route} told of the other organization`);
  }
  expect(faults).toEqual([]);
  expect(tried).toBeGreaterThan(50);
  expect(await holdings()).toEqual(before);
}, 60_000);

it('an organization in a body or a query is of nobody else', async () => {
  const json = { name: 'x', role: 'admin', organization: 'default' };
  expect((await gateway.request('POST', '/api/keys', { json, ...acme })).status).toBe(404);
  expect((await gateway.request('GET', '/api/keys?organization=default', acme)).status).toBe(404);
  const inline = { definition: approvalDefinition(slug), organizationId: 'default' } as unknown as Json;
  expect((await gateway.request('POST', '/api/executions', { json: inline, ...acme })).status).toBe(400);
});

it('a cursor of another organization is no cursor', async () => {
  await gateway.request('PUT', '/api/secrets/another', { json: { value: CANARY }, ...acme });
  const { body } = await gateway.request('GET', '/api/secrets?limit=1', acme);
  const answer = await gateway.request('GET', `/api/secrets?limit=1&cursor=${body.nextCursor}`);
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } });
});
