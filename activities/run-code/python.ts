/**
 * Runs Python: Pyodide in a Deno process that may only read Pyodide's own folder (THREATS.md). Each run has a process
 * of its own, since a script can break the interpreter; one process is always started ahead. Loading Pyodide takes
 * seconds, so the first process creates a memory snapshot, from which all others start.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, devNull } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ActivityError, transientError } from '../runtime/failure.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { findPython, type PythonInstallation } from './find-python.ts';
import { readAnswer } from './python-answer.ts';
import {
  MAX_RESULT_CHARACTERS,
  resultOf,
  type Script,
  type ScriptAnswer,
  type ScriptResult,
  scriptError,
} from './script.ts';

const CHILD = fileURLToPath(new URL('./python-child.mjs', import.meta.url));
const MAX_PROCESSES = Math.min(4, availableParallelism());
const LOADING_MS = 120_000;
/** A process that was started ahead ends after this time without a script. */
const IDLE_MS = 300_000;
/** Enough for the console and a small result as JSON within JSON. */
const MIN_ANSWER_BYTES = 16_000_000;
/** A character takes up to three bytes in UTF-8, and two if JSON within JSON escapes it. */
const BYTES_PER_CHARACTER = 3;
const BYTES_PER_MIB = 1024 * 1024;
/** CPU time, which ends processes that a killed worker left behind. */
const MAX_CPU_SECONDS = 900;
/**
 * Memory of the process in addition to the script's. Python's own limit is exact; this one catches scripts that break
 * out of it.
 */
const PROCESS_OVERHEAD_MIB = 400;
const MEMORY_CHECK_MS = 250;
/** Linux counts memory in pages of this size. */
const PAGE_BYTES = 4_096;

/** Runs a script in a process of its own. @throws ActivityError see runScript */
export async function runPython(script: Script): Promise<ScriptResult> {
  await processSlots.acquire(script.signal);
  try {
    const { signal } = script;
    const python = await abortable(takeWarmProcess(), signal);
    try {
      return resultOf(await python.run(script), script);
    } finally {
      python.end();
      signal.throwIfAborted();
    }
  } finally {
    processSlots.release();
  }
}

const processSlots = new ConcurrencyLimit(MAX_PROCESSES);
let snapshot: Promise<Buffer> | undefined;
let warmProcess: Promise<Python> | undefined;

/** A process that waits for its script. The next one is started immediately. */
async function takeWarmProcess(): Promise<Python> {
  const mine = warmProcess ?? startWarmProcess();
  warmProcess = startWarmProcess();
  try {
    const python = await mine;
    return python.isGone ? await startWarmProcess() : python;
  } catch (error) {
    // The next attempt may succeed.
    warmProcess = undefined;
    snapshot = undefined;
    throw error;
  }
}

function startWarmProcess(): Promise<Python> {
  const begun = startAndLoad();
  // The error reaches the caller that awaits it.
  begun.catch(() => undefined);
  return begun;
}

async function startAndLoad(): Promise<Python> {
  const installation = findPython(import.meta.url);
  snapshot ??= takeSnapshot(installation);
  const memory = await snapshot;
  const python = new Python(spawnDeno(installation, ['run', String(memory.length)]));
  await python.load(memory);
  return python;
}

function spawnDeno({ deno, pyodide }: PythonInstallation, mode: readonly string[]): ChildProcess {
  const flags = [
    ...['run', '--quiet', '--no-prompt', '--no-remote', '--no-npm', '--no-config', '--no-lock', '--no-code-cache'],
    `--allow-read=${pyodide}`,
    '--v8-flags=--max-old-space-size=256,--no-wasm-tier-up',
  ];
  const args = [...flags, CHILD, pyodide, ...mode];
  // Deno has no cache folder here.
  const env = { NO_COLOR: '1', DENO_DIR: join(devNull, 'deno'), DENO_NO_UPDATE_CHECK: '1' };
  const limited = process.platform !== 'win32';
  return spawn(
    limited ? '/bin/sh' : deno,
    limited ? ['-c', `ulimit -c 0 -t ${MAX_CPU_SECONDS}; exec "$0" "$@"`, deno, ...args] : args,
    // Not in the terminal's process group; it ends when its standard input closes.
    { env, cwd: pyodide, stdio: ['pipe', 'pipe', 'ignore'], detached: true },
  );
}

