import { expect, it } from 'vitest';
import { gatewayWithoutTemporal, late, NO_KEYS } from './gateway-support.ts';

it('is not ready while Temporal answers, and its database does not', async () => {
  const gateway = await gatewayWithoutTemporal({}, NO_KEYS, {
    listWorkers: async () => ({ workersInfo: [] }),
    describeTaskQueue: async () => ({ pollers: [] }),
    describeWorkflowExecution: () => Promise.reject(late),
  } as never);
  const ready = await fetch(`${gateway.url}/readyz`);
  expect(ready.status, gateway.logged.join('')).toBe(503);
  expect(await ready.json()).toMatchObject({ code: 'temporal_unreachable' });
  expect(Number(ready.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  await gateway.close();
});

it('logs what Temporal answered, and tells callers which part is unavailable', async () => {
  const words = 'no usable database connection found at 10.1.2.3';
  const away = Object.assign(new Error(`14 UNAVAILABLE: ${words}`), {
    code: 14,
    details: words,
    metadata: { get: () => [] },
  });
  const gateway = await gatewayWithoutTemporal({}, NO_KEYS, {
    listWorkers: async () => ({ workersInfo: [] }),
    describeTaskQueue: async () => ({ pollers: [] }),
    describeWorkflowExecution: () => Promise.reject(away),
  } as never);
  const ready = await fetch(`${gateway.url}/readyz`);
  expect(await ready.json()).toMatchObject({
    code: 'temporal_unreachable',
    detail: 'Temporal answers, but its database does not at the moment. Try again shortly.',
  });
  await expect.poll(() => gateway.logged.join('')).toContain('"msg":"request"');
  const lines = gateway.logged.join('').split('\n').filter(Boolean);
  expect(lines.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({
      route: '/readyz',
      status: 503,
      code: 'temporal_unreachable',
      grpc: { code: 14, details: words },
    }),
  );
  await gateway.close();
});
