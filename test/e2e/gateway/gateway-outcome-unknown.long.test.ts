// Requests with a key whose outcome the gateway does not know: a repeated request finds what was done, once.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type TemporalConnection } from '../../../src/client/temporal/connect.ts';
import { debounceId } from '../../../src/client/temporal/ids.ts';
import { startGateway } from '../../../src/gateway/serve.ts';
import type { Json } from '../../../src/json/json.ts';
import { ResponseDroppingProxy } from '../../support/response-dropping-proxy.ts';
import {
  type Answer,
  approvalDefinition,
  echoDefinition,
  requestTo,
  sharedGateway,
  unique,
} from './gateway-support.ts';

const gateway = sharedGateway();
let proxy: ResponseDroppingProxy;
let temporal: TemporalConnection;
/** Another gateway, for which the proxy drops responses of Temporal. */
let lossyGateway: { url: string; close(): Promise<void> };
let publicKey: string;
beforeAll(async () => {
  const { config } = gateway.server;
  proxy = new ResponseDroppingProxy(config.temporal.address ?? '');
  temporal = await connect({ ...config, temporal: { ...config.temporal, address: await proxy.open() } });
  lossyGateway = await startGateway(config, { temporal });
  publicKey = (await gateway.request('GET', '/api/public-key')).body.publicApiKey;
});
afterAll(async () => {
  await lossyGateway.close();
  await temporal.close();
  await proxy.close();
});

type Asked = { path: string; json: Json; key: string };
const send = (url: string, { path, json, key }: Asked): Promise<Answer> =>
  requestTo(url, 'POST', path, { json, headers: { 'idempotency-key': key } });
const again = (asked: Asked): Promise<Answer> => send(gateway.url, asked);

/**
 * Sends a request whose call with the text loses its response: `done` when it is lost, `unknown` after the deadline.
 */
function sendLosingResponse(asked: Asked, said: string): { done: Promise<void>; unknown: Promise<void> } {
  const done = proxy.dropResponse(said);
  const unknown = send(lossyGateway.url, asked).then(async (answer) => {
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 503, body: { code: 'outcome_unknown' } });
    await done;
  });
  return { done, unknown };
}

async function waiting(): Promise<string> {
  const slug = await gateway.store(approvalDefinition(unique('waits')));
  const id = await gateway.start(slug, { amount: 1 });
  await gateway.until(`/api/executions/${id}`, (answer) => answer.body.status === 'waiting');
  return id;
}

const outputsOf = async (slug: string, count: number): Promise<Json[]> => {
  const { body } = await gateway.until(
    `/api/workflows/${slug}/executions`,
    (answer) =>
      answer.body.items.length >= count &&
      answer.body.items.every(({ status }: { status: string }) => status === 'completed'),
    50,
  );
  const results = body.items.map(({ id }: { id: string }) => gateway.request('GET', `/api/executions/${id}/result`));
  return (await Promise.all<Answer>(results)).map(({ body: { output } }) => output);
};

// Each takes the ten seconds after which an outcome is unknown.
describe.concurrent('a request whose outcome is not known', () => {
  it('to end a run is answered as if it had been, and no other with its key', async () => {
    const key = unique('key');
    const path = `/api/executions/${await waiting()}/terminate`;
    const asked = { path, json: { reason: key }, key };
    await sendLosingResponse(asked, key).unknown;
    expect(await again({ ...asked, json: { reason: 'another' } })).toMatchObject({
      status: 422,
      body: { code: 'idempotency_conflict' },
    });
    expect(await again(asked)).toMatchObject({ status: 202, body: { status: 'aborted' } });
  });

  it('to start a run is looked for by its id, and starts none of another workflow', async () => {
    const [slug, other] = [
      await gateway.store(echoDefinition(unique('one'))),
      await gateway.store(echoDefinition(unique('other'))),
    ];
    const key = unique('key');
    const asked = { path: '/api/triggers/manual/run', json: { workflowId: slug, input: { key } }, key };
    const done = proxy.dropResponse(key);
    expect(await send(lossyGateway.url, asked)).toMatchObject({
      status: 200,
      body: { executionId: expect.any(String) },
    });
    await done;
    const elsewhere = { ...asked, json: { workflowId: other, input: { key } } };
    expect(await again(elsewhere)).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } });
    expect((await again(asked)).status).toBe(200);
    expect(await outputsOf(slug, 1)).toEqual([{ key }]);
  });

  it('that was put off and has been run since is not run again', async () => {
    const slug = await gateway.store(
      echoDefinition(unique('put-off'), { config: { debounce: { key: 'of', seconds: 1 }, publicStart: true } }),
    );
    const key = unique('key');
    const trigger = `/api/public/trigger/${publicKey}/${slug}`;
    const asked = { path: trigger, json: { of: 'a', n: key }, key };
    await sendLosingResponse(asked, key).unknown;
    expect(await outputsOf(slug, 1)).toEqual([asked.json]);
    expect((await again(asked)).status).toBe(202);
    // Put off anew, it has come to its end when this is over. What comes after it is listed after it.
    await gateway.server.client.workflow.getHandle(debounceId('default', slug, 'a')).result();
    const last = { path: trigger, json: { of: 'a', n: 'last' }, key: unique('key') };
    expect((await again(last)).status).toBe(202);
    const outputs = await outputsOf(slug, 2);
    expect(outputs).toHaveLength(2);
    expect(outputs).toEqual(expect.arrayContaining([last.json, asked.json]));
  });

  it('and that is sent again while a later one is debounced does not replace it', async () => {
    const slug = await gateway.store(
      echoDefinition(unique('later'), { config: { debounce: { key: 'of', seconds: 30 }, publicStart: true } }),
    );
    const key = unique('key');
    const trigger = `/api/public/trigger/${publicKey}/${slug}`;
    const asked = { path: trigger, json: { of: 'a', n: key }, key };
    const { done, unknown } = sendLosingResponse(asked, key);
    await Promise.race([done, unknown]);
    const later = { path: trigger, json: { of: 'a', n: 'later' }, key: unique('key') };
    expect((await again(later)).status).toBe(202);
    await unknown;
    expect((await again(asked)).status).toBe(202);
    expect(await outputsOf(slug, 1)).toEqual([later.json]);
  }, 90_000);
});
