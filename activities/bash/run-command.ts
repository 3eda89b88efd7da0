/** A command with a limit of time and of output; whatever it started ends with it. */

import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { defined } from '../../src/json/defined.ts';
import { WATCH_MS } from './limits.ts';

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly cwd?: string;
  /** What the program reads from descriptor 3. */
  readonly pipe?: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Asked for the program's id, now and again: what it must be ended for. */
  readonly watch?: (pid: number) => string | undefined;
  /** Of each of its outputs, so many characters are kept. */
  readonly mostCharacters: number;
}

export interface CommandResult {
  /** 128 and the signal's number, where a signal ended it. */
  readonly exitCode: number;
  readonly isLate: boolean;
  /** What `watch` said. */
  readonly breach?: string;
  readonly stdout: CommandOutput;
  readonly stderr: CommandOutput;
}
export interface CommandOutput {
  readonly text: string;
  readonly isCut: boolean;
}

/** After the command has ended, its output may take so long to come. */
const LAST_OUTPUT_MS = 500;

/** Rejects where the program cannot be started, and with the signal's reason. */
export async function runCommand(command: Command): Promise<CommandResult> {
  const { program, args, env, cwd, pipe, timeoutMs, signal, watch, mostCharacters } = command;
  signal.throwIfAborted();
  const child = spawn(program, args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe', ...(pipe === undefined ? [] : ['pipe' as const])],
    // A group of its own, to be ended as one.
    detached: true,
    ...defined({ cwd }),
  });
  const stdout = collect(child.stdio[1] as Readable, mostCharacters);
  const stderr = collect(child.stdio[2] as Readable, mostCharacters);
  if (pipe !== undefined) (child.stdio[3] as Writable).on('error', () => undefined).end(pipe);
  let isLate = false;
  const end = (): void => endGroup(child);
  const clock = setTimeout(() => {
    isLate = true;
    end();
  }, timeoutMs);
  signal.addEventListener('abort', end);
  let breach: string | undefined;
  const watching =
    watch === undefined
      ? undefined
      : setInterval(() => {
          breach ??= child.pid === undefined ? undefined : watch(child.pid);
          if (breach !== undefined) end();
        }, WATCH_MS);
  try {
    const exitCode = await ended(child);
    signal.throwIfAborted();
    return { exitCode, isLate, stdout: stdout(), stderr: stderr(), ...defined({ breach }) };
  } finally {
    clearTimeout(clock);
    clearInterval(watching);
    signal.removeEventListener('abort', end);
  }
}

/**
 * Its exit code, when all of its output has come. What it left behind holds the output open, and is ended with it; what has
 * left its group (`setsid`) cannot be, and is not waited for.
 */
function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    let clock: NodeJS.Timeout | undefined;
    child.once('exit', () => {
      endGroup(child);
      // Once more round the loop: what has come by then is read first.
      clock = setTimeout(() => setImmediate(() => leave(child)), LAST_OUTPUT_MS);
    });
    child.once('close', (code, signal) => {
      clearTimeout(clock);
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

function leave(child: ChildProcess): void {
  for (const stream of child.stdio) stream?.destroy();
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

/** Reads on to the end, so that the command is not held up, and keeps the beginning. */
function collect(stream: Readable, most: number): () => CommandOutput {
  const decoder = new StringDecoder('utf8');
  let text = '';
  let isCut = false;
  stream.on('data', (chunk: Buffer) => {
    if (isCut) return;
    text += decoder.write(chunk);
    isCut = text.length > most;
  });
  stream.on('error', () => undefined);
  return () => ({ text: isCut ? text.slice(0, most) : text + decoder.end(), isCut });
}
