// The image of deploy/Dockerfile as a folder: its steps are run as they stand, from what .dockerignore lets in, and
// then gateway and worker run from what the image holds. Root runs them as the user of the image, which may not write
// there. Only the system packages and the read-only root are not played.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectRoot } from '../../src/cli/start/project-root.ts';
import { environmentOf, listOf, type Played, play } from '../deploy/dockerfile.ts';
import { filesOf } from '../support/file-stats.ts';
import { until } from '../support/stack.ts';
import { type TestServer, testServer } from '../support/temporal.ts';

const MANY_MINUTES = 900_000;
const KEY = 'an-admin-key-for-the-image-0123456789';

type Running = { child: ChildProcess; output(): string; ended: Promise<number | null> };

describe('the image', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-image-'));
  let image: Played;
  let app: string;
  let server: TestServer;
  let before: Map<string, string>;
  /** The user of the image, where this process may become it. */
  let user: { uid: number; gid: number } | undefined;

  beforeAll(async () => {
    server = await testServer();
    image = await play(projectRoot(), folder);
    app = join(image.root, 'app');
    before = filesOf(app);
    // mkdtemp makes a folder for its owner only.
    chmodSync(folder, 0o711);
    const [uid = 0, gid = 0] = (image.stage.steps.findLast(({ word }) => word === 'USER')?.rest ?? '')
      .split(':')
      .map(Number);
    if (process.getuid?.() === 0) user = { uid, gid };
  }, MANY_MINUTES);
  afterAll(async () => {
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a command in the image, without tini. Its volumes are folders here, and its host is this machine. */
  function inImage(args: readonly string[], extra: NodeJS.ProcessEnv = {}): Running {
    const [data, blobs] = [join(folder, 'data'), join(folder, 'blobs')];
    for (const volume of [data, blobs]) {
      mkdirSync(volume, { recursive: true, mode: 0o700 });
      if (user !== undefined) chownSync(volume, user.uid, user.gid);
    }
    const env: NodeJS.ProcessEnv = {
      PATH: process.env['PATH'],
      ...environmentOf(image.stage),
      SIGNALBOX_HOST: '127.0.0.1',
      SIGNALBOX_WORKER_HOST: '127.0.0.1',
      SIGNALBOX_DATA: data,
      SIGNALBOX_BLOBS: blobs,
      // Which is read-only in a container.
      HOME: '/home/node',
      SIGNALBOX_MASTER_KEY: Buffer.alloc(32, 9).toString('base64'),
      ...extra,
    };
    const child = spawn(process.execPath, [...args], { cwd: app, env, stdio: ['ignore', 'pipe', 'pipe'], ...user });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (part: Buffer) => {
        output += part.toString();
      });
    const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
    return { child, output: () => output, ended };
  }

  /** What ENTRYPOINT starts, with these arguments. */
  function start(args: readonly string[], extra: NodeJS.ProcessEnv = {}): Running {
    const [tini, dashes, node, program = '', ...rest] = listOf(image.stage, 'ENTRYPOINT');
    expect([tini, dashes, node, rest]).toEqual(['/usr/bin/tini', '--', 'node', []]);
    return inImage([join(image.root, program), ...args], extra);
  }

  test('holds the program, no sources and no development packages', async () => {
    expect(image.notPlayed).toEqual([expect.stringContaining('apt-get install')]);
    expect(readdirSync(app).sort()).toEqual(['deploy', 'dist', 'node_modules', 'package.json']);
    const { version, devDependencies, dependencies } = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8'));
    const packages = new Set(readdirSync(join(app, 'node_modules')));
    expect(Object.keys(dependencies).filter((name) => !packages.has(name.split('/')[0]!))).toEqual([]);
    expect(['vitest', 'playwright-core', 'kubernetes-models'].filter((name) => packages.has(name))).toEqual([]);
    expect(Object.keys(devDependencies)).toContain('vitest');
    const releases = readdirSync(join(app, 'node_modules/@temporalio/core-bridge/releases'));
    expect(releases).toHaveLength(1);
    const asked = start(['--version']);
    expect(await asked.ended).toBe(0);
    expect(asked.output().trim()).toBe(version);
    console.log(`[image] ${[...before.values()].reduce((sum, entry) => sum + Number(entry.split(' ')[0]), 0)} bytes`);
  });

  test('says that Temporal does not answer, and ends with an error', async () => {
    const alone = start(listOf(image.stage, 'CMD'), { TEMPORAL_ADDRESS: '127.0.0.1:1', SIGNALBOX_ADMIN_KEY: KEY });
    expect(await alone.ended).toBe(1);
    expect(alone.output()).toContain('Temporal does not answer at 127.0.0.1:1');
  });

  test('runs a workflow through gateway and worker, reports health, ends in time, and writes nothing', async () => {
    const [port, workerPort] = [await freePort(), await freePort()];
    const shared = Object.fromEntries(
      Object.entries(server.env).filter(([name]) => /^(TEMPORAL_|SIGNALBOX_TASK_QUEUE)/.test(name)),
    );
    const asGateway = { ...shared, SIGNALBOX_PORT: String(port), SIGNALBOX_ADMIN_KEY: KEY };
    const asWorker = { ...shared, SIGNALBOX_WORKER_PORT: String(workerPort) };
    const gateway = start(listOf(image.stage, 'CMD'), asGateway);
    const worker = start(['start', '--only', 'worker'], asWorker);
    try {
      await until('the gateway listens', 60_000, () => gateway.output().includes('The gateway listens at'));
      await until('the worker polls', 60_000, () => worker.output().includes('The worker polls task queue'));
      for (const env of [asGateway, asWorker])
        for (const args of [[], ['ready']]) {
          const asked = inImage(['deploy/health.mjs', ...args], env);
          expect([await asked.ended, asked.output()]).toEqual([0, expect.stringContaining('200')]);
        }
      const input = JSON.stringify({ people: ['Ann'], seconds: 1 });
      const ran = start(['run', 'deploy/examples/reminders.yaml', '--input', input], {
        SIGNALBOX_URL: `http://127.0.0.1:${port}`,
        SIGNALBOX_API_KEY: KEY,
      });
      expect([await ran.ended, ran.output()]).toEqual([0, expect.stringContaining('completed')]);
    } finally {
      for (const { child } of [worker, gateway]) child.kill('SIGTERM');
      const codes = await Promise.all([worker.ended, gateway.ended]);
      expect([codes, worker.output(), gateway.output()]).toEqual([[0, 0], expect.any(String), expect.any(String)]);
    }
    expect(filesOf(app)).toEqual(before);
  });
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
