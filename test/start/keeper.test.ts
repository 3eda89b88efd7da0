// The process between `start` and the Temporal server, alone.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { databaseProcesses } from '../../src/cli/start/database-processes.ts';
import { claimPort } from '../../src/cli/start/ports.ts';
import { compiledRoot } from '../../src/cli/start/project-root.ts';
import type { KeeperTask } from '../../src/cli/start/server-keeper.ts';
import { type DataFolder, dataFolder, until } from '../support/stack.ts';

const KEEPER = join(compiledRoot(), 'src/cli/start/server-keeper.js');

describe('the keeper of a Temporal server', { timeout: 60_000 }, () => {
  let folder: DataFolder;
  let task: KeeperTask;
  let database: string;
  beforeEach(async () => {
    folder = dataFolder();
    database = join(folder.path, 'temporal.db');
    const { port, release } = await claimPort('127.0.0.1');
    release();
    task = {
      binary: inject('temporalBinary'),
      args: ['server', 'start-dev', '--headless', '--port', `${port}`, '--db-filename', database],
      host: '127.0.0.1',
      port,
      logFile: join(folder.path, 'temporal.log'),
    };
  });
  afterEach(() => {
    for (const { pid } of databaseProcesses(database)) process.kill(pid, 'SIGKILL');
    folder.remove();
  });

  /** Forks the keeper in a process that then does this. Resolves once that process has ended. */
  const forkedBy = (then: string) => {
    const program = `
      const { fork } = require('node:child_process');
      const keeper = fork(${JSON.stringify(KEEPER)}, [process.argv[1]], {
        detached: true,
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      ${then}`;
    return spawnSync(process.execPath, ['-e', program, JSON.stringify(task)], {
      env: { ...process.env, SIGNALBOX_DATA: folder.path },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  };

  test('starts no server when its parent has died before it listened to it', async () => {
    // The keeper stands still until the channel is closed, as it does on a busy machine.
    const stopped = forkedBy(
      `keeper.kill('SIGSTOP'); console.log(keeper.pid); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 50);`,
    );
    expect(stopped.signal).toBe('SIGKILL');
    process.kill(Number(stopped.stdout), 'SIGCONT');
    await until('nothing is left', 30_000, () => folder.processes().length === 0);
    expect(existsSync(database)).toBe(false);
  });

  test('ends its server when its parent dies once the server runs', async () => {
    const ended = forkedBy(
      `keeper.on('message', ({ pid }) => { console.log(pid); process.kill(process.pid, 'SIGKILL'); });`,
    );
    expect(Number(ended.stdout)).toBeGreaterThan(0);
    await until('nothing is left', 30_000, () => folder.processes().length === 0);
  });

  test('is found with its server by the database, in any spelling of its path', async () => {
    const keeper = spawn(process.execPath, [KEEPER, JSON.stringify(task)], { stdio: 'ignore' });
    await until('both are there', 30_000, () => databaseProcesses(database).length === 2);
    const users = databaseProcesses(join(folder.path, '..', folder.path.split('/').at(-1) ?? '', 'temporal.db'));
    expect(users.find(({ isKeeper }) => isKeeper)?.pid).toBe(keeper.pid);
    const server = users.find(({ isKeeper }) => !isKeeper)?.pid ?? 0;
    expect(readFileSync(`/proc/${server}/cmdline`, 'utf8')).toContain('start-dev');
    // As on systems without /proc.
    expect(
      databaseProcesses(database, 'darwin')
        .map(({ pid }) => pid)
        .sort(),
    ).toEqual([keeper.pid, server].sort());
    expect(databaseProcesses(join(folder.path, 'other.db'))).toEqual([]);
    keeper.kill('SIGTERM');
    await until('both have ended', 30_000, () => databaseProcesses(database).length === 0);
  });
});
