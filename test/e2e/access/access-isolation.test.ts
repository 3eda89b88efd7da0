// Two organizations on one store: names of the other one in bodies, queries and cursors. That no route finds or changes
// anything of another organization is in access-matrix.test.ts.

import { beforeAll, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { approvalDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const organization = unique('acme');

const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789' });
let acme: { headers: { authorization: string } };
beforeAll(async () => {
  const made = await gateway.request('POST', '/api/keys', { json: { name: 'acme', role: 'admin', organization } });
  acme = { headers: { authorization: `Bearer ${made.body.key}` } };
});

it('an organization in a body or a query is of nobody else', async () => {
  const json = { name: 'x', role: 'admin', organization: 'default' };
  expect((await gateway.request('POST', '/api/keys', { json, ...acme })).status).toBe(404);
  expect((await gateway.request('GET', '/api/keys?organization=default', acme)).status).toBe(404);
  const definition = approvalDefinition(unique('refund'));
  const inline = { definition, organizationId: 'default' } as unknown as Json;
  expect((await gateway.request('POST', '/api/executions', { json: inline, ...acme })).status).toBe(400);
});

it('a cursor of another organization is no cursor', async () => {
  for (const name of ['one', 'another'])
    await gateway.request('PUT', `/api/secrets/${name}`, { json: { value: 'of acme' }, ...acme });
  const { body } = await gateway.request('GET', '/api/secrets?limit=1', acme);
  expect(body.nextCursor).toEqual(expect.any(String));
  const answer = await gateway.request('GET', `/api/secrets?limit=1&cursor=${body.nextCursor}`);
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } });
});
