import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ForkedWorker, forkWorker, type TestServer, testServer } from '../../support/temporal.ts';
import { approve } from '../runs/run-definitions.ts';
import { startRun, until, waitsAt } from '../runs/run-support.ts';

let server: TestServer;
let worker: ForkedWorker;
beforeAll(async () => {
  server = await testServer();
  worker = await forkWorker(server);
});
afterAll(async () => {
  await worker.end();
  await server.close();
});

const logged = async (fits: (line: string) => boolean): Promise<string> => {
  const lines = () => readFileSync(join(server.config.dataDir, 'logs', 'worker.log'), 'utf8').split('\n');
  return (await until(
    async () => lines().find(fits),
    (line) => line !== undefined,
  ))!;
};

it('says in its log why a run failed, and which signal was ignored', async () => {
  const handle = await startRun(server, approve, { input: { amount: 1, customer: 'x' } });
  await waitsAt(handle, 'review');
  await handle.signal('approve', { step: 'nowhere' });
  const ignored = JSON.parse(await logged((line) => line.includes('no_such_step'))) as unknown;
  expect(ignored).toMatchObject({ signal: 'approve', code: 'no_such_step', workflowId: handle.workflowId });
  const steps = { no: { stepType: 'fail', config: { code: 'no_stock', message: 'Nothing is left.' } } };
  const failing = await startRun(server, { name: 'Fails', slug: 'fails', steps });
  await failing.result().catch(() => undefined);
  const ofFailing = (word: string) => logged((line) => line.includes(failing.workflowId) && line.includes(word));
  expect(JSON.parse(await ofFailing('"error"'))).toMatchObject({ error: { message: 'Nothing is left.' } });
  expect(JSON.parse(await ofFailing('The run failed.'))).toMatchObject({ code: 'no_stock' });
});
