/**
 * How long a body may take: 5 seconds, and one more for each kilobyte, up to 20. A body that takes longer is refused,
 * and its connection ends, so that senders who stop hold neither memory nor a connection.
 */
import type { Request, RequestHandler, Response } from 'express';
import { HttpProblem } from '../validation/http-problem.ts';

const FIRST_MS = 5_000;
const LONGEST_MS = 20_000;
/** A kilobyte a second. */
const BYTES_A_MS = 1;
const LOOK_MS = 500;

/** Monotonic milliseconds, and something to do again and again until it is stopped. */
export interface Clock {
  now(): number;
  every(ms: number, act: () => void): () => void;
}

const CLOCK: Clock = {
  now: () => performance.now(),
  every: (ms, act) => {
    const timer = setInterval(act, ms).unref();
    return () => clearInterval(timer);
  },
};

interface OpenBody {
  readonly begunAt: number;
  /** Bytes since it was begun, as they came over the connection. */
  bytes(): number;
  refuse(): void;
}

export class BodyPace {
  readonly #clock: Clock;
  readonly #open = new Set<OpenBody>();
  #stop: (() => void) | undefined;

  constructor(clock = CLOCK) {
    this.#clock = clock;
  }

  /**
   * Reads a body by Express's reader.
   * @throws HttpProblem `request_timeout`, and the errors of the reader.
   */
  read(reader: RequestHandler, req: Request, res: Response): Promise<void> {
    return new Promise((resolve, reject) => {
      const before = bytesOf(req);
      const body: OpenBody = {
        begunAt: this.#clock.now(),
        bytes: () => bytesOf(req) - before,
        refuse: () => reject(tooSlow()),
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
      body.refuse();
    }
  }
}

/** A request within the process (mcp/inner-request.ts) has no connection. */
const bytesOf = (req: Request): number => req.socket.bytesRead ?? 0;

function tooSlow(): HttpProblem {
  return new HttpProblem(
    'request_timeout',
    'The body did not come in time: it has 20 seconds, and after 5 of them it must come at 1 kB a second. Send it ' +
      'again.',
    // The rest of the body is not waited for.
    { headers: { connection: 'close' } },
  );
}
