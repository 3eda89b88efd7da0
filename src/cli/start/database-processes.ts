/**
 * Which Temporal servers use a database file. They are found in the list of processes, so that also a server is found
 * that no file names: one of an earlier version, or one whose `start` was killed before it noted anything. Where there
 * is no such list (Windows), none is found.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The database of the embedded server, in the data folder. */
export const DATABASE_FILE = 'temporal.db';

/** A Temporal server, or the keeper of one. */
type DatabaseProcess = {
  pid: number;
  isKeeper: boolean;
  /** Whether a stack has started it. */
  isOurs: boolean;
};

/** A Temporal server that this process may not end uses the database. */
export class DatabaseInUseError extends Error {
  readonly code = 'database_in_use';
  readonly exitCode = 1;
  constructor(database: string, pid: number) {
    super(
      `A Temporal server (process ${pid}) uses ${database} and belongs to no running stack. Two servers must not ` +
        `write to one database. Stop it first (kill ${pid}), or use another data folder: SIGNALBOX_DATA=…`,
    );
    this.name = 'DatabaseInUseError';
  }
}

const KEEPER_FILE = 'server-keeper.js';
/** Every server of a stack has this argument (temporal-server.ts). */
const OWN_SERVER_ARGUMENT = 'journal_mode=WAL';
const DATABASE_FLAGS = ['--db-filename', '-f'];

/** All servers on the database, and their keepers. */
export function databaseProcesses(database: string, platform = process.platform): DatabaseProcess[] {
  return platform === 'linux' ? usersInProc(realPath(database)) : usersInList(database);
}

/** @throws DatabaseInUseError */
export function demandUnused(database: string): void {
  const [user] = databaseProcesses(database).sort((a, b) => Number(a.isKeeper) - Number(b.isKeeper));
  if (user) throw new DatabaseInUseError(database, user.pid);
}

function usersInProc(database: string): DatabaseProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        const isKeeper = args[1]?.endsWith(KEEPER_FILE) === true;
        const server = isKeeper ? (JSON.parse(args[2] ?? '') as { args: string[] }).args : args;
        const file = databaseIn(server);
        if (file === undefined || realPath(resolve(folderOf(pid), file)) !== database) return [];
        return [{ pid: Number(pid), isKeeper, isOurs: server.includes(OWN_SERVER_ARGUMENT) }];
      } catch {
        // The process has ended.
        return [];
      }
    });
}

/** The database in the arguments of a Temporal server. */
function databaseIn(args: readonly string[]): string | undefined {
  if (!args.includes('start-dev')) return undefined;
  const at = args.findIndex((arg) => DATABASE_FLAGS.includes(arg.split('=', 1)[0] ?? ''));
  const [, value] = /=(.*)/s.exec(args[at] ?? '') ?? [];
  return value ?? args[at + 1];
}

/** The working folder, to which a database that somebody has named is relative. Those of other users are hidden. */
function folderOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '/';
  }
}

/** A path without symbolic links; the file may be missing. */
function realPath(file: string): string {
  try {
    return join(realpathSync(dirname(file)), basename(file));
  } catch {
    return file;
  }
}

function usersInList(database: string): DatabaseProcess[] {
  let list: string;
  try {
    list = execFileSync('ps', ['-axww', '-o', 'pid=,command='], { encoding: 'utf8', maxBuffer: 100_000_000 });
  } catch {
    return [];
  }
  return list.split('\n').flatMap((line) => {
    const [, pid, command = ''] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    const isKeeper = command.includes(KEEPER_FILE) && command.includes(`"--db-filename",${JSON.stringify(database)}`);
    const isServer = DATABASE_FLAGS.some((flag) => new RegExp(` start-dev .*${flag}[ =]`).test(command));
    const isOnDatabase = isKeeper || (isServer && ` ${command} `.includes(`${database} `));
    return isOnDatabase ? [{ pid: Number(pid), isKeeper, isOurs: command.includes(OWN_SERVER_ARGUMENT) }] : [];
  });
}
