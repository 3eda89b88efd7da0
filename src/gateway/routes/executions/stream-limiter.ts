/** Limits the open event streams, since each stream holds a request open at Temporal. */
import type { Principal } from '../../http/principal.ts';
import { HttpProblem } from '../../validation/http-problem.ts';

const MAX_STREAMS = { all: 1_000, organization: 500, key: 200 } as const;

/** The open streams of one gateway. */
export class StreamLimiter {
  readonly #open = new Map<string, number>();

  /**
   * Counts one more stream. Call the returned function when it has ended.
   * @throws HttpProblem `too_many_streams`.
   */
  acquire({ organizationId, keyId, id }: Principal): () => void {
    const counted = [
      { name: '', max: MAX_STREAMS.all, who: 'This gateway' },
      { name: `organization ${organizationId}`, max: MAX_STREAMS.organization, who: 'Your organization' },
      // Without keys, all callers count as one.
      ...(keyId === undefined && id === undefined
        ? []
        : [{ name: `key ${organizationId} ${keyId ?? id}`, max: MAX_STREAMS.key, who: 'Your key' }]),
    ];
    for (const { name, max, who } of counted) {
      if ((this.#open.get(name) ?? 0) < max) continue;
      throw new HttpProblem(
        'too_many_streams',
        `${who} follows ${max} runs already. Try again shortly, or ask for /result?wait=60 instead.`,
        { headers: { 'retry-after': '5' } },
      );
    }
    for (const { name } of counted) this.#add(name, 1);
    return () => {
      for (const { name } of counted) this.#add(name, -1);
    };
  }

  #add(name: string, delta: 1 | -1): void {
    const count = (this.#open.get(name) ?? 0) + delta;
    if (count > 0) this.#open.set(name, count);
    else this.#open.delete(name);
  }
}
