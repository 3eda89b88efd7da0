import { fork } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type * as Lock from '#lock';

/** What others do before and after the next read of the lock. */
const others = vi.hoisted((): { path?: string; release?: () => void; take?: () => void } => ({}));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const readFileSync = (...args: Parameters<typeof fs.readFileSync>) => {
    if (args[0] !== others.path) return fs.readFileSync(...args);
    const { release, take } = others;
    delete others.path;
    try {
      release?.();
      return fs.readFileSync(...args);
    } finally {
      take?.();
    }
  };
  return { ...fs, readFileSync };
});

// Loaded anew: another file of this process may have loaded it before, with the true file system.
const { tryLock } = (await import(`${new URL('../../deploy/lock.mjs', import.meta.url).href}?mocked`)) as typeof Lock;

describe('a lock file', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-lock-'));
    path = join(folder, 'a.lock');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const write = (holder: object) => writeFileSync(path, JSON.stringify(holder));

  test('is refused while its holder lives, naming it', () => {
    const { release } = tryLock(path);
    expect(tryLock(path).holder).toMatchObject({ pid: process.pid, host: hostname() });
    release?.();
    expect(existsSync(path)).toBe(false);
  });

  test('of a process that has ended is broken', () => {
    write({ pid: 2 ** 22 - 1, host: hostname(), started: '1' });
    expect(tryLock(path).release).toBeTypeOf('function');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid });
  });

  test('of a process whose id now belongs to another one is broken', () => {
    write({ pid: process.pid, host: hostname(), started: 'long ago' });
    expect(tryLock(path).release).toBeTypeOf('function');
  });

  test('of another machine holds while it is touched', () => {
    write({ pid: 1, host: 'elsewhere', started: '1' });
    expect(tryLock(path).holder).toMatchObject({ host: 'elsewhere' });
    const aMinuteAgo = new Date(Date.now() - 60_000);
    utimesSync(path, aMinuteAgo, aMinuteAgo);
    expect(tryLock(path).release).toBeTypeOf('function');
  });

  test('that holds no record is broken', () => {
    writeFileSync(path, '');
    expect(tryLock(path).release).toBeTypeOf('function');
  });

  test('that is removed when it is read, and then taken by another, is left to that one', () => {
    const living = { pid: process.ppid, host: hostname() };
    write(living);
    Object.assign(others, { path, release: () => rmSync(path), take: () => write(living) });
    expect(tryLock(path)).toMatchObject({ holder: living });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(living);
  });

  test('is held by one of many processes at a time, even when they are killed holding it', async () => {
    const program = join(folder, 'contender.mjs');
    writeFileSync(
      program,
      `import { withLock } from ${JSON.stringify(new URL('../../deploy/lock.mjs', import.meta.url).href)};
       import { appendFileSync } from 'node:fs';
       await withLock(${JSON.stringify(path)}, () => {}, async () => {
         appendFileSync(${JSON.stringify(join(folder, 'log'))}, 'in\\n');
         await new Promise((resolve) => setTimeout(resolve, 30));
         appendFileSync(${JSON.stringify(join(folder, 'log'))}, 'out\\n');
         if (process.argv[2] === 'die') process.kill(process.pid, 'SIGKILL');
       });`,
    );
    const ends = Array.from({ length: 6 }, (_, index) => {
      const child = fork(program, [index % 2 === 0 ? 'die' : 'live']);
      return new Promise((resolve) => child.once('exit', resolve));
    });
    await Promise.all(ends);
    expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('in\nout\n'.repeat(6));
  });
});
