/**
 * A pool of threads for work whose duration the caller decides: it keeps such work off the gateway's own thread. A task
 * that passes its deadline is ended together with its thread, and a new thread replaces it. Organizations share the
 * threads fairly: a busy organization can take neither all threads nor the whole queue. By hand: packages have neither
 * fairness between organizations nor a deadline for each kind of task.
 */

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Problem } from '../../definition/document/types.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import type { JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import type { ProblemCode } from '../validation/problem-codes.ts';
import type { Results, Task } from './tasks.ts';

/** The data that a thread starts with. */
export interface ThreadData {
  readonly actionsDir: string | undefined;
}

export interface ThreadTask {
  readonly id: number;
  readonly task: Task;
}

export type ThreadAnswer =
  | { readonly ready: true }
  | { readonly id: number; readonly result: Results[Task['kind']] }
  | { readonly id: number; readonly error: string }
  | {
      readonly id: number;
      readonly problem: {
        readonly code: ProblemCode;
        readonly message: string;
        readonly problems: readonly Problem[] | undefined;
        readonly more: JsonObject | undefined;
      };
    };

const THREADS = 3;
/** The most threads that one organization may use. */
const MAX_THREADS_PER_ORGANIZATION = THREADS - 1;
/** Ample for the largest value of a 2 MB body and the data that a walk keeps of it. */
const HEAP_MB = 512;
const MAX_QUEUED = 64;
/** How many organizations the pool remembers: more than can wait simultaneously. */
const MAX_TRACKED_ORGANIZATIONS = 4 * MAX_QUEUED;
/** A task that has waited this long for a thread is refused. */
const QUEUE_TIMEOUT_MS = 10_000;
/** How long each kind of task may take once a thread has it. */
const DEADLINES_MS: Deadlines = {
  checkBytes: 6_000,
  check: 6_000,
  evaluate: 3_000,
  walk: 6_000,
  diff: 6_000,
  graph: 6_000,
  draft: 6_000,
};

type Deadlines = { readonly [kind in Task['kind']]: number };

interface QueuedTask {
  readonly task: Task;
  readonly organizationId: string;
  readonly since: number;
  readonly resolve: (result: Results[Task['kind']]) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  isReady: boolean;
  current?: { readonly id: number; readonly job: QueuedTask; readonly late: NodeJS.Timeout };
}

/** With its extension: the sources in tests, the compiled files otherwise. */
const ENTRY = new URL(`./worker${extname(new URL(import.meta.url).pathname)}`, import.meta.url);

export class OffloadPool {
  readonly #data: ThreadData;
  readonly #deadlines: Deadlines;
  readonly #now: () => number;
  readonly #threads = new Set<Thread>();
  readonly #queue: QueuedTask[] = [];
  /** Organization → number of its last task, in the order of these numbers. */
  readonly #lastServed = new BoundedMap<string, number>(MAX_TRACKED_ORGANIZATIONS);
  #lastId = 0;
  #isClosed = false;

  /** `deadlines` replaces the defaults. `now` is the clock of those who wait, in milliseconds. */
  constructor(actionsDir?: string, deadlines: Partial<Deadlines> = {}, now = () => performance.now()) {
    this.#data = { actionsDir };
    this.#deadlines = { ...DEADLINES_MS, ...deadlines };
    this.#now = now;
  }

