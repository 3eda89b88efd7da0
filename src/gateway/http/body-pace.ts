/**
 * How long a body may take: 5 seconds, and one more for each kilobyte, up to 20. A body that takes longer is refused,
 * and its connection ends, so that senders who stop hold neither memory nor a connection. Where all bodies that are not
 * complete hold too much, some are refused: first those without keys, and of these the oldest.
 */
import type { Request, RequestHandler, Response } from 'express';
import { HttpProblem } from '../validation/http-problem.ts';
import { LARGEST_BODY_BYTES } from './body.ts';

const FIRST_MS = 5_000;
const LONGEST_MS = 20_000;
/** A kilobyte a second. */
const BYTES_A_MS = 1;
const LOOK_MS = 500;
const MOST_BYTES = 256 * 1024 * 1024;
/** The most that compressed bodies grow (deflate). */
const GROWTH = 1_032;

/** Monotonic milliseconds, and something to do again and again until it is stopped. */
export interface Clock {
  now(): number;
  every(ms: number, act: () => void): () => void;
}

export const CLOCK: Clock = {
  now: () => performance.now(),
  every: (ms, act) => {
    const timer = setInterval(act, ms).unref();
    return () => clearInterval(timer);
  },
};

interface OpenBody {
  readonly begunAt: number;
  readonly hasKey: boolean;
  /** Bytes since it was begun, as they came over the connection. */
  bytes(): number;
  /** How much memory it takes at most. */
  held(): number;
  refuse(why: HttpProblem): void;
}

export class BodyPace {
  readonly #clock: Clock;
  readonly #mostBytes: number;
  readonly #open = new Set<OpenBody>();
  #stop: (() => void) | undefined;

  constructor(clock = CLOCK, mostBytes = MOST_BYTES) {
    this.#clock = clock;
    this.#mostBytes = mostBytes;
  }

  /**
   * Reads a body by Express's reader.
   * @throws HttpProblem `request_timeout`, `gateway_busy`, and the errors of the reader.
   */
  read(reader: RequestHandler, req: Request, res: Response, hasKey: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const before = bytesOf(req);
      const isPlain = req.get('content-encoding') === undefined;
      const bytes = (): number => bytesOf(req) - before;
      const body: OpenBody = {
        begunAt: this.#clock.now(),
        hasKey,
        bytes,
        held: () => (isPlain ? bytes() : Math.min(bytes() * GROWTH, LARGEST_BODY_BYTES)),
        refuse: reject,
      };
      this.#watch(body);
      void reader(req, res, (error?: unknown) => {
        this.#unwatch(body);
        if (error === undefined) resolve();
        else reject(error);
      });
    });
  }

  #watch(body: OpenBody): void {
    this.#open.add(body);
    this.#stop ??= this.#clock.every(LOOK_MS, () => this.#look());
  }

  #unwatch(body: OpenBody): void {
    this.#open.delete(body);
    if (this.#open.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }

  #look(): void {
    const now = this.#clock.now();
    for (const body of this.#open) {
      if (now - body.begunAt < Math.min(LONGEST_MS, FIRST_MS + body.bytes() / BYTES_A_MS)) continue;
      this.#unwatch(body);
      body.refuse(tooSlow());
    }
    this.#makeRoom();
  }

  #makeRoom(): void {
    let held = 0;
    for (const body of this.#open) held += body.held();
    if (held <= this.#mostBytes) return;
    // In the order in which they were begun.
    const open = [...this.#open];
    for (const body of [...open.filter(({ hasKey }) => !hasKey), ...open.filter(({ hasKey }) => hasKey)]) {
      if (held <= this.#mostBytes) return;
      held -= body.held();
      this.#unwatch(body);
      body.refuse(tooMuch());
    }
  }
}

/** A request within the process (mcp/inner-request.ts) has no connection. */
const bytesOf = (req: Request): number => req.socket.bytesRead ?? 0;

const tooMuch = (): HttpProblem =>
  new HttpProblem('gateway_busy', 'Too many large bodies come at the same time. Send it again shortly.', {
    headers: { connection: 'close', 'retry-after': '2' },
  });

function tooSlow(): HttpProblem {
  return new HttpProblem(
    'request_timeout',
    'The body did not come in time: it has 20 seconds, and after 5 of them it must come at 1 kB a second. Send it ' +
      'again.',
    // The rest of the body is not waited for.
    { headers: { connection: 'close' } },
  );
}
