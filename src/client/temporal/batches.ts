import { setTimeout as delay } from 'node:timers/promises';

/** Items that are sent together: while some are on their way, those that come meanwhile wait, and go together next. */
export class Batches<Item, Answer> {
  readonly #send: (name: string, items: readonly Item[]) => Promise<Answer>;
  readonly #most: number;
  readonly #pauseMs: number;
  readonly #waiting = new Map<string, Waiting<Item, Answer>[]>();

  /** `most`: the items of one batch. `pauseMs`: a batch waits so long for more items before it is sent. */
  constructor(most: number, send: (name: string, items: readonly Item[]) => Promise<Answer>, pauseMs = 0) {
    this.#most = most;
    this.#send = send;
    this.#pauseMs = pauseMs;
  }

  /** The answer to the batch with the item, or its error. Items of one name go one batch after the other. */
  add(name: string, item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(name);
      if (waiting !== undefined) {
        waiting.push({ item, resolve, reject });
        return;
      }
      const begun: Waiting<Item, Answer>[] = [{ item, resolve, reject }];
      this.#waiting.set(name, begun);
      void this.#drain(name, begun);
    });
  }

  async #drain(name: string, waiting: Waiting<Item, Answer>[]): Promise<void> {
    while (waiting.length > 0) {
      if (this.#pauseMs > 0) await delay(this.#pauseMs);
      const batch = waiting.splice(0, this.#most);
      try {
        const answer = await this.#send(
          name,
          batch.map(({ item }) => item),
        );
        for (const { resolve } of batch) resolve(answer);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#waiting.delete(name);
  }
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}
