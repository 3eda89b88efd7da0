// What the gateway answers while Temporal refuses calls, or is not there; and how soon.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect, type TemporalConnection } from '../../src/client/temporal/connect.ts';
import { readConfig } from '../../src/config/config.ts';
import { startGateway } from '../../src/gateway/serve.ts';
import { FakeFrontend, type GrpcRefusal } from '../support/fake-frontend.ts';

const ADMIN = 'an-admin-key-of-enough-characters';
const RESOURCE_EXHAUSTED = 8;
/** By the number of ResourceExhaustedCause. */
const TOO_MANY = { 1: 'calls', 3: 'for the system', 4: 'for the database' };
const BUSY_WORKFLOW = 5;

/** What a call takes Temporal, by the clock of this process. Longer than what comes of too many is tried. */
const CALL_MS = 3_000;

const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

async function gatewayOver(
  refusal?: GrpcRefusal,
): Promise<{ url: string; frontend: FakeFrontend; away(): Promise<void> }> {
  const frontend = new FakeFrontend(() => {
    if (refusal !== undefined) vi.setSystemTime(Date.now() + CALL_MS);
    return refusal;
  });
  const dataDir = mkdtempSync(join(tmpdir(), 'signalbox-refused-'));
  ended.push(async () => rmSync(dataDir, { recursive: true }));
  let isThere = true;
  const away = async (): Promise<void> => {
    if (isThere) await frontend.close();
    isThere = false;
  };
  ended.push(away);
  const config = readConfig({
    TEMPORAL_ADDRESS: await frontend.listen(),
    SIGNALBOX_DATA: dataDir,
    SIGNALBOX_PORT: '0',
    SIGNALBOX_ADMIN_KEY: ADMIN,
  });
  const temporal: TemporalConnection = await connect(config);
  ended.push(() => temporal.close());
  const gateway = await startGateway(config, { temporal });
  ended.push(() => gateway.close());
  return { url: gateway.url, frontend, away };
}

const REQUESTS: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['GET', '/api/executions'],
  ['GET', '/api/executions/run.default.a.b'],
  ['GET', '/api/executions/run.default.a.b/result?wait=30'],
  ['POST', '/api/executions/run.default.a.b/approve', { approve: true }],
  ['POST', '/api/triggers/manual/run', { workflowId: 'a', clientRequestId: 'b' }],
  ['GET', '/readyz'],
];

async function ask(url: string, [method, path, body]: (typeof REQUESTS)[number]) {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { code } = (await answer.json()) as { code: string };
  return {
    told: `${method} ${path}: ${answer.status} ${code}`,
    retryAfter: Number(answer.headers.get('retry-after')),
  };
}

describe('a gateway whose Temporal refuses calls', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  it.each(Object.entries(TOO_MANY))('because of too many (cause %s, %s): 429, without another try', async (cause) => {
    const refusal = { code: RESOURCE_EXHAUSTED, message: 'rate limit exceeded', cause: Number(cause) };
    const { url, frontend } = await gatewayOver(refusal);
    for (const request of REQUESTS) {
      const { told, retryAfter } = await ask(url, request);
      expect(told).toBe(`${request[0]} ${request[1]}: 429 temporal_busy`);
      expect(retryAfter).toBeGreaterThan(0);
      const calls = frontend.calls.splice(0);
      expect(new Set(calls).size, told).toBe(calls.length);
    }
  });

  it('because one workflow is busy: tries on, as long as a read may take', async () => {
    const { url, frontend } = await gatewayOver({
      code: RESOURCE_EXHAUSTED,
      message: 'Workflow is busy.',
      cause: BUSY_WORKFLOW,
    });
    const { told } = await ask(url, ['GET', '/api/executions/run.default.a.b']);
    expect(told).toContain('503 temporal_unreachable');
    expect(frontend.calls.length).toBeGreaterThan(1);
  });

  it('because it is not there: 503, after a few tries', async () => {
    const { url, away } = await gatewayOver({ code: RESOURCE_EXHAUSTED, message: '', cause: 1 });
    await away();
    for (const request of REQUESTS) {
      const { told, retryAfter } = await ask(url, request);
      expect(told).toBe(`${request[0]} ${request[1]}: 503 temporal_unreachable`);
      expect(retryAfter).toBeGreaterThan(0);
    }
  });
});

describe('a gateway with all slots taken', () => {
  it('refuses further changes, and sends nothing for them', async () => {
    const { url, frontend, away } = await gatewayOver();
    const change = ['POST', '/api/executions/run.default.a.b/approve', { approve: true }] as const;
    const refused: number[] = [];
    const answers: Promise<string | undefined>[] = [];
    let open = 0;
    const send = async () => {
      open++;
      const { told, retryAfter } = await ask(url, change);
      open--;
      if (told.endsWith('503 gateway_busy')) refused.push(retryAfter);
      return told.split(': ')[1];
    };
    // More than there are slots. The others wait for a Temporal that does not answer, and may give up meanwhile.
    for (; refused.length <= 200; await turn()) while (open < 1_100) answers.push(send());
    expect(refused.every((seconds) => seconds > 0)).toBe(true);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    await away();
    const summary = await Promise.all(answers);
    expect(new Set(summary)).toEqual(new Set(['503 gateway_busy', '503 temporal_unreachable']));
    expect(frontend.calls.length).toBeLessThanOrEqual(
      summary.filter((one) => one === '503 temporal_unreachable').length,
    );
    // The requests that waited have released their slots.
    expect((await ask(url, change)).told).toContain('503 temporal_unreachable');
  });
});
