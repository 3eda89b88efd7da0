/** Limits the open event streams, since each stream holds a request open at Temporal. */
import type { Principal } from '../../http/principal.ts';
import { HttpProblem } from '../../validation/http-problem.ts';

const MOST_STREAMS = { all: 1_000, organization: 500, key: 200 } as const;

/** The open streams of one gateway. */
export class Streams {
  readonly #open = new Map<string, number>();

  /**
   * Counts one more stream. Call the returned function when it has ended.
   * @throws HttpProblem `too_many_streams`.
   */
  enter({ organizationId, keyId, id }: Principal): () => void {
    const counted = [
      { name: '', most: MOST_STREAMS.all, who: 'This gateway' },
      { name: `organization ${organizationId}`, most: MOST_STREAMS.organization, who: 'Your organization' },
      // Without keys, all callers count as one.
      ...(keyId === undefined && id === undefined
        ? []
        : [{ name: `key ${organizationId} ${keyId ?? id}`, most: MOST_STREAMS.key, who: 'Your key' }]),
    ];
    for (const { name, most, who } of counted) {
      if ((this.#open.get(name) ?? 0) < most) continue;
      throw new HttpProblem(
        'too_many_streams',
        `${who} follows ${most} runs already. Try again shortly, or ask for /result?wait=60 instead.`,
        { headers: { 'retry-after': '5' } },
      );
    }
    for (const { name } of counted) this.#add(name, 1);
    return () => {
      for (const { name } of counted) this.#add(name, -1);
    };
  }

  #add(name: string, by: 1 | -1): void {
    const count = (this.#open.get(name) ?? 0) + by;
    if (count > 0) this.#open.set(name, count);
    else this.#open.delete(name);
  }
}
