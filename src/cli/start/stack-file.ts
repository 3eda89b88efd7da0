import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, processStarted } from '#lock';
import { notePort, type ProcessNote, readStackNote, type StackNote } from '#stacks';
import type { Config } from '../../config/config.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { DATABASE_FILE, databaseProcesses } from './database-processes.ts';
import { say } from './say.ts';
import type { Supervised } from './supervise.ts';
import type { OwnServer } from './temporal-server.ts';

const fileIn = (dataDir: string): string => join(dataDir, 'stack.json');

function describeProcess(pid: number): ProcessNote {
  const started = processStarted(pid);
  return { pid, ...omitUndefined({ started }) };
}

/** Updates the file while parts start and restart. */
type StackFile = {
  setServer(server: OwnServer): void;
  setGateway(url: string): void;
  setWorker(worker: Supervised): void;
  remove(): void;
};

/**
 * Writes `<data>/stack.json` (0600), by which `npm run temporal`, the command line, `start --only` and the next start
 * find this stack (deploy/stacks.mjs).
 */
export function writeStackFile(config: Config, env: NodeJS.ProcessEnv): StackFile {
  const { dataDir, temporal } = config;
  const note: StackNote = {
    ...describeProcess(process.pid),
    temporal: { address: temporal.address ?? '', namespace: temporal.namespace },
  };
  const write = (): void => {
    if (note.temporal.address === '') return;
    const draft = `${fileIn(dataDir)}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600 });
    renameSync(draft, fileIn(dataDir));
  };
  write();
  let forgetPort = (): void => undefined;
  /** A full disk must not stop a restarted part; the file is then outdated. */
  const rewrite = (): void => {
    try {
      write();
    } catch (error) {
      say(`${fileIn(dataDir)} cannot be written and is outdated: ${(error as Error).message}`);
    }
  };
  return {
    setServer: (server) => {
      const pid = server.pid();
      Object.assign(note.temporal, { address: server.address, uiUrl: server.ui?.url, binary: server.binary });
      if (pid !== undefined) note.temporal.server = describeProcess(pid);
      rewrite();
    },
    setGateway: (url) => {
      note.gateway = { url };
      forgetPort = notePort(url, dataDir, env);
      rewrite();
    },
    setWorker: (worker) => {
      const pid = worker.pid();
      if (pid !== undefined) note.worker = describeProcess(pid);
      rewrite();
    },
    remove: () => {
      forgetPort();
      rmSync(fileIn(dataDir), { force: true });
    },
  };
}

/** How long processes may end by themselves, as they usually do. */
const LEFTOVER_GRACE_MS = 4_000;
/** How long killed processes are waited for. */
const KILL_WAIT_MS = 2_000;
const LEFTOVER_POLL_MS = 100;

/**
 * Ends what a killed start left behind: the processes that stack.json names by id and start time, and the servers of a
 * stack on the database, with their keepers. The caller holds the lock of the folder.
 */
export async function endLeftovers(dataDir: string): Promise<void> {
  const note = readStackNote(dataDir);
  const noted = [note?.worker, note?.temporal.server].filter((one) => one !== undefined);
  const leftovers = (): Set<number> => {
    const users = databaseProcesses(join(dataDir, DATABASE_FILE)).filter(({ isOurs }) => isOurs);
    return new Set([...noted.filter(isAlive), ...users].map(({ pid }) => pid));
  };
  const killed = new Set<number>();
  const begun = Date.now();
  for (
    let pids = leftovers();
    pids.size > 0 && Date.now() < begun + LEFTOVER_GRACE_MS + KILL_WAIT_MS;
    pids = leftovers()
  ) {
    if (Date.now() >= begun + LEFTOVER_GRACE_MS)
      for (const pid of pids) {
        if (!killed.has(pid)) kill(pid);
        killed.add(pid);
      }
    await new Promise((resolve) => setTimeout(resolve, LEFTOVER_POLL_MS));
  }
  rmSync(fileIn(dataDir), { force: true });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
    say(`Ended process ${pid}, which an earlier start left behind.`);
  } catch {
    // It has ended, or belongs to another user: then the start is refused where two servers would use one database.
  }
}
