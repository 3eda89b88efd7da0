import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { putDefinition } from '../../../src/client/definitions/definitions.ts';
import { putSecret } from '../../../src/client/organization/secrets.ts';
import { definitionHash } from '../../../src/definition/document/canonical.ts';
import type { Definition } from '../../../src/definition/document/types.ts';
import type { Json } from '../../../src/json/json.ts';
import type { TestServer as HttpServer } from '../../activities/server.ts';
import type { TestServer } from '../../support/temporal.ts';
import { writeAccess } from '../../support/temporal.ts';
import { startHttpPeer } from '../runs/http-peer-support.ts';
import { startRun, waitsAt } from '../runs/run-support.ts';

const CANARY = 'canary/7f3a "quoted" ü';
const SECRET_NAME = 'payments/live';
let server: TestServer;
let close: () => Promise<void>;
let other: HttpServer;
let failures = 0;
let closedEarly: Promise<void>;

beforeAll(async () => {
  let closed: () => void;
  closedEarly = new Promise((resolve) => {
    closed = resolve;
  });
  ({ server, other, close } = await startHttpPeer((seen, response) => {
    response.setHeader('content-type', 'application/json');
    if (seen.url === '/flaky' && failures-- > 0) response.writeHead(503, { 'retry-after': '1' }).end('{}');
    else if (seen.url === '/slow') response.once('close', closed);
    else response.end(JSON.stringify({ url: seen.url, told: seen.headers['x-key'], body: seen.body }));
  }));
});
afterAll(() => close());

const one = (config: { [member: string]: Json }, more: object = {}): Definition => ({
  name: 'Call',
  slug: 'call',
  config: { secrets: { KEY: SECRET_NAME } },
  steps: { call: { stepType: 'http', config, ...more } },
});

/** The history as text, with what its payloads hold. */
async function historyText(handle: WorkflowHandle): Promise<string> {
  const text = JSON.stringify((await handle.fetchHistory()).events);
  const payloads = [...text.matchAll(/"data":"([^"]+)"/g)].map(([, data]) => Buffer.from(data!, 'base64').toString());
  return `${text} ${payloads.join(' ')}`;
}

describe('a run that calls another side', () => {
  it('uses a stored secret, which occurs nowhere in history, even when the other side reveals it', async () => {
    const held = writeAccess(server);
    await putSecret(held, 'default', SECRET_NAME, {
      value: CANARY,
      allowedHosts: ['127.0.0.1'],
      allowedWorkflows: ['call'],
    });
    const definition = one({
      url: other.url,
      query: { k: '{{ secrets.KEY }}' },
      body: { token: 'Bearer {{ secrets.KEY }}' },
    });
    // A secret that is bound to a workflow is for the versions of its history.
    const hash = definitionHash(definition);
    await putDefinition(held, 'default', { definition, hash, source: 'update' });
    const handle = await startRun(server, definition, { hash });
    const result = (await handle.result()) as { url: string; body: string };
    expect(JSON.parse(other.seen.at(-1)!.body)).toEqual({ token: `Bearer ${CANARY}` });
    expect(result).toMatchObject({ url: '/?k=[secret]', body: '{"token":"Bearer [secret]"}' });
    const history = await historyText(handle);
    expect(history).toContain('Bearer [secret]');
    expect(history).toContain(SECRET_NAME);
    for (const shape of ['canary', Buffer.from('canary/7f3a').toString('base64').slice(0, 12)])
      expect(history).not.toContain(shape);
  });

  it('fails typed where the secret is bound to another host', async () => {
    const held = writeAccess(server);
    await putSecret(held, 'default', 'elsewhere', { value: CANARY, allowedHosts: ['api.example.com'] });
    const before = other.seen.length;
    const handle = await startRun(
      server,
      one({ url: other.url, auth: { type: 'bearer', token: '{{ secrets.elsewhere }}' } }),
    );
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'secret_not_allowed' } });
    expect(other.seen).toHaveLength(before);
  });

  it('tries again with the same idempotency key, when the other side says', async () => {
    failures = 2;
    const before = other.seen.length;
    const began = Date.now();
    const handle = await startRun(server, one({ url: `${other.url}/flaky` }, { retry: { initialInterval: '10ms' } }));
    expect(await handle.result()).toMatchObject({ url: '/flaky' });
    expect(Date.now() - began).toBeGreaterThanOrEqual(2_000);
    const keys = other.seen.slice(before).map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual(Array(3).fill(`${handle.workflowId}/call`));
  });

  it('does not reach Temporal itself', async () => {
    const handle = await startRun(server, one({ url: `http://${server.config.temporal.address}/` }));
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'address_not_allowed' } });
  });

  it('lets go of a request when it is cancelled', async () => {
    const handle = await startRun(server, one({ url: `${other.url}/slow`, timeout: '5m' }));
    await expect.poll(() => other.seen.at(-1)?.url).toBe('/slow');
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    await closedEarly;
  });

  it('is cancelled by a rejection, where the approval says so', async () => {
    const handle = await startRun(server, {
      name: 'Deny',
      slug: 'deny',
      steps: { ask: { stepType: 'approval', config: { message: 'Really?', onReject: 'cancel' } } },
    });
    await waitsAt(handle, 'ask');
    await handle.signal('reject', {});
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect((await handle.describe()).status.name).toBe('CANCELLED');
  });
});
