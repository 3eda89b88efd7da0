/** A long fold in parts: who serves others meanwhile stops between them. Work is counted, not timed. */
import { describe, expect, it } from 'vitest';
import type { Definition } from '../../src/definition/document/types.ts';
import type { HistoryEvent } from '../../src/history/events.ts';
import { Fold } from '../../src/history/fold.ts';
import { type Compiled, compile, compileInParts } from '../../src/steps/compile/program.ts';
import { PART_STEPS, type Parts, runParts } from '../../src/steps/parts.ts';
import { begun, done, history, scheduled, taken } from './histories.ts';

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

/** What `part` says after each of the parts. */
function counted<T>(parts: Parts<T>, part: () => number, counts: number[]): T {
  for (;;) {
    const one = parts.next();
    counts.push(part());
    if (one.done === true) return one.value;
  }
}

function folded(events: readonly HistoryEvent[]): { fold: Fold; begins: () => number } {
  let begins = 0;
  const fold = new Fold('run.default.model.1', undefined, { heard: ({ t }) => (begins += t === 'begin' ? 1 : 0) });
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
  const events = history([0, begun(graph())], [0, scheduled], [1, taken], [2, done]);

  it('walks few steps in each part, though one task walked thousands', () => {
    const { fold, begins } = folded(events);
    const counts: number[] = [];
    const { state, count } = counted(fold.finishInParts(), begins, counts);
    expect(state?.ending?.status).toBe('completed');
    expect(count).toBe(STEPS);
    expect(Math.max(...counts)).toBeLessThanOrEqual(PART_STEPS);
    // Before the first step is walked the definition is compiled, in parts too.
    expect(counts.findIndex((walked) => walked > 0)).toBeGreaterThanOrEqual(STEPS / PART_STEPS);
  });

  it('comes to the same as the fold at once', () => {
    const parted = runParts(folded(events).fold.finishInParts());
    const once = folded(events).fold.finish();
    expect(parted.state).toEqual(once.state);
    expect(parted.rows).toEqual(once.rows);
    expect(parted.guesses).toEqual(once.guesses);
  });

  it('compiles a part of the steps at a time, and finds the same problems', () => {
    const { steps, ...rest } = graph();
    const wrong = { stepType: 'mapping', config: { output: '{{ steps. }}' } };
    const broken: Definition = { ...rest, steps: { ...steps, s7: wrong } };
    const counts: number[] = [];
    const parted: Compiled = counted(compileInParts(broken), () => 1, counts);
    expect(parted).toEqual(compile(broken));
    expect(parted).toMatchObject({ problems: [{ pointer: '/steps/s7/config/output' }] });
    expect(counts.length).toBeGreaterThan(STEPS / PART_STEPS);
  });
});
