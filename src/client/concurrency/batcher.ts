import { setTimeout as delay } from 'node:timers/promises';

/** Sends items in batches: while a batch is in flight, further items wait and form the next one. */
export class Batcher<Item, Answer> {
  readonly #send: (name: string, items: readonly Item[]) => Promise<Answer>;
  readonly #maxItems: number;
  readonly #pauseMs: number;
  readonly #waiting = new Map<string, PendingItem<Item, Answer>[]>();

  /** `maxItems`: the items of one batch. `pauseMs`: how long a batch waits for more items before it is sent. */
  constructor(maxItems: number, send: (name: string, items: readonly Item[]) => Promise<Answer>, pauseMs = 0) {
    this.#maxItems = maxItems;
    this.#send = send;
    this.#pauseMs = pauseMs;
  }

  /** The answer to the batch with the item, or its error. Batches of one name are sent one after the other. */
  add(name: string, item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(name);
      if (waiting !== undefined) {
        waiting.push({ item, resolve, reject });
        return;
      }
      const queue: PendingItem<Item, Answer>[] = [{ item, resolve, reject }];
      this.#waiting.set(name, queue);
      void this.#drain(name, queue);
    });
  }

  async #drain(name: string, waiting: PendingItem<Item, Answer>[]): Promise<void> {
    while (waiting.length > 0) {
      if (this.#pauseMs > 0) await delay(this.#pauseMs);
      const batch = waiting.splice(0, this.#maxItems);
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

interface PendingItem<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}
