// The examples order-approval and reminders, as stored workflows on the real server.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../../src/cli/start/project-root.ts';
import type { Json } from '../../../src/json/json.ts';
import { sharedGateway } from '../gateway/gateway-support.ts';

const gateway = sharedGateway();
beforeAll(async () => {
  for (const name of ['order-approval', 'reminders']) {
    const text = readFileSync(join(projectRoot(), `deploy/examples/${name}.yaml`), 'utf8');
    const { status, body } = await gateway.request('POST', '/api/workflows', {
      text,
      headers: { 'content-type': 'application/yaml' },
    });
    expect({ status, warnings: body.warnings }).toMatchObject({ warnings: [] });
  }
});

const result = (id: string) => gateway.request('GET', `/api/executions/${id}/result?wait=30`);
const waiting = (id: string) => gateway.until(`/api/executions/${id}`, ({ body }) => body.waitingFor?.length > 0);
const decide = (id: string, json: Json) => gateway.request('POST', `/api/executions/${id}/approve`, { json });

describe('order approval', () => {
  it('lets a small order pass', async () => {
    const id = await gateway.start('order-approval', { order: 'A-1', amount: 1000 });
    expect((await result(id)).body.output).toEqual({ order: 'A-1', outcome: 'accepted', by: 'limit', comments: null });
  });

  it('wants a person and a reason for a large one, by REST', async () => {
    const id = await gateway.start('order-approval', { order: 'A-2', amount: 1000.01, customer: 'Ann' });
    expect((await waiting(id)).body.waitingFor[0].message).toBe('Order A-2 of Ann over 1000.01 euros: accept it?');
    expect((await decide(id, { approve: true })).body).toMatchObject({ status: 422, code: 'invalid_submission' });
    expect((await decide(id, { approve: true, comments: 'Known well.' })).status).toBe(200);
    expect((await result(id)).body.output).toMatchObject({ outcome: 'accepted', by: 'api', comments: 'Known well.' });
  });

  it('takes a rejection from Temporal, and finds it by its state', async () => {
    const id = await gateway.start('order-approval', { order: 'A-3', amount: 5000 });
    await waiting(id);
    await gateway.server.client.workflow.getHandle(id).signal('reject', { comments: 'Too much.' });
    expect((await result(id)).body.output).toMatchObject({
      outcome: 'rejected',
      by: 'temporal',
      comments: 'Too much.',
    });
    const list = await gateway.until(`/api/executions?state[outcome]=rejected&workflowId=order-approval`, ({ body }) =>
      body.items?.some((run: { id: string }) => run.id === id),
    );
    expect(list.status).toBe(200);
  });
});

describe('reminders', () => {
  it('reminds one after the other, with pauses', async () => {
    const id = await gateway.start('reminders', { people: ['Ann', 'Ben'], seconds: 1 });
    const { body } = await result(id);
    expect(body.output).toMatchObject({
      count: 2,
      sent: [
        { to: 'Ann', text: 'Ann, your report is due.' },
        { to: 'Ben', text: 'Ben, your report is due.' },
      ],
    });
    const [first, second] = body.output.sent.map(({ at }: { at: string }) => Date.parse(at));
    expect(second - first).toBeGreaterThanOrEqual(1_000);
  });

  it('needs no input at all', async () => {
    const id = await gateway.start('reminders', {});
    expect((await waiting(id)).body.waitingFor[0]).toMatchObject({ path: 'each~0/pause', kind: 'timer' });
    await gateway.request('POST', `/api/executions/${id}/cancel`, { json: {} });
  });
});
