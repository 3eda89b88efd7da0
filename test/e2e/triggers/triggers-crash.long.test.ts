import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ForkedWorker, forkWorker } from '../../support/temporal.ts';
import { echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway();
let worker: ForkedWorker;
beforeAll(async () => {
  await gateway.stopWorker();
  worker = await forkWorker(gateway.server);
});
afterAll(async () => {
  await worker.end();
});

type Run = { id: string; status: string };

it('a schedule starts one run for each of its times though its worker dies', async () => {
  const slug = unique('tick');
  const triggers = [{ name: 'tick', type: 'schedule', config: { cron: '0 0 1 * *', overlap: 'allow_all' } }];
  const json = echoDefinition(slug, { triggers });
  expect((await gateway.request('PUT', `/api/workflows/${slug}`, { json })).status).toBe(201);
  const span = { start: '2024-12-31T12:00:00Z', end: '2025-08-01T12:00:00Z' };
  const filled = await gateway.request('POST', `/api/triggers/${slug}.tick/backfill`, { json: span });
  expect(filled, JSON.stringify(filled.body)).toMatchObject({ status: 202, body: { times: 8 } });
  const runs = `/api/workflows/${slug}/executions`;
  await gateway.until(runs, ({ body }) => body.items.length > 0, 20);
  worker.child.kill('SIGKILL');
  await new Promise((resolve) => worker.child.once('exit', resolve));
  worker = await forkWorker(gateway.server);
  // What the dead worker was about to do is done when its time is over.
  const isDone = (items: Run[]) => items.length >= 8 && items.every(({ status }) => status === 'completed');
  const { body } = await gateway.until(runs, (answer) => isDone(answer.body.items), 80);
  const ticks = (body.items as Run[]).map(({ id }) => id.slice(-16)).sort();
  expect(ticks).toEqual(Array.from({ length: 8 }, (_, month) => `20250${month + 1}01T000000Z`));
  expect((await gateway.request('DELETE', `/api/workflows/${slug}`)).status).toBe(204);
}, 120_000);
