// bash as steps of runs where there is no bubblewrap: refused, or without a sandbox, yet within its limits.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../../src/cli/start/project-root.ts';
import type { Definition } from '../../../src/definition/document/types.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { type ForkedWorker, forkWorker, type TestServer, testServer } from '../../support/temporal.ts';
import { startRun } from '../runs/run-support.ts';

const folder = mkdtempSync(join(tmpdir(), 'signalbox-bash-e2e-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const shell = (config: JsonObject): Definition => ({
  name: 'Shell',
  slug: 'shell',
  steps: { a: { stepType: 'bash', config } },
});

async function start(mode: string, env: NodeJS.ProcessEnv = {}): Promise<[TestServer, ForkedWorker]> {
  const server = await testServer({ SIGNALBOX_BASH: mode });
  return [server, await forkWorker(server, env)];
}

describe('a worker with SIGNALBOX_BASH=1 and no bubblewrap', () => {
  let server: TestServer;
  let worker: ForkedWorker;
  beforeAll(async () => {
    const empty = join(folder, 'nothing');
    mkdirSync(empty);
    [server, worker] = await start('1', { PATH: empty });
  });
  afterAll(async () => {
    await worker.end();
    await server.close();
  });

  it('runs no command, says what to do, and continues with everything else', async () => {
    const mark = join(folder, 'ran');
    const handle = await startRun(server, shell({ command: `touch ${mark}` }));
    await expect(handle.result()).rejects.toMatchObject({
      cause: {
        type: 'bash_unavailable',
        message: expect.stringMatching(
          /bwrap cannot be started on this worker.*Install the package bubblewrap.*=unsafe/,
        ),
        details: [{ path: 'a', attempts: 1, retryable: false }],
      },
    });
    expect(existsSync(mark)).toBe(false);
    const set: Definition = { name: 'Set', slug: 'set', steps: { a: { stepType: 'finish', config: { output: 1 } } } };
    expect(await (await startRun(server, set)).result()).toBe(1);
  });
});

describe('a worker with SIGNALBOX_BASH=unsafe', () => {
  let server: TestServer;
  let worker: ForkedWorker;
  beforeAll(async () => {
    [server, worker] = await start('unsafe', { SIGNALBOX_TEST_CANARY: 'canary' });
  });
  afterAll(async () => {
    await worker.end();
    await server.close();
  });
  const pidsOf = (file: string): number[] =>
    existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : [];
  const isAlive = (pid: number): boolean =>
    existsSync(`/proc/${pid}`) && !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  /** A shell, a child of it, and a child of that. */
  const family = (file: string): string =>
    `echo $$ >> ${file}; bash -c 'echo $$ >> ${file}; sleep 100 & echo $! >> ${file}; wait' & wait`;
  const gone = async (pids: readonly number[]): Promise<void> => {
    expect(pids).toHaveLength(3);
    for (const pid of pids) await expect.poll(() => isAlive(pid)).toBe(false);
  };

  it('ends all processes of a command that takes too long', async () => {
    const file = join(folder, 'late');
    const handle = await startRun(server, shell({ command: `echo begun; ${family(file)}`, timeoutMs: 1_500 }));
    await expect(handle.result()).rejects.toMatchObject({
      cause: {
        type: 'bash_timeout:1500',
        details: [{ attempts: 1, details: { stdout: 'begun\n', timeoutMs: 1_500 } }],
      },
    });
    await gone(pidsOf(file));
  });

  it('ends all processes of a command whose run is cancelled', async () => {
    const file = join(folder, 'cancelled');
    const handle = await startRun(server, shell({ command: family(file) }));
    await expect.poll(() => pidsOf(file).length).toBe(3);
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    await gone(pidsOf(file));
  });

  it('cuts what is written without end, and marks it', async () => {
    const command = 'head -c 3000000 /dev/zero | tr "\\0" x; head -c 100000 /dev/zero | tr "\\0" y >&2';
    const { stdout, stderr } = (await (await startRun(server, shell({ command }))).result()) as JsonObject;
    expect(stdout).toBe(`${'x'.repeat(64_000)}\n[cut at 64,000 characters]`);
    expect(stderr).toBe(`${'y'.repeat(64_000)}\n[cut at 64,000 characters]`);
    const endless = await startRun(server, shell({ command: 'yes', timeoutMs: 1_000 }));
    await expect(endless.result()).rejects.toMatchObject({
      cause: {
        type: 'bash_timeout:1000',
        details: [{ details: { stdout: expect.stringMatching(/^(y\n){32000}\n\[cut at 64,000 characters\]$/) } }],
      },
    });
  });

  it('shows nothing of the worker’s environment', async () => {
    const { stdout } = (await (await startRun(server, shell({ command: 'env' }))).result()) as { stdout: string };
    expect(stdout).toContain('SIGNALBOX_IDEMPOTENCY_KEY=');
    expect(stdout).not.toMatch(/canary|SIGNALBOX_BASH|TEMPORAL/);
  });
});

const canSandbox = spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true']).status === 0;
describe.runIf(canSandbox)('a worker with SIGNALBOX_BASH=1 and a sandbox', () => {
  it('shows no command the data folder, also where it is in the folder to work in', async () => {
    const server = await testServer({ SIGNALBOX_BASH: '1' });
    const { dataDir } = server.config;
    const within = dirname(dataDir);
    const worker = await forkWorker(server, { SIGNALBOX_BASH_FOLDERS: within });
    try {
      expect(existsSync(join(dataDir, 'master.key'))).toBe(true);
      const command = `cat ${dataDir}/master.key; ls -A ${dataDir} | wc -l; test -e ${projectRoot()} || echo no clone`;
      const handle = await startRun(server, shell({ command, cwd: within }));
      const isShared = !relative(within, projectRoot()).startsWith('..');
      expect(await handle.result()).toMatchObject({ stdout: isShared ? '0\n' : '0\nno clone\n' });
    } finally {
      await worker.end();
      await server.close();
    }
  });
});
