// Workers as versions of a Worker Deployment: runs continue with the newest version, whichever worker is restarted.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { compiledRoot } from '../../../src/cli/start/project-root.ts';
import { runExecutable } from '../../../src/cli/start/run-executable.ts';
import { examine } from '../../../src/client/doctor/examine.ts';
import { currentVersion } from '../../../src/client/temporal/worker-deployment.ts';
import { hasWorker } from '../../../src/client/temporal/worker-liveness.ts';
import { buildIdOf, dataBytesOf, deploymentOf, historyLimitOf, MARKS } from '../../../src/contract/build-id.ts';
import { dataLimitOf } from '../../../src/definition/document/limits.ts';
import { hashOfBundle } from '../../../workers/bundle.ts';
import { forkWorker, startWorker, type TestServer, type TestWorker, testServer } from '../../support/temporal.ts';
import { approve } from '../runs/run-definitions.ts';
import { startRun, until, waitsAt } from '../runs/run-support.ts';
import { nextBundle, tasksOf } from './version-support.ts';

let server: TestServer;
let next: Awaited<ReturnType<typeof nextBundle>>;
let first: string;
beforeAll(async () => {
  server = await testServer({ SIGNALBOX_WORKER_VERSIONING: '1' });
  next = await nextBundle();
  first = buildIdOf({
    historyLimit: server.config.historyLimit,
    dataBytes: dataLimitOf(server.config.blobs.isOn),
    codeHash: hashOfBundle(join(compiledRoot(), 'workflow-bundle.js')),
  });
});
afterAll(async () => {
  await server.close();
  next.remove();
});

const current = () => currentVersion(server.connection, server.namespace, deploymentOf(server.taskQueue));
/** `temporal worker deployment set-current-version` of this test's deployment. */
async function temporal(version: string): Promise<void> {
  const where = `--address ${inject('temporalAddress')} --namespace ${server.namespace}`;
  const args = `worker deployment set-current-version ${where} --deployment-name ${deploymentOf(server.taskQueue)}`;
  const { ok, output } = await runExecutable(inject('temporalBinary'), [...`${args} ${version} --yes`.split(' ')]);
  if (!ok) throw new Error(output);
}
const input = { amount: 5, customer: 'x' };

describe('workers with versions', { timeout: 120_000 }, () => {
  it('name their settings and their code', () => {
    expect(first).toMatch(new RegExp(`^history-1000-data-\\d+-${MARKS.join('-')}-code-[0-9a-f]{12}$`));
    expect(historyLimitOf(first)).toBe(1_000);
    expect(dataBytesOf(first)).toBe(dataLimitOf(server.config.blobs.isOn));
    expect(deploymentOf('a.queue/of mine')).toBe('signalbox-a-queue-of-mine');
  });

  it('take over the runs that wait, and only new runs take the new path', async () => {
    const before = await forkWorker(server);
    await until(current, (version) => version === first, 30_000);
    await until(() => hasWorker(server), Boolean);
    const waiting = await startRun(server, approve, { input });
    await waitsAt(waiting, 'review');
    await before.end();

    const after: TestWorker = await startWorker(server, { bundle: next.file });
    expect(after.madeCurrent).toBe('set');
    expect(await current()).toBe(after.buildId);
    await waiting.signal('approve', {});
    expect(await waiting.result()).toMatchObject({ paid: 5 });
    const old = await tasksOf(waiting);
    expect([old.buildIds[0], old.buildIds.at(-1)]).toEqual([first, after.buildId]);
    expect(old.isMarked).toBe(false);

    // A worker of the first version comes back, as in the middle of a rolling upgrade: it does not take over.
    const again = await forkWorker(server);
    expect(await current()).toBe(after.buildId);
    const young = await startRun(server, approve, { input });
    await waitsAt(young, 'review');
    await young.signal('approve', {});
    expect(await young.result()).toMatchObject({ paid: 5 });
    const fresh = await tasksOf(young);
    expect(new Set(fresh.buildIds)).toEqual(new Set([after.buildId]));
    expect(fresh.isMarked).toBe(true);

    // The operator goes back, as the manual says.
    await temporal(`--build-id ${first}`);
    expect(await current()).toBe(first);
    const back = await startRun(server, approve, { input });
    await waitsAt(back, 'review');
    expect(new Set((await tasksOf(back)).buildIds)).toEqual(new Set([first]));
    await again.end();
    await after.stop();

    // And to workers without a version, for which the run continues.
    await temporal('--unversioned');
    expect(await current()).toBeUndefined();
    const plain = await startWorker({ ...server, config: { ...server.config, workerVersioning: 'off' } });
    await back.signal('approve', {});
    expect(await back.result()).toMatchObject({ paid: 5 });
    await plain.stop();
    const last = await startWorker(server);
    expect(last.madeCurrent).toBe('set');
    await last.stop();
  });

  it('are missed by the doctor where versions were switched off', async () => {
    const findings = await examine({ ...server.config, workerVersioning: 'off' });
    const found = findings.find(({ check }) => check === 'versions');
    expect(found).toMatchObject({ level: 'blocks' });
    expect(found?.lines?.join(' ')).toContain('--unversioned');
    expect((await examine(server.config)).find(({ check }) => check === 'versions')).toMatchObject({ level: 'ok' });
  });
});
