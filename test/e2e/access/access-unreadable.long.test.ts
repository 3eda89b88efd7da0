import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect, type TemporalConnection } from '../../../src/client/temporal/connect.ts';
import { startGateway } from '../../../src/gateway/serve.ts';
import {
  type Answer,
  approvalDefinition,
  echoDefinition,
  requestTo,
  sharedGateway,
  unique,
} from '../gateway/gateway-support.ts';

// A gateway under another master key, over the same Temporal: what it cannot read must not hide what it can.
const encrypting = sharedGateway({ SIGNALBOX_CODEC: '1' });
let temporal: TemporalConnection;
let other: { url: string; close(): Promise<void> };
const ask = (path: string): Promise<Answer> => requestTo(other.url, 'GET', path, {});

beforeAll(async () => {
  const config = { ...encrypting.server.config, masterKey: randomBytes(32) };
  temporal = await connect(config);
  other = await startGateway(config, { temporal, uiUrl: 'http://127.0.0.1:8233' });
});
afterAll(async () => {
  await other.close();
  await temporal.close();
});

it('lists the runs that it cannot read, with what it knows of them and with the reason', async () => {
  const definition = echoDefinition(unique('echo'));
  const started = await encrypting.request('POST', '/api/executions', { json: { definition } });
  expect(started.status, JSON.stringify(started.body)).toBe(201);
  const id = String(started.body.executionId);
  await encrypting.until('/api/executions', ({ body }) => body.items[0]?.status === 'completed');
  const { status, body } = await ask('/api/executions');
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.items).toMatchObject([
    { id, workflowId: definition['slug'], status: 'completed', unreadable: { code: 'payload_unreadable' } },
  ]);
  expect(body.items[0].unreadable.message).toContain('SIGNALBOX_FORMER_MASTER_KEYS');
  const alloyLists = await ask('/api/organizations/default/workflows/runs/?limit=1');
  expect(alloyLists).toMatchObject({
    status: 200,
    body: { items: [{ run_id: id, status: 'completed', unreadable: { code: 'payload_unreadable' } }] },
  });
  const unreadable = { code: 'payload_unreadable' };
  expect(await ask(`/api/executions/${id}`)).toMatchObject({ status: 200, body: { status: 'completed', unreadable } });
  expect(await ask(`/api/executions/${id}/steps`)).toMatchObject({ status: 200, body: { items: [], unreadable } });
  expect(await ask(`/api/executions/${id}/result`)).toMatchObject({
    status: 200,
    body: { status: 'completed', unreadable },
  });
});

it('keeps no definition and no approval from its lists in silence', async () => {
  const slug = unique('asks');
  await encrypting.request('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug) });
  const executionId = await encrypting.start(slug, { amount: 3 });
  await encrypting.until('/api/workflows', (answer) => answer.body.items.length === 1);
  await encrypting.until('/api/approvals', (answer) => answer.body.items.length === 1);
  const workflows = await ask('/api/workflows');
  expect(workflows).toMatchObject({ status: 200, body: { items: [] } });
  expect(workflows.body.unreadable).toMatchObject([{ slug, code: 'payload_unreadable' }]);
  const trigger = { name: unique('by-hand'), workflowId: slug, type: 'manual' };
  const made = await encrypting.request('POST', '/api/triggers', { json: trigger });
  const recording = await encrypting.request('POST', '/api/recordings', { json: { name: 'secret' } });
  await encrypting.until('/api/triggers', (answer) => answer.body.items.length === 1);
  await encrypting.until('/api/recordings', (answer) => answer.body.items.length === 1);
  const triggers = await ask('/api/triggers');
  expect(triggers).toMatchObject({ status: 200, body: { items: [] } });
  expect(triggers.body.unreadable).toMatchObject([{ id: made.body.id, workflowId: slug, code: 'payload_unreadable' }]);
  const recordings = await ask('/api/recordings');
  expect(recordings).toMatchObject({ status: 200, body: { items: [] } });
  expect(recordings.body.unreadable).toMatchObject([{ id: recording.body.id, code: 'payload_unreadable' }]);
  // Who can read them sees no such member.
  expect((await encrypting.request('GET', '/api/triggers')).body.unreadable).toBeUndefined();
  const approvals = await ask('/api/approvals');
  expect(approvals).toMatchObject({
    status: 200,
    body: { items: [{ executionId, path: '', unreadable: { code: 'payload_unreadable' } }] },
  });
});
