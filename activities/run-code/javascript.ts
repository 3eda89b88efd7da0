/**
 * Runs JavaScript and TypeScript in a pool of warm child processes, one script at a time in each. A child runs the
 * script inside QuickJS (javascript-child.mjs). A child that gets stuck is killed.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import {
  MAX_RESULT_CHARACTERS,
  resultOf,
  type Script,
  type ScriptAnswer,
  type ScriptResult,
  scriptError,
} from './script.ts';

const CHILD = fileURLToPath(new URL('./javascript-child.mjs', import.meta.url));
const MAX_CHILDREN = Math.min(8, Math.max(2, availableParallelism()));
/** A child is replaced after this many scripts. */
const MAX_SCRIPTS_PER_CHILD = 1_000;
/** The child interrupts a late script itself; if it cannot, it is killed after this additional time. */
const GRACE_MS = 500;
/** Stripping types does not count for the script's timeout. */
const STRIP_MS = 3_000;
const BYTES_PER_MIB = 1024 * 1024;
/**
 * The stack (KiB) is much larger than QuickJS allows, so that recursion in the guest overflows there and not here.
 */
const FLAGS = ['--stack-size=3900', '--max-old-space-size=256'];

/** One warm process. */
class Child {
  scripts = 0;
  readonly #process: ChildProcess;
  readonly #ready: Promise<void>;
  #isGone = false;

  constructor() {
    this.#process = fork(CHILD, [], {
      env: {},
      execArgv: FLAGS,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // Not in the terminal's process group; it ends when its channel closes.
      detached: true,
    });
    this.#ready = new Promise((resolve, reject) => {
      this.#process.once('message', () => resolve());
      this.#process.once('error', reject);
      this.#process.once('exit', () => {
        this.#isGone = true;
        reject(new Error('The process ended at its start.'));
      });
    });
    // The error reaches the caller of run().
    this.#ready.catch(() => undefined);
  }

  get isGone(): boolean {
    return this.#isGone || this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  async run(script: Script): Promise<ScriptResult> {
    this.scripts++;
    const { signal, timeoutMs, memoryMb, language, code } = script;
    this.#keepAlive(true);
    try {
      await this.#ready.catch(() => {
        throw scriptError('script_crashed', '', script);
      });
      const isTypeScript = language === 'typescript';
      const input = JSON.stringify(script.input);
      const { resultCharacters = MAX_RESULT_CHARACTERS } = script;
      const memoryBytes = memoryMb * BYTES_PER_MIB;
      const job = { code, isTypeScript, input, timeoutMs, memoryBytes, resultCharacters };
      const limitMs = timeoutMs + GRACE_MS + (isTypeScript ? STRIP_MS : 0);
      const answer = await this.#ask(job, limitMs, signal);
      signal.throwIfAborted();
      if (typeof answer === 'string') throw scriptError(answer, '', script);
      if (answer.isSpent === true) this.end();
      return resultOf(answer, script);
    } finally {
      this.#keepAlive(false);
    }
  }

  end(): void {
    this.#isGone = true;
    this.#process.kill('SIGKILL');
  }

  /** The answer, or the error code if the process ended or was late. */
  #ask(job: object, limitMs: number, signal: AbortSignal): Promise<ScriptAnswer | string> {
    return new Promise((resolve) => {
      const settle = (answer: ScriptAnswer | string): void => {
        clearTimeout(clock);
        signal.removeEventListener('abort', exited);
        this.#process.off('message', answered).off('exit', exited);
        if (typeof answer === 'string') this.end();
        resolve(answer);
      };
      const answered = (message: unknown): void => settle(message as ScriptAnswer);
      const exited = (): void => settle('script_crashed');
      const clock = setTimeout(() => settle('script_timeout'), limitMs);
      this.#process.once('message', answered).once('exit', exited);
      // A cancelled script is ended together with its child.
      signal.addEventListener('abort', exited);
      if (signal.aborted) exited();
      else this.#process.send(job, (error) => error && exited());
    });
  }

  /** An idle child must not keep the worker alive. */
  #keepAlive(isBusy: boolean): void {
    const channel = this.#process.channel;
    if (isBusy) {
      this.#process.ref();
      channel?.ref();
    } else {
      this.#process.unref();
      channel?.unref();
    }
  }
}

const idle: Child[] = [];
const childSlots = new ConcurrencyLimit(MAX_CHILDREN);

/**
 * Runs a script in the next free child, where its timeout begins.
 * @throws ActivityError see runScript
 */
export async function runJavaScript(script: Script): Promise<ScriptResult> {
  await childSlots.acquire(script.signal);
  let child = idle.pop();
  while (child?.isGone === true) child = idle.pop();
  child ??= new Child();
  try {
    return await child.run(script);
  } finally {
    if (child.scripts >= MAX_SCRIPTS_PER_CHILD) child.end();
    if (!child.isGone) idle.push(child);
    childSlots.release();
  }
}
