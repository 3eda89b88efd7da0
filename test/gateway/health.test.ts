import { expect, it } from 'vitest';
import { late, lonelyGateway, NO_KEYS } from './gateway-support.ts';

it('is not ready while Temporal answers, and its database does not', async () => {
  const gateway = await lonelyGateway({}, NO_KEYS, {
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
