import type { EagerAnswer, EagerStart } from '../../client/temporal/eager-starts.ts';

/** A worker that takes longer has more to do than to start runs, or does nothing at all. */
const ANSWER_TIMEOUT_MS = 1_000;

/** Hands a message to the worker's process. False: there is none. */
type Post = (message: EagerStart) => boolean;

/** The starts of runs that the worker of this stack is asked for (src/client/temporal/eager-starts.ts). */
export class EagerStarts {
  #post: Post | undefined;
  /** A start was not answered before its timeout, and nothing since. */
  #isSilent = false;
  #lastId = 0;
  readonly #pending = new Map<number, (response: Uint8Array | undefined) => void>();

  /** A worker is ready. */
  workerReady(post: Post): void {
    this.#post = post;
    this.#isSilent = false;
  }

  /** The worker has ended, and answers nothing more. */
  workerGone(): void {
    this.#post = undefined;
    for (const settle of this.#pending.values()) settle(undefined);
  }

  /** See SendEagerly. */
  readonly send = (request: Uint8Array): Promise<Uint8Array | undefined> => {
    const post = this.#post;
    if (post === undefined || this.#isSilent) return Promise.resolve(undefined);
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        this.#isSilent = true;
        settle(undefined);
      }, ANSWER_TIMEOUT_MS);
      const settle = (response: Uint8Array | undefined): void => {
        clearTimeout(late);
        this.#pending.delete(id);
        resolve(response);
      };
      this.#pending.set(id, settle);
      if (!post({ type: 'eagerStart', id, request, until: Date.now() + ANSWER_TIMEOUT_MS })) settle(undefined);
    });
  };

  /** An answer has come, perhaps too late. */
  answered({ id, response }: EagerAnswer): void {
    this.#isSilent = false;
    this.#pending.get(id)?.(response);
  }
}
