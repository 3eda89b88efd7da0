import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { forkWorker, type TestServer, testServer } from '../../support/temporal.ts';
import { approve, rounds } from './run-definitions.ts';
import { memoOf, startRun, waitsAt } from './run-support.ts';

const executed = promisify(execFile);
/** With a server that was given, the CLI is that of the PATH. */
const temporal = inject('temporalBinary');

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});
afterAll(async () => {
  await server.close();
});

describe('a worker process', () => {
  it('may be killed while a run waits in a loop: the next worker continues it', async () => {
    const first = await forkWorker(server);
    const handle = await startRun(server, rounds, { input: { rounds: ['a', 'b', 'c'] } });
    await waitsAt(handle, 'each~0/ask');
    await handle.signal('approve', { step: 'ask', by: 'ann' });
    const before = await waitsAt(handle, 'each~1/ask');
    const gone = new Promise((resolve) => first.child.once('exit', resolve));
    first.child.kill('SIGKILL');
    await gone;
    // No worker lives: the memo still shows the wait, and the signal waits at the server.
    expect(await memoOf(handle)).toEqual(before);
    await handle.signal('approve', { step: 'each~1/ask', by: 'bob' });
    const second = await forkWorker(server);
    await waitsAt(handle, 'each~2/ask');
    await handle.executeUpdate('approve', { args: [{ by: 'ann' }] as [unknown] });
    expect(await handle.result()).toBe(3);
    await second.end();
  });
});

describe('the temporal CLI', () => {
  it('starts a run from a file, and approves it', async () => {
    const worker = await forkWorker(server);
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-cli-'));
    const file = join(folder, 'input.json');
    writeFileSync(file, JSON.stringify({ definition: approve, input: { amount: 5, customer: 'cli' } }));
    const workflowId = `run.default.approve.cli-${Date.now()}`;
    const cli = (...args: string[]): Promise<unknown> =>
      executed(temporal, [
        ...['--address', inject('temporalAddress'), '--namespace', server.namespace],
        ...['workflow', ...args, '--workflow-id', workflowId],
      ]);
    await cli('start', '--type', 'run', '--task-queue', server.taskQueue, '--input-file', file);
    const handle = server.client.workflow.getHandle(workflowId);
    await waitsAt(handle, 'review');
    await cli('signal', '--name', 'approve', '--input', '{"step":"review","by":"operator"}');
    expect(await handle.result()).toEqual({ paid: 5, by: 'operator' });
    rmSync(folder, { recursive: true, force: true });
    await worker.end();
  });
});
