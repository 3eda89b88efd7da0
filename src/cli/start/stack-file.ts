import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, processStarted } from '#lock';
import { notePort, type ProcessNote, readStackNote, type StackNote } from '#stacks';
import type { Config } from '../../config/config.ts';
import { defined } from '../../json/defined.ts';
import { say } from './say.ts';
import type { Supervised } from './supervise.ts';
import type { OwnServer } from './temporal-server.ts';

const fileIn = (dataDir: string): string => join(dataDir, 'stack.json');

function noteProcess(pid: number): ProcessNote {
  const started = processStarted(pid);
  return { pid, ...defined({ started }) };
}

/** Updates the file while parts start and restart. */
export type StackFile = {
  server(server: OwnServer): void;
  gateway(url: string): void;
  worker(worker: Supervised): void;
  remove(): void;
};

/**
 * Writes `<data>/stack.json` (0600), by which `npm run temporal`, the command line, `start --only` and the next start
 * find this stack (deploy/stacks.mjs).
 */
export function writeStackFile(config: Config, env: NodeJS.ProcessEnv): StackFile {
  const { dataDir, temporal } = config;
  const note: StackNote = {
    ...noteProcess(process.pid),
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
    server: (server) => {
      const pid = server.pid();
      Object.assign(note.temporal, { address: server.address, uiUrl: server.uiUrl, binary: server.binary });
      if (pid !== undefined) note.temporal.server = noteProcess(pid);
      rewrite();
    },
    gateway: (url) => {
      note.gateway = { url };
      forgetPort = notePort(url, dataDir, env);
      rewrite();
    },
    worker: (worker) => {
      const pid = worker.pid();
      if (pid !== undefined) note.worker = noteProcess(pid);
      rewrite();
    },
    remove: () => {
      forgetPort();
      rmSync(fileIn(dataDir), { force: true });
    },
  };
}

const LEFTOVER_MS = 4_000;

/**
 * Kills processes that a killed start left behind: only those that stack.json names by id and start time. They usually
 * end by themselves, so this waits first.
 */
export async function killLeftovers(dataDir: string): Promise<void> {
  const note = readStackNote(dataDir);
  const deadline = Date.now() + LEFTOVER_MS;
  for (const left of [note?.worker, note?.temporal.server]) {
    if (!left) continue;
    while (isAlive(left) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
    if (isAlive(left)) process.kill(left.pid, 'SIGKILL');
  }
  rmSync(fileIn(dataDir), { force: true });
}
