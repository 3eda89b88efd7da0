/**
 * Runs JavaScript and TypeScript in child processes that are kept warm: a few, one script at a time each. A child holds
 * the script inside QuickJS (javascript-child.mjs); here is what holds whatever gets stuck in there: it is killed.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ConcurrencyLimit } from './concurrency.ts';
import {
  MOST_RESULT_CHARACTERS,
  resultOf,
  type Script,
  type ScriptAnswer,
  type ScriptResult,
  scriptError,
} from './script.ts';

const CHILD = fileURLToPath(new URL('./javascript-child.mjs', import.meta.url));
const MOST_CHILDREN = Math.min(8, Math.max(2, availableParallelism()));
/** A child that has run so many scripts makes room for a fresh one. */
const MOST_SCRIPTS = 1_000;
/** The child itself ends a script that is late; where it cannot, it is killed after so much more. */
const GRACE_MS = 500;
/** Reading types away comes before the script's own time begins. */
const STRIP_MS = 3_000;
const BYTES_PER_MIB = 1024 * 1024;
/**
 * No flag of this process and nothing of its environment. The stack, in KiB, is what recursion in the guest takes: much
 * more than QuickJS allows, so that it is the guest that overflows.
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
      // What a terminal sends to the worker is not for it; it ends when its channel closes.
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
    // Whoever runs a script in it is told.
    this.#ready.catch(() => undefined);
  }

  get isGone(): boolean {
    return this.#isGone || this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  async run(script: Script): Promise<ScriptResult> {
    this.scripts++;
    const { signal, timeoutMs, memoryMb, language, code } = script;
    this.#hold(true);
    try {
      await this.#ready.catch(() => {
        throw scriptError('script_crashed', '', script);
      });
      const isTypeScript = language === 'typescript';
      const input = JSON.stringify(script.input);
      const { resultCharacters = MOST_RESULT_CHARACTERS } = script;
      const memoryBytes = memoryMb * BYTES_PER_MIB;
      const job = { code, isTypeScript, input, timeoutMs, memoryBytes, resultCharacters };
      const limitMs = timeoutMs + GRACE_MS + (isTypeScript ? STRIP_MS : 0);
      const answer = await this.#ask(job, limitMs, signal);
      signal.throwIfAborted();
      if (typeof answer === 'string') throw scriptError(answer, '', script);
      if (answer.isSpent === true) this.end();
      return resultOf(answer, script);
    } finally {
      this.#hold(false);
    }
  }

  end(): void {
    this.#isGone = true;
    this.#process.kill('SIGKILL');
  }

  /** The answer, or the code of what became of the process. */
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
      // A child that works on what nobody wants any more is ended.
      signal.addEventListener('abort', exited);
      if (signal.aborted) exited();
      else this.#process.send(job, (error) => error && exited());
    });
  }

  /** An idle child keeps nobody from ending. */
  #hold(isBusy: boolean): void {
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
const turns = new ConcurrencyLimit(MOST_CHILDREN);

/**
 * Runs a script in the next free child; its time begins there.
 * @throws ActivityError `script_invalid`, `script_error`, `script_timeout`, `script_out_of_memory`, `script_crashed`,
 * `result_too_large`, `result_too_deep`; the signal's reason when it is aborted.
 */
export async function runJavaScript(script: Script): Promise<ScriptResult> {
  await turns.acquire(script.signal);
  let child = idle.pop();
  while (child?.isGone === true) child = idle.pop();
  child ??= new Child();
  try {
    return await child.run(script);
  } finally {
    if (child.scripts >= MOST_SCRIPTS) child.end();
    if (!child.isGone) idle.push(child);
    turns.release();
  }
}
