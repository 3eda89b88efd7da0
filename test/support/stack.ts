import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { runningStack, type StackNote } from '#stacks';
import { projectRoot } from '../../src/cli/start/project-root.ts';

// A whole stack as `npm start` runs it, on a data folder of its own, for tests that start, stop and kill one:
//
//   const folder = dataFolder();
//   const stack = await startStack(folder.path);
//   ...
//   await stack.end('SIGTERM');
//   folder.remove();

const READY_MS = 60_000;

/** A folder that becomes a stack's SIGNALBOX_DATA, and everything that runs on it. */
export type DataFolder = { path: string; processes(): number[]; remove(): void };

export function dataFolder(): DataFolder {
  const path = mkdtempSync(join(tmpdir(), 'signalbox-stack-'));
  return {
    path,
    processes: () => processesOf(path),
    remove: () => {
      for (const pid of processesOf(path)) process.kill(pid, 'SIGKILL');
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Processes that inherited this folder as SIGNALBOX_DATA, found in /proc (elsewhere: those that the stack notes). */
function processesOf(path: string): number[] {
  if (!existsSync('/proc/self/environ')) {
    const note = runningStack(path);
    return [note?.pid, note?.worker?.pid, note?.temporal.server?.pid].filter((pid) => pid !== undefined);
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`SIGNALBOX_DATA=${path}\0`);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** A stack that is ready, or has ended before it was. */
export type Stack = {
  child: ChildProcess;
  /** Everything that it printed so far. */
  output(): string;
  note: StackNote;
  client: Client;
  /** Sends the signal and resolves with the exit code of the process. */
  end(signal: NodeJS.Signals): Promise<number | null>;
};

/** Runs `node deploy/start.mjs` and resolves once it says that it is ready. */
export async function startStack(dataDir: string, extra: NodeJS.ProcessEnv = {}): Promise<Stack> {
  const { child, output, end } = spawnStart(dataDir, extra);
  const deadline = Date.now() + READY_MS;
  while (!output().includes('Ready after')) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`The stack did not start:\n${output()}`);
    }
    await sleep(50);
  }
  const note = runningStack(dataDir);
  if (!note) throw new Error(`The stack left no note in ${dataDir}.`);
  const connection = await Connection.connect({ address: note.temporal.address });
  return {
    child,
    output,
    note,
    client: new Client({ connection, namespace: note.temporal.namespace }),
    end: async (signal) => {
      await connection.close();
      return end(signal);
    },
  };
}

/** Runs `node deploy/start.mjs` to its end, for starts that must fail. */
export async function startToEnd(
  dataDir: string,
  extra: NodeJS.ProcessEnv = {},
  args: readonly string[] = [],
): Promise<{ code: number | null; output: string }> {
  const { child, output, ended } = spawnStart(dataDir, extra, args);
  await ended;
  return { code: child.exitCode, output: output() };
}

type Part = Pick<Stack, 'child' | 'output' | 'end'>;

/** Runs `start --only PART`; does not wait until it is ready. */
export const startPartOnly = (part: 'gateway' | 'worker', dataDir: string, extra: NodeJS.ProcessEnv = {}): Part =>
  spawnStart(dataDir, extra, ['--only', part]);

export const startWorkerOnly = (dataDir: string, extra: NodeJS.ProcessEnv = {}): Part =>
  startPartOnly('worker', dataDir, extra);

function spawnStart(dataDir: string, extra: NodeJS.ProcessEnv, args: readonly string[] = []) {
  const env: NodeJS.ProcessEnv = { ...process.env, SIGNALBOX_DATA: dataDir, SIGNALBOX_PORT: '0', ...extra };
  if (extra['TEMPORAL_ADDRESS'] === undefined) delete env['TEMPORAL_ADDRESS'];
  if (extra['TEMPORAL_NAMESPACE'] === undefined) delete env['TEMPORAL_NAMESPACE'];
  const child = spawn(process.execPath, [join(projectRoot(), 'deploy/start.mjs'), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const keep = (chunk: Buffer): void => {
    text += chunk.toString('utf8');
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const end = (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return ended;
  };
  return { child, output: () => text, ended, end };
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until a condition holds. */
export async function until(what: string, withinMs: number, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${what}`);
    await sleep(50);
  }
}

const HELLO = {
  name: 'Hello',
  slug: 'hello',
  steps: { hello: { stepType: 'finish', config: { output: 'hello' } } },
};

/** Runs a definition to its end, by hand. */
export const runHello = async (stack: Stack, workflowId: string): Promise<void> => {
  const handle = await stack.client.workflow.start('run', {
    taskQueue: 'signalbox',
    workflowId,
    args: [{ definition: HELLO }],
  });
  await handle.result();
};

export const statusOf = async (stack: Stack, workflowId: string): Promise<string> =>
  (await stack.client.workflow.getHandle(workflowId).describe()).status.name;
