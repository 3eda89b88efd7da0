/**
 * Watches the thread that runs workflows. The SDK limits the time of each call into a workflow's sandbox, for which
 * Node starts a thread and ends it: five calls and more for a task, 90 µs each. Here the SDK gets no limit. Instead a
 * thread that answers nothing for as long is given up, with its process. That is what came of the limit too: Node ends
 * a process whose script was stopped ("async hook stack has become corrupted").
 */
import { Worker } from 'node:worker_threads';
import { isObject } from '../json/json.ts';

/** A process that was held up itself has not seen the answers, so ticks of its own clock are counted. */
const TICK_MS = 1_000;

/** What the SDK sends to its thread, by the members that are used here. */
interface Request {
  readonly requestId: bigint;
  readonly input: { readonly type: string; isolateExecutionTimeoutMs?: number | undefined };
}

const isRequest = (message: unknown): message is Request =>
  isObject(message) && 'requestId' in message && isObject(message['input']);

const isAnswer = (message: unknown): boolean => isObject(message) && 'requestId' in message && 'result' in message;

class ThreadWatchdog {
  #open = 0;
  #silentTicks = 0;

  constructor(thread: Worker, limitMs: number, stuck: () => void) {
    const timer = setInterval(() => {
      this.#silentTicks = this.#open === 0 ? 0 : this.#silentTicks + 1;
      if (this.#silentTicks * TICK_MS <= limitMs) return;
      clearInterval(timer);
      stuck();
    }, TICK_MS).unref();
    thread.on('message', (message: unknown) => {
      this.#silentTicks = 0;
      if (isAnswer(message)) this.#open--;
    });
    thread.once('exit', () => clearInterval(timer));
  }

  requestSent(): void {
    this.#open++;
  }
}

/**
 * The option of Worker.create that limits each call into a sandbox, for an SDK whose messages are other ones than here.
 * Its types do not name it.
 */
export const activationLimit = (limitMs: number): { readonly isolateExecutionTimeout: number } => ({
  isolateExecutionTimeout: limitMs,
});

/**
 * Watches the threads that the SDK starts from now on. Call it once in a process, before Worker.create. `stuck` is
 * called when one of them has answered nothing for `limitMs` milliseconds.
 */
export function watchWorkflowThreads(limitMs: number, stuck: () => void): void {
  const { postMessage } = Worker.prototype;
  const watches = new WeakMap<Worker, ThreadWatchdog>();
  Worker.prototype.postMessage = function (this: Worker, ...given: Parameters<Worker['postMessage']>) {
    const [message] = given;
    if (isRequest(message)) {
      if (message.input.type === 'init') {
        message.input.isolateExecutionTimeoutMs = undefined;
        watches.set(this, new ThreadWatchdog(this, limitMs, stuck));
      }
      watches.get(this)?.requestSent();
    }
    postMessage.apply(this, given);
  };
}
