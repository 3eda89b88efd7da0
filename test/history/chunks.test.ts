/** A long fold in chunks, between which a gateway serves other requests. Work is counted, not timed. */
import { describe, expect, it } from 'vitest';
import type { Definition } from '../../src/definition/document/types.ts';
import type { HistoryEvent } from '../../src/history/events.ts';
import { Fold } from '../../src/history/fold.ts';
import { CHUNK_STEPS, type Chunks, runChunks } from '../../src/steps/chunks.ts';
import { type Compiled, compile, compileInChunks } from '../../src/steps/compile/program.ts';
import { done, history, scheduled, startedEvent, taken } from './histories.ts';

const STEPS = 800;

/** Every step reads five earlier ones, so one task walks them all. */
function graph(steps = STEPS): Definition {
  const reads = (n: number) =>
    n === 0 ? {} : Object.fromEntries([1, 2, 3, 4, 5].map((k) => [`k${k}`, `{{ steps.s${(n * k) % n}.output.type }}`]));
  const entries = Array.from({ length: steps }, (_, n) => [
    `s${n}`,
    { stepType: 'mapping', config: { output: reads(n) } },
  ]);
  return { name: 'Graph', slug: 'graph', flow: 'dag', steps: Object.fromEntries(entries) };
}

/** Runs the chunks, and adds to `counts` what `count` returns after each. */
function counted<T>(chunks: Chunks<T>, count: () => number, counts: number[]): T {
  for (;;) {
    const one = chunks.next();
    counts.push(count());
    if (one.done === true) return one.value;
  }
}

function folded(events: readonly HistoryEvent[]): { fold: Fold; begins: () => number } {
  let begins = 0;
  const fold = new Fold('run.default.model.1', undefined, {
    onTraceLine: ({ t }) => (begins += t === 'begin' ? 1 : 0),
  });
  for (const event of events) fold.push(event);
  return {
    fold,
    begins: () => {
      const since = begins;
      begins = 0;
      return since;
    },
  };
}

describe('a long fold', () => {
  const events = history([0, startedEvent(graph())], [0, scheduled], [1, taken], [2, done]);

  it('walks few steps in each chunk, though one task walked thousands', () => {
    const { fold, begins } = folded(events);
    const counts: number[] = [];
    const { state, count } = counted(fold.finishInChunks(), begins, counts);
    expect(state?.ending?.status).toBe('completed');
    expect(count).toBe(STEPS);
    expect(Math.max(...counts)).toBeLessThanOrEqual(CHUNK_STEPS);
    // Before the first step is walked the definition is compiled, in chunks too.
    expect(counts.findIndex((walked) => walked > 0)).toBeGreaterThanOrEqual(STEPS / CHUNK_STEPS);
  });

  it('comes to the same as the fold without pauses', () => {
    const chunked = runChunks(folded(events).fold.finishInChunks());
    const once = folded(events).fold.finish();
    expect(chunked.state).toEqual(once.state);
    expect(chunked.rows).toEqual(once.rows);
    expect(chunked.guesses).toEqual(once.guesses);
  });

  it('compiles a chunk of the steps at a time, and finds the same problems', () => {
    const { steps, ...rest } = graph();
    const wrong = { stepType: 'mapping', config: { output: '{{ steps. }}' } };
    const broken: Definition = { ...rest, steps: { ...steps, s7: wrong } };
    const counts: number[] = [];
    const chunked: Compiled = counted(compileInChunks(broken), () => 1, counts);
    expect(chunked).toEqual(compile(broken));
    expect(chunked).toMatchObject({ problems: [{ pointer: '/steps/s7/config/output' }] });
    expect(counts.length).toBeGreaterThan(STEPS / CHUNK_STEPS);
  });
});
