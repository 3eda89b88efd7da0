import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identityOf } from '../../../src/client/temporal/worker-liveness.ts';
import { startGateway } from '../../../src/gateway/serve.ts';
import { forkWorker, type TestServer, testServer } from '../../support/temporal.ts';
import { requestTo } from '../gateway/gateway-support.ts';

let server: TestServer;
let gateway: Awaited<ReturnType<typeof startGateway>>;
const dead = new Set<string>();
beforeAll(async () => {
  server = await testServer();
  gateway = await startGateway(server.config, { temporal: server, deadWorkers: dead });
});
afterAll(async () => {
  await gateway.close();
  await server.close();
});

const hasWorker = async (): Promise<boolean> => (await requestTo(gateway.url, 'GET', '/readyz', {})).body.worker;
const secondsUntil = async (wanted: boolean, within: number): Promise<number> => {
  const begun = Date.now();
  while ((await hasWorker()) !== wanted) {
    if (Date.now() - begun > within * 1000) throw new Error(`worker is not ${wanted} within ${within} s.`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return (Date.now() - begun) / 1000;
};
/** Long enough for a first heartbeat. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 6_000));

describe('/readyz', () => {
  it('says within seconds that the only worker is silent, and lives again', async () => {
    expect(await hasWorker()).toBe(false);
    const worker = await forkWorker(server);
    await secondsUntil(true, 30);
    await settle();
    worker.child.kill('SIGSTOP');
    expect(await hasWorker()).toBe(true);
    await secondsUntil(false, 30);
    worker.child.kill('SIGCONT');
    await secondsUntil(true, 30);
    await worker.end();
    // A worker that ends says so.
    expect(await secondsUntil(false, 30)).toBeLessThan(10);
  });

  it('says at once that a worker has died whose end was seen', async () => {
    const worker = await forkWorker(server);
    await secondsUntil(true, 30);
    const gone = new Promise((resolve) => worker.child.once('exit', resolve));
    worker.child.kill('SIGKILL');
    await gone;
    expect(await hasWorker()).toBe(true);
    dead.add(identityOf(worker.child.pid ?? 0));
    expect(await hasWorker()).toBe(false);
  });
});
