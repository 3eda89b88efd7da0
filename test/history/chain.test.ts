import { describe, expect, it } from 'vitest';
import type { Definition } from '../../src/definition/document/types.ts';
import { ambiguitiesOf, rangesOf, sliceOf } from '../../src/history/chain.ts';
import { fold } from './histories.ts';
import { Model } from './model.ts';

/** Each round: an approval and a sleep in parallel. */
const rounds: Definition = {
  name: 'Rounds',
  slug: 'rounds',
  steps: {
    start: { stepType: 'trigger', nextSteps: { success: 'each' } },
    each: { stepType: 'loop', config: { items: [0, 1, 2] }, nextSteps: { loop: 'both', done: 'end' } },
    both: { stepType: 'parallel', nextSteps: { a: 'ask', b: 'rest' } },
    ask: { stepType: 'approval', config: { message: 'Go on?' } },
    rest: { stepType: 'sleep', config: { duration: 1_000 } },
    end: { stepType: 'finish' },
  },
};

/** Continues as new in the middle of every round, when half of it has ended. */
function chained() {
  const model = new Model(rounds);
  model.task();
  for (let n = 0; n < 3; n++) {
    model.signal('approve', {});
    model.task();
    model.continueAsNew();
    model.fireTimer(0);
    model.task();
  }
  model.close();
  const chain = model.histories.map((events, n) => fold(events, { runId: `run-${n}` }));
  return { model, chain };
}

describe('a chain of runs', () => {
  it('has one row for each visit, where it began, with the end from a later run', () => {
    const { chain } = chained();
    const { rows, total } = sliceOf(chain, 0, 100);
    expect(chain).toHaveLength(4);
    expect(total).toBe(rows.length);
    expect(rows.map((row) => `${row.path} ${row.status}`)).toEqual([
      'start completed',
      'each completed',
      'each~0/both completed',
      'each~0/both/a/ask completed',
      'each~0/both/b/rest completed',
      'each~1/both completed',
      'each~1/both/a/ask completed',
      'each~1/both/b/rest completed',
      'each~2/both completed',
      'each~2/both/a/ask completed',
      'each~2/both/b/rest completed',
      'end completed',
    ]);
    const [ask, rest] = [rows[3]!, rows[4]!];
    expect(rest.completedAt! - rest.startedAt).toBeGreaterThanOrEqual(1_000);
    expect(ask.output).toMatchObject({ type: 'approval', data: { decision: 'approved' } });
    expect(ambiguitiesOf(chain)).toEqual([]);
  });

  it('is where the run before left it until its first task has completed', () => {
    const { model, chain } = chained();
    const early = fold(model.histories[2]!.slice(0, 2));
    expect(early.state).toEqual(fold(model.histories[2]!.slice(0, 4)).state);
    expect(sliceOf([chain[0]!, chain[1]!, early], 0, 100).rows.at(-1)).toMatchObject({ status: 'waiting' });
  });

  it('gives the same rows page by page', () => {
    const { chain } = chained();
    const whole = sliceOf(chain, 0, 100).rows;
    const pages = [0, 5, 10].flatMap((offset) => sliceOf(chain, offset, 5).rows);
    expect(pages).toEqual(whole);
    expect(sliceOf(chain, 12, 5).rows).toEqual([]);
  });

  it('says which rows of which run a page needs', () => {
    const { chain } = chained();
    const ranges = rangesOf(chain, 4, 3);
    expect(ranges.map(({ from, to }) => to - from).reduce((a, b) => a + b)).toBe(3);
    expect(chain.map((run) => run.count).reduce((a, b) => a + b)).toBe(12);
  });

  it('begins with what was open where the runs before are no longer stored, and says so', () => {
    const { chain } = chained();
    const kept = chain.slice(1);
    const { rows } = sliceOf(kept, 0, 3);
    expect(rows.map((row) => `${row.path} ${row.status}`)).toEqual([
      'each completed',
      'each~0/both completed',
      'each~0/both/b/rest completed',
    ]);
    expect(ambiguitiesOf(kept)).toEqual([{ runId: 'run-0', eventId: 0, why: 'history_gone' }]);
  });
});
