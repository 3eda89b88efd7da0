/** Runs a command with limits of time and output, and kills its whole process group at the end. */

import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { LIMIT_CHECK_MS } from './limits.ts';

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly cwd?: string;
  /** Text that the program reads from descriptor 3. */
  readonly pipe?: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called regularly with the process id; returns the limit that the process exceeds. */
  readonly watch?: (pid: number) => string | undefined;
  /** How many characters of each output are kept. */
  readonly maxCharacters: number;
}

export interface CommandResult {
  /** 128 plus the signal's number if a signal ended it. */
  readonly exitCode: number;
  readonly isLate: boolean;
  /** The result of `watch`. */
  readonly breach?: string;
  readonly stdout: CommandOutput;
  readonly stderr: CommandOutput;
}
export interface CommandOutput {
  readonly text: string;
  readonly isCut: boolean;
}

/** How long remaining output is awaited after the command has ended. */
const REMAINING_OUTPUT_MS = 500;

/** Rejects if the program cannot be started, or with the signal's reason. */
export async function runCommand(command: Command): Promise<CommandResult> {
  const { program, args, env, cwd, pipe, timeoutMs, signal, watch, maxCharacters } = command;
  signal.throwIfAborted();
  const child = spawn(program, args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe', ...(pipe === undefined ? [] : ['pipe' as const])],
    // A process group of its own, which can be killed as a whole.
    detached: true,
    ...omitUndefined({ cwd }),
  });
  const stdout = collect(child.stdio[1] as Readable, maxCharacters);
  const stderr = collect(child.stdio[2] as Readable, maxCharacters);
  if (pipe !== undefined) (child.stdio[3] as Writable).on('error', () => undefined).end(pipe);
  let isLate = false;
  const end = (): void => killGroup(child);
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
        }, LIMIT_CHECK_MS);
  try {
    const exitCode = await waitForExit(child);
    signal.throwIfAborted();
    return { exitCode, isLate, stdout: stdout(), stderr: stderr(), ...omitUndefined({ breach }) };
  } finally {
    clearTimeout(clock);
    clearInterval(watching);
    signal.removeEventListener('abort', end);
  }
}

/**
 * Resolves to the exit code when all output has been read. Processes that the command left behind keep its output open
 * and are killed. Those that left the group (`setsid`) cannot be killed and are not awaited.
 */
function waitForExit(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    let clock: NodeJS.Timeout | undefined;
    child.once('exit', () => {
      killGroup(child);
      // setImmediate, so that output that has arrived is read first.
      clock = setTimeout(() => setImmediate(() => closeOutputs(child)), REMAINING_OUTPUT_MS);
    });
    child.once('close', (code, signal) => {
      clearTimeout(clock);
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

function closeOutputs(child: ChildProcess): void {
  for (const stream of child.stdio) stream?.destroy();
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has ended.
  }
}

/** Keeps the beginning of the output, but reads all of it so that the command is not blocked. */
function collect(stream: Readable, maxCharacters: number): () => CommandOutput {
  const decoder = new StringDecoder('utf8');
  let text = '';
  let isCut = false;
  stream.on('data', (chunk: Buffer) => {
    if (isCut) return;
    text += decoder.write(chunk);
    isCut = text.length > maxCharacters;
  });
  stream.on('error', () => undefined);
  return () => ({ text: isCut ? text.slice(0, maxCharacters) : text + decoder.end(), isCut });
}
