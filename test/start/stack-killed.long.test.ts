// A stack whose processes are killed one by one, or all together, and two stacks in parallel.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runningStack } from '#stacks';
import { projectRoot } from '../../src/cli/start/project-root.ts';
import {
  type DataFolder,
  dataFolder,
  runHello,
  type Stack,
  sleep,
  startStack,
  statusOf,
  until,
} from '../support/stack.ts';

/** The processes of Temporal and of its keeper. */
function serverOf({ note }: Stack): [server: number, keeper: number] {
  const server = note.temporal.server?.pid ?? 0;
  return [server, Number(/PPid:\s*(\d+)/.exec(readFileSync(`/proc/${server}/status`, 'utf8'))?.[1])];
}

describe('a stack whose parts are killed', { timeout: 120_000 }, () => {
  let folder: DataFolder;
  beforeEach(() => {
    folder = dataFolder();
  });
  afterEach(() => folder.remove());

  test('leaves nothing behind when its first process is killed, and starts again at once', async () => {
    const killed = await startStack(folder.path);
    await runHello(killed, 'survives');
    expect(folder.processes().length).toBeGreaterThanOrEqual(4);
    await killed.end('SIGKILL');
    const again = await startStack(folder.path);
    expect(await statusOf(again, 'survives')).toBe('COMPLETED');
    await again.end('SIGKILL');
    await until('nothing is left', 30_000, () => folder.processes().length === 0);
  });

  test('ends when the npm that started it is killed', async () => {
    const npm = spawn('npm', ['start'], {
      cwd: projectRoot(),
      env: { ...process.env, SIGNALBOX_DATA: folder.path, SIGNALBOX_PORT: '0' },
      stdio: 'ignore',
    });
    await until('it runs', 60_000, () => runningStack(folder.path)?.worker !== undefined);
    npm.kill('SIGKILL');
    await until('nothing is left', 30_000, () => folder.processes().length === 0);
  });

  test('ends a server whose keeper was killed with it, or hangs', async () => {
    const killed = await startStack(folder.path);
    const [server, keeper] = serverOf(killed);
    process.kill(keeper, 'SIGKILL');
    await killed.end('SIGKILL');
    expect(folder.processes()).toContain(server);
    const again = await startStack(folder.path);
    expect(folder.processes()).not.toContain(server);
    process.kill(serverOf(again)[1], 'SIGSTOP');
    expect(await again.end('SIGTERM')).toBe(0);
    await until('nothing is left', 30_000, () => folder.processes().length === 0);
  });

  test('starts a worker and a server that die again, at the same address', async () => {
    const stack = await startStack(folder.path);
    const { worker, temporal } = stack.note;
    const hasWorker = async () =>
      (await fetch(`${stack.note.gateway?.url}/readyz`).then((answer) => answer.json() as Promise<{ worker: boolean }>))
        .worker;
    expect(await hasWorker()).toBe(true);
    process.kill(worker?.pid ?? 0, 'SIGKILL');
    await until('its death is seen', 30_000, () => stack.output().includes('The worker ended unexpectedly'));
    expect(await hasWorker()).toBe(false);
    await until('another worker', 30_000, () => stack.output().includes('The worker is ready again'));
    await runHello(stack, 'after-the-worker');
    process.kill(temporal.server?.pid ?? 0, 'SIGKILL');
    await until('another server', 30_000, () => stack.output().includes('The Temporal server is ready again'));
    await until('the run is there', 30_000, async () => {
      return (await statusOf(stack, 'after-the-worker').catch(() => '')) === 'COMPLETED';
    });
    await runHello(stack, 'after-the-server');
    expect(runningStack(folder.path)?.temporal.address).toBe(temporal.address);
    expect(runningStack(folder.path)?.temporal.server?.pid).not.toBe(temporal.server?.pid);
    await stack.end('SIGTERM');
    expect(folder.processes()).toEqual([]);
  });

  test('runs in parallel with another, and ends without touching it', async () => {
    const other = dataFolder();
    const [one, two] = await Promise.all([startStack(folder.path), startStack(other.path)]);
    expect(one.note.temporal.address).not.toBe(two.note.temporal.address);
    await Promise.all([runHello(one, 'mine'), runHello(two, 'mine')]);
    await one.end('SIGTERM');
    await runHello(two, 'still-here');
    await two.end('SIGTERM');
    expect([...folder.processes(), ...other.processes()]).toEqual([]);
    other.remove();
  });

  test('ends when it is asked to while it still starts', async () => {
    const starting = startStack(folder.path).catch(() => undefined);
    await until('something runs', 30_000, () => folder.processes().length >= 2);
    const [first] = folder.processes().sort((a, b) => a - b);
    process.kill(first ?? 0, 'SIGTERM');
    await until('nothing is left', 30_000, () => folder.processes().length === 0);
    await starting;
    await sleep(200);
    expect(folder.processes()).toEqual([]);
  });
});