  /** Starts a thread ahead of the first task. */
  warm(): void {
    if (this.#threads.size === 0 && !this.#isClosed) this.#start();
  }

  /**
   * Does a task in a thread.
   * @throws HttpProblem those of the task, `takes_too_long`, `gateway_busy`.
   */
  run<Kind extends Task['kind']>(
    organizationId: string,
    task: Extract<Task, { readonly kind: Kind }>,
  ): Promise<Results[Kind]> {
    return new Promise((resolve, reject) => {
      const job: QueuedTask = {
        task,
        organizationId,
        since: this.#now(),
        resolve: resolve as QueuedTask['resolve'],
        reject,
      };
      if (this.#isClosed || !this.#hasRoomFor(organizationId)) return reject(busy());
      this.#queue.push(job);
      this.#dispatch();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const job of this.#queue.splice(0)) job.reject(busy());
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, busy())));
  }

  /** Whether the organization may queue a task. A full queue drops the newest task of the largest organization. */
  #hasRoomFor(organizationId: string): boolean {
    if (this.#queue.length < MAX_QUEUED) return true;
    const counts = new Map<string, number>();
    for (const { organizationId: org } of this.#queue) counts.set(org, (counts.get(org) ?? 0) + 1);
    const [most, count] = [...counts].reduce((best, next) => (next[1] > best[1] ? next : best));
    if (count <= (counts.get(organizationId) ?? 0) + 1) return false;
    const at = this.#queue.findLastIndex((job) => job.organizationId === most);
    for (const job of this.#queue.splice(at, 1)) job.reject(busy());
    return true;
  }

  #dispatch(): void {
    const now = this.#now();
    for (const [at, job] of [...this.#queue.entries()].reverse()) {
      if (now - job.since <= QUEUE_TIMEOUT_MS) continue;
      this.#queue.splice(at, 1);
      job.reject(busy());
    }
    for (let at = this.#next(); at >= 0; at = this.#next()) {
      const free = [...this.#threads].find((thread) => thread.isReady && thread.current === undefined);
      if (free === undefined) {
        const isStarting = [...this.#threads].some((thread) => !thread.isReady);
        if (!isStarting && this.#threads.size < THREADS && !this.#isClosed) this.#start();
        return;
      }
      for (const job of this.#queue.splice(at, 1)) this.#assign(free, job);
    }
  }

  /**
   * The index of the next task in the queue: the oldest task of the organization that was served least recently.
   * Organizations at their thread limit are skipped. -1 if no task can start.
   */
  #next(): number {
    const inUse = new Map<string, number>();
    for (const { current } of this.#threads) {
      const org = current?.job.organizationId;
      if (org !== undefined) inUse.set(org, (inUse.get(org) ?? 0) + 1);
    }
    let next = -1;
    let leastRecent = Number.POSITIVE_INFINITY;
    for (const [at, { organizationId }] of this.#queue.entries()) {
      const served = this.#lastServed.get(organizationId) ?? 0;
      if ((inUse.get(organizationId) ?? 0) >= MAX_THREADS_PER_ORGANIZATION || served >= leastRecent) continue;
      [next, leastRecent] = [at, served];
    }
    return next;
  }

  #assign(thread: Thread, job: QueuedTask): void {
    this.#lastId += 1;
    const id = this.#lastId;
    const { kind } = job.task;
    this.#lastServed.set(job.organizationId, id);
    const deadlineMs = this.#deadlines[kind];
    const late = setTimeout(() => void this.#end(thread, tooLong(kind, deadlineMs)), deadlineMs);
    thread.current = { id, job, late };
    thread.worker.ref();
    thread.worker.postMessage({ id, task: job.task } satisfies ThreadTask);
  }

  #start(): void {
    const worker = new Worker(ENTRY, {
      workerData: this.#data,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    const thread: Thread = { worker, isReady: false };
    this.#threads.add(thread);
    worker.on('message', (answer: ThreadAnswer) => this.#receive(thread, answer));
    worker.on('error', (error) => void this.#end(thread, failed(error, thread.current?.job.task)));
    worker.on('exit', () => void this.#end(thread, failed(undefined, thread.current?.job.task)));
  }

  #receive(thread: Thread, answer: ThreadAnswer): void {
    if ('ready' in answer) {
      thread.isReady = true;
      thread.worker.unref();
      this.#dispatch();
      return;
    }
    const { current } = thread;
    if (current === undefined || current.id !== answer.id) return;
    clearTimeout(current.late);
    delete thread.current;
    thread.worker.unref();
    if ('result' in answer) current.job.resolve(answer.result);
    else if ('problem' in answer) current.job.reject(problemOf(answer.problem));
    else current.job.reject(new Error(`A thread could not do its task: ${answer.error}`));
    this.#dispatch();
  }

  /** Ends a thread, and rejects its task with the error. */
  async #end(thread: Thread, error: unknown): Promise<void> {
    if (!this.#threads.delete(thread)) return;
    const { current, isReady } = thread;
    if (current !== undefined) {
      clearTimeout(current.late);
      current.job.reject(error);
    }
    // A thread that cannot start must not be restarted for each waiting task.
    if (!isReady && !this.#isClosed) for (const job of this.#queue.splice(0)) job.reject(error);
    const ended = thread.worker.terminate();
    if (!this.#isClosed) this.#dispatch();
    await ended;
  }
}

function problemOf({ code, message, problems, more }: Extract<ThreadAnswer, { problem: object }>['problem']) {
  return new HttpProblem(code, message, omitUndefined({ problems, more }));
}

const TASK_DESCRIPTIONS = {
  checkBytes: 'Reading and checking the document',
  check: 'Checking the document',
  evaluate: 'Evaluating it',
  walk: 'Walking the definition',
  diff: 'Comparing the versions',
  graph: 'Drawing the definition',
  draft: 'Drawing the draft',
} as const satisfies { readonly [kind in Task['kind']]: string };

const tooLong = (kind: Task['kind'], deadlineMs: number): HttpProblem =>
  new HttpProblem(
    'takes_too_long',
    `${TASK_DESCRIPTIONS[kind]} took longer than ${deadlineMs} ms, and was given up. ` +
      'Send something smaller or simpler.',
  );

function failed(error: unknown, task: Task | undefined): unknown {
  const isOutOfMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  if (isOutOfMemory && task !== undefined)
    return new HttpProblem(
      'takes_too_long',
      `${TASK_DESCRIPTIONS[task.kind]} took more than ${HEAP_MB} MB of memory, and was given up. ` +
        'Send something smaller or simpler.',
    );
  return error ?? new Error('A thread of the gateway has ended.');
}

const busy = (): HttpProblem =>
  new HttpProblem('gateway_busy', 'The gateway has too much to check and to evaluate now. Send it again shortly.', {
    headers: { 'retry-after': '2' },
  });
