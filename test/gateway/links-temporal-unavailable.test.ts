// What people who follow a link are shown while Temporal is unavailable.
import { expect, it } from 'vitest';
import { deriveKeys } from '../../src/client/payloads/keys.ts';
import { approvalToken } from '../../src/client/runs/approval-links.ts';
import { callbackToken } from '../../src/client/triggers/callbacks.ts';
import { gatewayWithoutTemporal, late, NO_KEYS } from './gateway-support.ts';

const MASTER = Buffer.alloc(32, 7);
const keys = deriveKeys(MASTER);
const question = { executionId: 'run.default.refund.1', path: 'review' };

it.each([
  ['/approvals', approvalToken(keys.approvals, { ...question, person: 'ann', since: '2026-01-01T00:00:00.000Z' })],
  ['/callbacks', callbackToken(keys.callbacks, { ...question, slug: 'review' })],
])('%s: a page for people, a problem for programs, and a line with the cause', async (at, token) => {
  const gateway = await gatewayWithoutTemporal({ SIGNALBOX_MASTER_KEY: MASTER.toString('base64') }, NO_KEYS, {
    describeWorkflowExecution: () => Promise.reject(late),
  } as never);
  const ask = (method: string, accept: string) =>
    fetch(`${gateway.url}${at}/${token}`, { method, headers: { accept } });
  for (const method of ['GET', 'POST']) {
    const page = await ask(method, 'text/html');
    expect(page.status).toBe(503);
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await page.text()).toContain('Temporal does not answer at the moment. Try again shortly.');
  }
  expect(await (await ask('GET', 'application/json')).json()).toMatchObject({ code: 'temporal_unreachable' });
  await expect
    .poll(() => {
      const lines = gateway.logged.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
      return lines.map(({ status, code, grpc }) => ({ status, code, grpc: grpc?.code }));
    })
    .toEqual(Array(3).fill({ status: 503, code: 'temporal_unreachable', grpc: 4 }));
  await gateway.close();
});
