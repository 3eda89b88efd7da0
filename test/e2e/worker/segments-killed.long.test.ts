// A worker that dies within a segment: every effect happens at least once, those shortly before its death twice, each
// with one key.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readTrace } from '../../../src/client/runs/trace.ts';
import { type TestServer as HttpServer, serve } from '../../activities/server.ts';
import { forkWorker, type TestServer, testServer } from '../../support/temporal.ts';
import { startRun, until } from '../runs/run-support.ts';
import { oneMoment } from '../runs/trace-moment.ts';

const EFFECTS = 300;
const EFFECT_MS = 6;
/** Heartbeats reach the server every 200 ms, a little later on a busy machine. */
const MOST_REPEATED = Math.ceil(500 / EFFECT_MS);

let server: TestServer;
let other: HttpServer;
beforeAll(async () => {
  other = await serve((_, response) => {
    setTimeout(() => response.end('done'), EFFECT_MS);
  });
  server = await testServer({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
});
afterAll(async () => {
  await server.close();
  await other.close();
});

it('repeats what it did since its last heartbeat, and no more', { timeout: 90_000 }, async () => {
  const first = await forkWorker(server);
  const handle = await startRun(server, {
    name: 'Killed',
    slug: 'killed-in-a-segment',
    steps: {
      each: {
        stepType: 'forEach',
        config: { items: Array.from({ length: EFFECTS }, (_, n) => n), concurrency: 1 },
        nextSteps: { item: 'get' },
      },
      get: { stepType: 'http', config: { url: other.url, as: 'text', idempotent: true } },
    },
  });
  const counts = (): number[] => {
    const seen = new Map<unknown, number>();
    for (const { headers } of other.seen) {
      const key = headers['idempotency-key'];
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }
    return [...seen.values()];
  };
  await until(
    async () => counts().length,
    (count) => count >= 130,
    30_000,
  );
  first.child.kill('SIGKILL');
  const second = await forkWorker(server);
  await handle.result();
  const all = counts();
  expect(all).toHaveLength(EFFECTS);
  expect(Math.max(...all)).toBeLessThanOrEqual(2);
  expect(all.filter((count) => count === 2).length).toBeLessThanOrEqual(MOST_REPEATED);
  const { items } = await readTrace(server, handle.workflowId);
  expect(items.filter(({ stepSlug, status }) => stepSlug === 'get' && status === 'completed')).toHaveLength(EFFECTS);
  const { live, folded } = await oneMoment(server, handle);
  expect(folded).toEqual(live);
  await second.end();
});
