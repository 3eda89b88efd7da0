/**
 * How long a body may take: 5 seconds, and one more for each kilobyte, up to 20. A body that takes longer is refused,
 * and its connection ends, so that senders who stop hold neither memory nor a connection. Where all bodies that are not
 * complete hold too much, some are refused: first those without keys, and of these the oldest.
 */
import type { Request, RequestHandler, Response } from 'express';
import { HttpProblem } from '../validation/http-problem.ts';
import { MAX_BODY_BYTES } from './body.ts';

const BASE_TIMEOUT_MS = 5_000;
const MAX_TIMEOUT_MS = 20_000;
/** A kilobyte a second. */
const MIN_BYTES_PER_MS = 1;
const CHECK_INTERVAL_MS = 500;
const MAX_BUFFERED_BYTES = 256 * 1024 * 1024;
/** The most that compressed bodies grow (deflate). */
const MAX_INFLATE_RATIO = 1_032;

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
  /** The most memory that it may take. */
  maxBufferedBytes(): number;
  refuse(why: HttpProblem): void;
}

export class BodyReader {
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #open = new Set<OpenBody>();
  #stop: (() => void) | undefined;

  constructor(clock = CLOCK, maxBytes = MAX_BUFFERED_BYTES) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
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
        maxBufferedBytes: () => (isPlain ? bytes() : Math.min(bytes() * MAX_INFLATE_RATIO, MAX_BODY_BYTES)),
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
    this.#stop ??= this.#clock.every(CHECK_INTERVAL_MS, () => this.#checkBodies());
  }

  #unwatch(body: OpenBody): void {
    this.#open.delete(body);
    if (this.#open.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }

  #checkBodies(): void {
    const now = this.#clock.now();
    for (const body of this.#open) {
      if (now - body.begunAt < Math.min(MAX_TIMEOUT_MS, BASE_TIMEOUT_MS + body.bytes() / MIN_BYTES_PER_MS)) continue;
      this.#unwatch(body);
      body.refuse(tooSlow());
    }
    this.#shedLoad();
  }

  #shedLoad(): void {
    let bufferedBytes = 0;
    for (const body of this.#open) bufferedBytes += body.maxBufferedBytes();
    if (bufferedBytes <= this.#maxBytes) return;
    // In the order in which they were begun.
    const open = [...this.#open];
    for (const body of [...open.filter(({ hasKey }) => !hasKey), ...open.filter(({ hasKey }) => hasKey)]) {
      if (bufferedBytes <= this.#maxBytes) return;
      bufferedBytes -= body.maxBufferedBytes();
      this.#unwatch(body);
      body.refuse(tooMuch());
    }
  }
}

/** A request within the process (mcp/internal-request.ts) has no connection. */
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
