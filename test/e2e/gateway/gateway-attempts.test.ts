import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executionLines } from '../../../src/cli/run-text.ts';
import type { Json } from '../../../src/json/json.ts';
import { type TestGateway, testGateway, unique } from './gateway-support.ts';

let gateway: TestGateway;
let other: Server;
let url = '';
const asked = new Map<string, number>();
beforeAll(async () => {
  // Fails as often as the path says, or never answers at all.
  other = createServer((req, res) => {
    const [, name = '', times = '0'] = (req.url ?? '').split('/');
    const n = (asked.get(name) ?? 0) + 1;
    asked.set(name, n);
    if (times === 'silent') return;
    res.statusCode = n <= Number(times) ? 503 : 200;
    res.setHeader('content-type', 'application/json').end(`{"n":${n}}`);
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  gateway = await testGateway({ SIGNALBOX_HTTP_ALLOW: '127.0.0.1/32' });
});
afterAll(async () => {
  await gateway.close();
  other.closeAllConnections();
  other.close();
});

async function start(fails: string, step: { [member: string]: Json }): Promise<string> {
  const steps = {
    call: { stepType: 'http', config: { url: `${url}/${unique('call')}/${fails}` }, local: false, ...step },
  };
  const definition = { name: 'Call', slug: unique('call'), steps };
  return `/api/executions/${await gateway.startInline(definition)}`;
}

const lastError = { code: 'http_status', message: expect.stringContaining('503'), retryable: true };

describe('an effect that is tried again', () => {
  it('is shown with its last error and its next attempt, in the run, in its steps and by the CLI', async () => {
    const path = await start('9', { retry: { maxAttempts: 5, initialInterval: '30s' } });
    const { body } = await gateway.until(path, (answer) => answer.body.retrying !== undefined);
    expect(body).toMatchObject({
      status: 'running',
      retrying: [{ path: 'call', attempt: 2, lastError, nextAttemptAt: expect.stringMatching(/^20.*Z$/) }],
    });
    expect(Date.parse(body.retrying[0].nextAttemptAt)).toBeGreaterThan(Date.now());
    expect(body.waitingFor).toMatchObject([
      {
        kind: 'retry',
        path: 'call',
        stepSlug: 'call',
        attempt: 2,
        maxAttempts: 5,
        until: body.retrying[0].nextAttemptAt,
        message: lastError.message,
      },
    ]);
    const attempts = await gateway.request('GET', `${path}/steps?attempts=true`);
    expect(attempts.body.items).toMatchObject([
      { attempt: 1, status: 'failed', error: lastError, completedAt: body.waitingFor[0].since },
      { attempt: 2, status: 'running', nextAttemptAt: body.retrying[0].nextAttemptAt, maxAttempts: 5 },
    ]);
    expect(Date.parse(attempts.body.items[0].startedAt)).toBeLessThanOrEqual(Date.parse(body.waitingFor[0].since));
    const steps = await gateway.request('GET', `${path}/steps`);
    expect(steps.body.items).toMatchObject([
      { path: 'call', status: 'running', attempts: 2, lastError, nextAttemptAt: body.retrying[0].nextAttemptAt },
    ]);
    const shown = executionLines(body, steps.body.items, false).join('\n');
    expect(shown).toContain(`next attempt ${body.retrying[0].nextAttemptAt}`);
    expect(shown).toContain('http_status');

    const { client, namespace } = gateway.server;
    const execution = { workflowId: body.id };
    await client.workflowService.pauseActivity({ namespace, execution, id: 'call', identity: 'test', reason: 'later' });
    const paused = await gateway.until(path, (answer) => answer.body.retrying?.[0]?.activityPaused === true);
    expect(paused.body.retrying[0]).not.toHaveProperty('nextAttemptAt');
    expect(
      executionLines(paused.body, (await gateway.request('GET', `${path}/steps`)).body.items, false).join('\n'),
    ).toContain('paused');
    await gateway.request('POST', `${path}/terminate`);
  });

  it('returns attempts as rows on request, with the errors that history contains', async () => {
    const path = await start('3', { retry: { maxAttempts: 5, initialInterval: 20, backoffCoefficient: 1 } });
    await gateway.until(`${path}/result?wait=10`, ({ status }) => status === 200);
    const plain = await gateway.request('GET', `${path}/steps`);
    expect(plain.body.items).toMatchObject([{ path: 'call', status: 'completed', attempts: 4, lastError }]);
    expect(plain.body.items[0]).not.toHaveProperty('attempt');
    expect(executionLines((await gateway.request('GET', path)).body, plain.body.items, false).join('\n')).toContain(
      ' after http_status: ',
    );
    const { body: without } = await gateway.request('GET', `${path}/steps?exclude=error`);
    expect(without.items[0]).not.toHaveProperty('lastError');
    const { body } = await gateway.request('GET', `${path}/steps?attempts=true`);
    expect(body.total).toBe(1);
    expect(body.items).toMatchObject([
      { path: 'call', attempt: 1, status: 'failed' },
      { path: 'call', attempt: 2, status: 'failed' },
      { path: 'call', attempt: 3, status: 'failed', error: lastError },
      { path: 'call', attempt: 4, status: 'completed', output: { data: { n: 4 } } },
    ]);
  });

  it('knows of a light effect why its first attempt failed', async () => {
    const path = await start('1', { local: true, retry: { maxAttempts: 3, initialInterval: 20 } });
    await gateway.until(`${path}/result?wait=10`, ({ status }) => status === 200);
    const { body } = await gateway.request('GET', `${path}/steps?attempts=true`);
    expect(body.items).toMatchObject([
      { attempt: 1, status: 'failed', error: lastError },
      { attempt: 2, status: 'completed' },
    ]);
  });

  it('says how often it was tried when its last attempt took too long', async () => {
    const retry = { maxAttempts: 3, initialInterval: 20, backoffCoefficient: 1 };
    const path = await start('silent', { timeout: 150, retry });
    const result = await gateway.until(`${path}/result?wait=10`, ({ status }) => status === 200);
    expect(result.body.error).toMatchObject({ code: 'timeout', path: 'call', attempts: 3, retryable: true });
    const { body: plain } = await gateway.request('GET', `${path}/steps`);
    expect(plain.items[0]).toMatchObject({
      status: 'failed',
      error: { code: 'timeout' },
      lastError: { code: 'timeout' },
    });
    const { body } = await gateway.request('GET', `${path}/steps?attempts=true`);
    expect(
      body.items.map((row: { attempt: number; error?: { code: string } }) => [row.attempt, row.error?.code]),
    ).toEqual([
      [1, undefined],
      [2, 'timeout'],
      [3, 'timeout'],
    ]);
    expect((await gateway.request('GET', `${path}/steps`)).body.uncertain).toBe(false);
  });
});
