/**
 * A copy of the embedded server's database. SQLite's own online backup needs a program that opens the database beside
 * the server; there is none here that shares its locks on Node 20. So the server stands still for the time of a copy of
 * `temporal.db` and of its write-ahead log. That is what a killed server would leave: SQLite recovers every committed
 * transaction from it. The copy is recovered and checked right away, by SQLite compiled to WebAssembly.
 */
import { constants } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CliError, EXIT } from '../exit.ts';
import { databaseProcesses } from '../start/database-processes.ts';

const WAL_SUFFIX = '-wal';
const MAX_FAULTS = 3;

/**
 * Demands that no Temporal server uses the database, except the one with this process id.
 * @throws CliError
 */
export function demandNoServer(database: string, except?: number): void {
  const other = databaseProcesses(database).find(({ pid, isKeeper }) => !isKeeper && pid !== except);
  if (other !== undefined)
    throw new CliError(
      EXIT.input,
      `A Temporal server (process ${other.pid}) uses ${database} and belongs to no running stack.`,
      [`Stop it first: kill ${other.pid}`],
    );
}

/** Copies database and log. While a server runs on it, call this while the server stands still. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  // A file system that can share blocks copies in no time.
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await copyFile(`${from}${WAL_SUFFIX}`, `${to}${WAL_SUFFIX}`, constants.COPYFILE_FICLONE).catch(
    (error: NodeJS.ErrnoException) => {
      // Without a log all is in the database.
      if (error.code !== 'ENOENT') throw error;
    },
  );
}

/**
 * Moves what the write-ahead log holds into the database, and checks all of it.
 * @throws CliError where the database is damaged.
 */
export async function recoverDatabase(file: string): Promise<void> {
  const { Database } = (await import('node-sqlite3-wasm')).default;
  const faults: string[] = [];
  try {
    const database = new Database(file, { fileMustExist: true });
    try {
      // Its log is read without shared memory, which WebAssembly has not.
      database.all('PRAGMA locking_mode = EXCLUSIVE');
      database.all('PRAGMA journal_mode = DELETE');
      const found = database.all(`PRAGMA integrity_check(${MAX_FAULTS})`);
      faults.push(...found.map((row) => String(Object.values(row)[0])).filter((text) => text !== 'ok'));
      if (database.all("SELECT name FROM sqlite_master WHERE name = 'executions'").length === 0)
        faults.push('it has no table of executions');
    } finally {
      database.close();
    }
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error));
  } finally {
    for (const ending of [WAL_SUFFIX, '-shm', '.lock'])
      await rm(join(dirname(file), `${basename(file)}${ending}`), { recursive: true, force: true });
  }
  if (faults.length > 0) throw new CliError(EXIT.input, 'The database is damaged.', faults);
}
