// Secrets that are bound to workflows: only runs of a stored version may use them, and a secret from a definition
// belongs to its workflow.

import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Definition } from '../../../src/definition/document/types.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { type TestServer as HttpServer, serve } from '../../activities/server.ts';
import { type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';
import { startRun } from '../runs/run-support.ts';

let gateway: TestGateway;
let receiver: HttpServer;
beforeAll(async () => {
  receiver = await serve((_seen, response) => void response.end('ok'));
  gateway = await testGateway({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
});
afterAll(async () => {
  await gateway.close();
  await receiver.close();
});

const VALUE = 'canary-of-a-workflow';
const HOOK = 'signing-key-of-a-webhook';
const sends = (slug: string, secret: unknown, more: JsonObject = {}): JsonObject => ({
  name: slug,
  slug,
  config: { secrets: { K: secret as string } },
  steps: { call: { stepType: 'http', config: { url: receiver.url, headers: { 'x-key': '{{ secrets.K }}' } } } },
  ...more,
});
const store = async (definition: JsonObject) => {
  const { status, body } = await gateway.request('PUT', `/api/workflows/${definition['slug']}`, { json: definition });
  expect(status, JSON.stringify(body)).toBeLessThan(300);
};
const ended = async (start: string, json: JsonObject) => {
  const { body } = await gateway.request('POST', start, { json });
  return (await gateway.request('GET', `/api/executions/${body.executionId}/result?wait=15`)).body;
};
const stored = (slug: string) => ended('/api/triggers/manual/run', { workflowId: slug });
const inline = (definition: JsonObject) => ended('/api/executions', { definition });
const received = () => receiver.seen.filter(({ headers }) => headers['x-key'] === VALUE).length;
const refused = { status: 'failed', error: { code: 'secret_not_allowed' } };

it('one that is bound to a workflow is not for what only calls itself so', async () => {
  const slug = unique('payments');
  const name = unique('bound');
  await gateway.request('PUT', `/api/secrets/${name}`, { json: { value: VALUE, allowedWorkflows: [slug] } });
  // Before and after there is such a workflow.
  expect(await inline(sends(slug, name))).toMatchObject(refused);
  await store(sends(slug, name));
  expect(await inline(sends(slug, name))).toMatchObject(refused);
  const byHand = await startRun(gateway.server, sends(slug, name) as unknown as Definition);
  await expect(byHand.result()).rejects.toMatchObject({ cause: { type: 'secret_not_allowed' } });
  expect(received()).toBe(0);
  expect(await stored(slug)).toMatchObject({ status: 'completed' });
  expect(received()).toBe(1);
});

it('one that was taken out of a definition is bound to its workflow, for sending and for verifying', async () => {
  const [slug, thief, path, stolen] = ['owner', 'thief', 'hook', 'stolen'].map(unique) as [
    string,
    string,
    string,
    string,
  ];
  const hook = (at: string, secret: unknown): JsonObject => ({
    triggers: [{ name: 'in', type: 'webhook', config: { path: at, scheme: 'hmac', secret: secret as string } }],
  });
  await store(sends(slug, { value: VALUE }, hook(path, HOOK)));
  const { body } = await gateway.request('GET', '/api/secrets?limit=1000');
  const own = body.items.filter((one: { name: string }) => one.name.startsWith(`workflows/${slug}/`));
  expect(own).toHaveLength(2);
  for (const secret of own) expect(secret).toMatchObject({ allowedWorkflows: [slug] });
  const before = received();
  expect(await stored(slug)).toMatchObject({ status: 'completed' });
  expect(received()).toBe(before + 1);
  await store(
    sends(thief, `workflows/${slug}/secrets/K`, hook(stolen, { secretRef: `workflows/${slug}/triggers/in/secret` })),
  );
  expect(await stored(thief)).toMatchObject(refused);
  expect(received()).toBe(before + 1);
  const deliver = (to: string) => {
    const text = '{"n":1}';
    const signature = createHmac('sha256', HOOK).update(text).digest('hex');
    return gateway.request('POST', `/webhooks/${to}`, {
      text,
      headers: { 'content-type': 'application/json', 'x-signature': signature },
    });
  };
  expect((await deliver(path)).status).toBeLessThan(300);
  expect(await deliver(stolen)).toMatchObject({ body: { code: 'webhook_unverifiable' } });
  // A caller that may write secrets may say that another may use it; saving the definition again leaves that as it is.
  const [taken] = own.filter((one: { name: string }) => one.name.endsWith('/secrets/K'));
  await gateway.request('PUT', `/api/secrets/${encodeURIComponent(taken.name)}`, {
    json: { value: VALUE, allowedWorkflows: [slug, thief] },
  });
  await store(sends(slug, { value: VALUE }, { description: 'Changed.' }));
  expect(await stored(thief)).toMatchObject({ status: 'completed' });
});

it('one of a definition that is not stored is its own, and stays in no organization', async () => {
  const later = unique('later');
  const { call } = sends('inline', { value: VALUE })['steps'] as JsonObject;
  const first = { stepType: 'run_workflow', config: { workflow: later }, nextSteps: { success: 'call' } };
  const before = received();
  const { body: started } = await gateway.request('POST', '/api/executions', {
    json: { definition: sends('inline', { value: VALUE }, { steps: { first, call: call as JsonObject } }) },
  });
  const run = `/api/executions/${started.executionId}`;
  const result = async (of: string) => (await gateway.request('GET', `${of}/result?wait=15`)).body;
  expect(await result(run)).toMatchObject({ status: 'failed', error: { code: 'workflow_not_found' } });
  await store({ name: later, slug: later, steps: { end: { stepType: 'finish' } } });
  await gateway.request('POST', `${run}/retry`);
  await gateway.until(run, ({ body }) => body.status === 'completed');
  expect(received()).toBe(before + 1);
  const { body: forked } = await gateway.request('POST', `${run}/fork`, { json: { from: 'call' } });
  expect(await result(`/api/executions/${forked.executionId}`)).toMatchObject({ status: 'completed' });
  expect(received()).toBe(before + 2);

  const { body: secrets } = await gateway.request('GET', '/api/secrets?limit=1000');
  expect(secrets.items.filter(({ name }: { name: string }) => name.startsWith('inline/'))).toEqual([]);
  const { body: snapshot } = await gateway.request('GET', `${run}/definition`);
  const { K } = snapshot.definition.config.secrets;
  expect(K).toMatch(/^inline\//);
  expect(await inline(sends('inline', K))).toMatchObject({ status: 'failed', error: { code: 'secret_not_found' } });
  const { events } = await gateway.server.client.workflow.getHandle(started.executionId).fetchHistory();
  const payloads = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const argument = payloads.map(({ data }) => Buffer.from(data ?? []).toString()).join();
  expect(argument).toContain(`"${K}":{"sealed":`);
  expect(argument).not.toContain(VALUE);
});
