// Temporal servers that live on without the stack that started them: none runs in parallel with that of another start.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { runningStack } from '#stacks';
import { databaseProcesses } from '../../src/cli/start/database-processes.ts';
import { claimPort } from '../../src/cli/start/ports.ts';
import { compiledRoot, projectRoot } from '../../src/cli/start/project-root.ts';
import { type DataFolder, dataFolder, startStack, startToEnd, until } from '../support/stack.ts';

describe('a Temporal server that outlives its stack', { timeout: 120_000 }, () => {
  let folder: DataFolder;
  let database: string;
  beforeEach(() => {
    folder = dataFolder();
    database = join(folder.path, 'temporal.db');
  });
  afterEach(() => folder.remove());

  const serversOn = (file: string): number[] =>
    databaseProcesses(file).flatMap(({ pid, isKeeper }) => (isKeeper ? [] : [pid]));

  /** Starts a server on the database that no file names. Those of earlier versions have these arguments too. */
  const orphan = async (isOurs: boolean): Promise<number> => {
    const { port, release } = await claimPort('127.0.0.1');
    release();
    const args = ['server', 'start-dev', '--headless', '--port', `${port}`, '--namespace', 'signalbox'];
    const pragma = isOurs ? ['--sqlite-pragma', 'journal_mode=WAL'] : [];
    const child = spawn(inject('temporalBinary'), [...args, '--db-filename', database, ...pragma], {
      detached: true,
      stdio: 'ignore',
      env: { ...process.env, SIGNALBOX_DATA: folder.path },
    });
    await until(
      'it has its database',
      30_000,
      () => existsSync(database) && serversOn(database).includes(child.pid ?? 0),
    );
    return child.pid ?? 0;
  };

  const signalbox = (args: readonly string[]) => {
    const env: NodeJS.ProcessEnv = { ...process.env, SIGNALBOX_DATA: folder.path };
    delete env['TEMPORAL_ADDRESS'];
    const main = join(compiledRoot(), 'src/cli/main.js');
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { env, encoding: 'utf8' });
    return { code: status, output: `${stdout}${stderr}` };
  };

  test('ends when the start is killed at once after it has forked the keeper', async () => {
    const env: NodeJS.ProcessEnv = { ...process.env, SIGNALBOX_DATA: folder.path, SIGNALBOX_PORT: '0' };
    delete env['TEMPORAL_ADDRESS'];
    const child = spawn(process.execPath, [join(projectRoot(), 'deploy/start.mjs')], { env, stdio: 'ignore' });
    const isKeeper = (pid: number): boolean =>
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('server-keeper.js');
    while (!folder.processes().some(isKeeper)) await setImmediate();
    child.kill('SIGKILL');
    await until('nothing is left', 30_000, () => folder.processes().length === 0);
    const again = await startStack(folder.path);
    expect(serversOn(database)).toEqual([again.note.temporal.server?.pid]);
    await again.end('SIGTERM');
    expect(folder.processes()).toEqual([]);
  });

  test('is noted before it answers', async () => {
    const starting = startStack(folder.path);
    const noted = (): number | undefined => {
      const file = join(folder.path, 'stack.json');
      return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).temporal.server?.pid : undefined;
    };
    await until('it is noted', 60_000, () => noted() !== undefined);
    const seen = noted();
    const stack = await starting;
    expect(seen).toBe(stack.note.temporal.server?.pid);
    await stack.end('SIGTERM');
  });

  test('is ended by the next start, also where no file names it', async () => {
    const pid = await orphan(true);
    const stack = await startStack(folder.path);
    expect(stack.output()).toContain(`Ended process ${pid}, which an earlier start left behind.`);
    expect(serversOn(database)).toEqual([stack.note.temporal.server?.pid]);
    await stack.end('SIGTERM');
    expect(folder.processes()).toEqual([]);
  });

  test('is ended before another server takes its place in a running stack', async () => {
    const stack = await startStack(folder.path);
    const pid = await orphan(true);
    const { server } = stack.note.temporal;
    const [keeper] = databaseProcesses(database).filter(({ isKeeper }) => isKeeper);
    process.kill(keeper?.pid ?? 0, 'SIGKILL');
    await until('another server', 30_000, () => stack.output().includes('The Temporal server is ready again'));
    const servers = serversOn(database);
    expect(servers).toEqual([runningStack(folder.path)?.temporal.server?.pid]);
    expect([pid, server?.pid]).not.toContain(servers[0]);
    await stack.end('SIGTERM');
    expect(folder.processes()).toEqual([]);
  });

  test('refuses the start where no stack has started it, and a backup and a restore in parallel with it', async () => {
    const first = await startStack(folder.path);
    await first.end('SIGTERM');
    const file = join(folder.path, 'first.backup');
    expect(signalbox(['backup', file])).toMatchObject({ code: 0 });
    for (const isOurs of [true, false]) {
      const pid = await orphan(isOurs);
      for (const args of [
        ['backup', join(folder.path, 'second.backup')],
        ['restore', file, '--replace'],
      ]) {
        const refused = signalbox(args);
        expect(refused.code, refused.output).toBe(10);
        expect(refused.output).toContain(`A Temporal server (process ${pid}) uses ${database}`);
      }
      if (!isOurs) {
        const refused = await startToEnd(folder.path);
        expect(refused.code, refused.output).toBe(1);
        expect(refused.output).toContain(`A Temporal server (process ${pid}) uses ${database}`);
      }
      expect(serversOn(database)).toEqual([pid]);
      process.kill(pid, 'SIGKILL');
      await until('it has ended', 30_000, () => serversOn(database).length === 0);
    }
    expect(signalbox(['restore', file, '--replace'])).toMatchObject({ code: 0 });
  });
});