async function takeSnapshot(installation: PythonInstallation): Promise<Buffer> {
  const child = spawnDeno(installation, ['snapshot']);
  child.stdin?.on('error', () => undefined).end();
  const clock = setTimeout(() => child.kill('SIGKILL'), LOADING_MS);
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const code = await new Promise((resolve) => {
    child.once('error', resolve).once('close', resolve);
  });
  clearTimeout(clock);
  if (code === 0) return Buffer.concat(chunks);
  throw loadFailure();
}

const loadFailure = (): ActivityError =>
  transientError('python_unavailable', 'Python could not be started on this worker.');

/** One process, from its start to its end. */
class Python {
  readonly #child: ChildProcess;
  #gone = false;
  #maxBytes = MIN_ANSWER_BYTES;
  #onLine: (line: string | undefined) => void = () => undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stdin?.on('error', () => undefined);
    let text: Buffer[] = [];
    let bytes = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      text.push(chunk);
      if (bytes > this.#maxBytes) this.end();
      if (chunk.at(-1) !== 10) return;
      const line = Buffer.concat(text).toString();
      text = [];
      this.#onLine(line);
    });
    const gone = (): void => {
      this.#gone = true;
      clearTimeout(this.#idle);
      this.#onLine(undefined);
    };
    child.once('error', gone).once('close', gone);
  }

  get isGone(): boolean {
    return this.#gone;
  }

  async load(memory: Buffer): Promise<void> {
    const clock = setTimeout(() => this.end(), LOADING_MS);
    this.#child.stdin?.write(memory);
    const line = await this.#nextLine();
    clearTimeout(clock);
    if (line === undefined) throw loadFailure();
    this.#keepAlive(false);
    this.#idle = setTimeout(() => this.end(), IDLE_MS).unref();
  }

  async run(script: Script): Promise<ScriptAnswer> {
    const { code, input, timeoutMs, memoryMb, signal, resultCharacters = MAX_RESULT_CHARACTERS } = script;
    this.#maxBytes = MIN_ANSWER_BYTES + BYTES_PER_CHARACTER * resultCharacters;
    clearTimeout(this.#idle);
    this.#keepAlive(true);
    let ended = 'script_crashed';
    const end = (why: string) => (): void => {
      ended = why;
      this.end();
    };
    const clock = setTimeout(end('script_timeout'), timeoutMs);
    const watch = setInterval(() => {
      if (this.#residentMebibytes() > PROCESS_OVERHEAD_MIB + memoryMb) end('script_out_of_memory')();
    }, MEMORY_CHECK_MS);
    const abort = end('script_crashed');
    signal.addEventListener('abort', abort);
    const memoryBytes = memoryMb * BYTES_PER_MIB;
    const job = { code, input: JSON.stringify(input), memoryBytes, resultCharacters };
    this.#child.stdin?.write(`${JSON.stringify(job)}\n`);
    const line = await this.#nextLine();
    clearTimeout(clock);
    clearInterval(watch);
    signal.removeEventListener('abort', abort);
    const answer = line === undefined ? undefined : readAnswer(line);
    if (answer === undefined) throw scriptError(ended, '', script);
    return answer;
  }

  end(): void {
    this.#gone = true;
    clearTimeout(this.#idle);
    this.#child.kill('SIGKILL');
  }

  /** The next line of output; undefined when the process has ended. */
  #nextLine(): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#onLine = resolve;
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) resolve(undefined);
    });
  }

  /** An idle process must not keep the worker alive. */
  #keepAlive(isBusy: boolean): void {
    for (const one of [this.#child, this.#child.stdin, this.#child.stdout]) {
      const part = one as { ref?(): void; unref?(): void } | null;
      if (isBusy) part?.ref?.();
      else part?.unref?.();
    }
  }

  /** Resident memory; 0 if it is unknown. */
  #residentMebibytes(): number {
    try {
      const pages = readFileSync(`/proc/${this.#child.pid}/statm`, 'utf8').split(' ')[1];
      return (Number(pages) * PAGE_BYTES) / BYTES_PER_MIB;
    } catch {
      return 0;
    }
  }
}

/** The promise's value, unless the signal is first. */
async function abortable(promise: Promise<Python>, signal: AbortSignal): Promise<Python> {
  signal.throwIfAborted();
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  aborted.catch(() => undefined);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
    // The process will not be used.
    if (signal.aborted)
      promise.then(
        (python) => python.end(),
        () => undefined,
      );
  }
}
