import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalTextAsync } from '../../src/gateway/http/canonical-text-async.ts';
import { fingerprintOf } from '../../src/gateway/input/starts.ts';
import { canonicalChunks, canonicalText } from '../../src/json/canonical-text.ts';
import type { Json } from '../../src/json/json.ts';

// The canonical text of a large request is made in chunks, between which others are served. Counts chunks and rounds.

const LARGE: Json = {
  items: Array.from({ length: 60_000 }, (_, id) => ({ name: `item ${id}`, id, tags: ['a', 'b'] })),
  one: { two: { three: [] } },
};

describe('the canonical text of a body', () => {
  it('is the same in chunks', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.parse(JSON.stringify(value)) as Json;
        expect([...canonicalChunks(json)].join('')).toBe(canonicalText(json));
      }),
    );
    const odd = { b: undefined, a: [undefined, 1], c: {} } as unknown as Json;
    expect([...canonicalChunks(odd)].join('')).toBe(canonicalText(odd));
  });

  it('comes in small chunks, also where it is one long list', () => {
    const chunks = [...canonicalChunks(LARGE)];
    expect(chunks.join('')).toBe(canonicalText(LARGE));
    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(17_000);
    expect(chunks.length).toBeGreaterThan(100);
    expect([...canonicalChunks({ small: [1] })]).toHaveLength(1);
  });

  it('lets others be served meanwhile', async () => {
    let rounds = 0;
    let isOver = false;
    const made = canonicalTextAsync(LARGE).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await setImmediate();
      rounds++;
    }
    expect(await made).toBe(canonicalText(LARGE));
    expect(rounds).toBeGreaterThan(2);
  });

  it('makes the fingerprint that earlier gateways made', async () => {
    const text = canonicalText({ input: LARGE, workflowId: 'w' });
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 32);
    expect(await fingerprintOf({ workflowId: 'w', input: LARGE, clientRequestId: 'k' })).toBe(hash);
  });
});
