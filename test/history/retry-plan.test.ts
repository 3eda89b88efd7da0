import { describe, expect, it } from 'vitest';
import type { Definition } from '../../src/definition/document/types.ts';
import { resumedState } from '../../src/engine/resume/rewind.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import type { HistoryEvent } from '../../src/history/events.ts';
import { Fold } from '../../src/history/fold.ts';
import { failedPaths, RetryPlan } from '../../src/history/retry-plan.ts';
import type { RunTrace } from '../../src/history/run-trace.ts';
import { Model, WORKFLOW_ID } from './model.ts';

const http = (more: object = {}): Definition['steps'][string] => ({
  stepType: 'http',
  config: { url: 'https://example.org/' },
  retry: { maxAttempts: 1 },
  ...more,
});
const named = (steps: Definition['steps'], more: Partial<Definition> = {}): Definition => ({
  name: 'Armed',
  slug: 'armed',
  steps,
  ...more,
});

/** The state that a retry of the model's run begins with. */
function armed(model: Model): RunState {
  const ending = model.state.ending;
  if (ending?.status !== 'failed') throw new Error(`The run is ${ending?.status ?? 'open'}.`);
  const rearming = new RetryPlan(ending.error);
  const fold = (events: readonly HistoryEvent[], options: ConstructorParameters<typeof Fold>[2]): RunTrace => {
    const folding = new Fold(WORKFLOW_ID, { from: 0, to: 0 }, options);
    for (const event of events) folding.push(event);
    return folding.finish();
  };
  for (const [n, events] of model.histories.entries()) fold(events, rearming.searchOptions(String(n)));
  let state: RunState | undefined;
  for (const [n, events] of model.histories.entries()) {
    const without = rearming.replayOptions(String(n));
    state = fold(events, state === undefined ? without : { ...without, initialState: state }).state;
  }
  const done = rearming.checkedState(state);
  return resumedState(model.program, done, { work: rearming.postponed, at: 5_000_000, limiters: [] });
}

const openIds = (state: RunState) => Object.keys(state.openCommands).sort();
const parked = (state: RunState) =>
  state.work.map((work) => (work.do === 'visit' ? `${work.frame}:${work.slug}` : '?'));

describe('a failed run is armed again', () => {
  it('with the effect that failed, under the same id and key, and what came before', () => {
    const model = new Model(
      named({
        start: { stepType: 'trigger', nextSteps: { success: 'one' } },
        one: http({ nextSteps: { success: 'two' } }),
        two: http(),
      }),
    );
    model.task();
    model.completeActivity(0);
    model.task();
    model.failActivity(0);
    model.task();
    const state = armed(model);
    expect(openIds(state)).toEqual(['two']);
    expect(state.openCommands['two']).toMatchObject({ command: { idempotencyKey: `${WORKFLOW_ID}/two` } });
    expect(state.frames['']?.entries['one']?.output.data).toEqual({ n: 0 });
    expect(state).toMatchObject({ yielding: true, now: 5_000_000 });
  });

  it('with the branches that failed, while those that had ended stay', () => {
    const model = new Model(
      named({
        both: { stepType: 'parallel', nextSteps: { a: 'one', b: 'two', c: 'three' } },
        one: http(),
        two: http(),
        three: { stepType: 'fail', config: { code: 'no', message: 'No.' } },
      }),
    );
    model.task();
    model.failActivity(0);
    model.task();
    model.completeActivity(0);
    model.task();
    const state = armed(model);
    expect(openIds(state)).toEqual(['both/a/one']);
    expect(parked(state)).toEqual(['both/c:three']);
    expect(state.frames['both/b']?.ended).toBe(true);
    expect(state.frames['']?.visit?.state).toMatchObject({ remaining: 2, failures: {} });
  });

  it('with the iterations that were cancelled with it', () => {
    const model = new Model(
      named({
        each: { stepType: 'forEach', config: { items: [1, 2, 3], concurrency: 2 }, nextSteps: { item: 'one' } },
        one: http(),
      }),
    );
    model.task();
    model.completeActivity(0);
    model.task();
    model.failActivity(1);
    model.task();
    expect(openIds(armed(model))).toEqual(['each[1]/one', 'each[2]/one']);
  });

  it('across continue-as-new', () => {
    const model = new Model(
      named({
        both: { stepType: 'parallel', nextSteps: { a: 'one', b: 'rest' } },
        one: http(),
        rest: { stepType: 'sleep', config: { duration: 1_000 } },
      }),
    );
    model.task();
    model.failActivity(0);
    model.task();
    model.continueAsNew();
    model.fireTimer(0);
    model.task();
    const state = armed(model);
    expect(openIds(state)).toEqual(['both/a/one']);
    expect(state.frames['both/b']?.ended).toBe(true);
  });

  it('with a new wait, and a loop at the same tick', () => {
    const model = new Model(
      named({
        each: { stepType: 'loop', config: { items: [1, 2] }, nextSteps: { loop: 'ask' } },
        ask: { stepType: 'approval', config: { message: 'Go on?', timeout: 1_000 } },
      }),
    );
    model.task();
    model.signal('approve', {});
    model.task();
    model.fireTimer(0);
    model.task();
    const state = armed(model);
    expect(openIds(state)).toEqual([]);
    expect(parked(state)).toEqual([':ask']);
    expect(state.frames['']?.loops).toMatchObject([{ path: 'each', tick: 1 }]);
  });

  it('with a new deadline, where the last one had passed', () => {
    const model = new Model(
      named({ rest: { stepType: 'sleep', config: { duration: 3_600_000 } } }, { config: { timeout: 60_000 } }),
    );
    model.task();
    model.fireTimer(0);
    model.task();
    const state = armed(model);
    expect(state.openCommands['$deadline']).toEqual({ type: 'deadline', at: 5_060_000 });
    expect(openIds(state)).toEqual(['$deadline', 'rest']);
  });

  it('with all that a listener had received, also the message at which it failed', () => {
    const model = new Model(
      named(
        {
          both: { stepType: 'parallel', config: { failFast: true }, nextSteps: { a: 'three', b: 'other' } },
          three: { stepType: 'listen', config: { name: 'm', count: 3 }, saveToState: 'sum' },
          other: { stepType: 'listen', config: { name: 'm' } },
        },
        { state: { sum: { type: 'number' } } },
      ),
    );
    model.task();
    for (const payload of [1, 2]) model.signal('message', { name: 'm', payload });
    model.signal('message', { name: 'm', payload: 3, event: { key: 'k' } });
    model.task();
    expect(model.state.ending).toMatchObject({
      error: { code: 'join_failed', details: { a: { code: 'state_type' } } },
    });
    const state = armed(model);
    expect(parked(state)).toEqual(['both/a:three']);
    // The listener beside it has not seen them: it did not get them before.
    expect(state.inbox.map(({ payload, event }) => [payload, event])).toEqual([
      [1, undefined],
      [2, undefined],
      [3, { key: 'k' }],
    ]);
    expect(state.frames['both/b']?.visit?.path).toBe('both/b/other');
  });

  it('not where it would only repeat itself', () => {
    const loops = named({
      each: { stepType: 'loop', config: { while: 'true', maxIterations: 1 }, nextSteps: { loop: 'one' } },
      one: http(),
    });
    const model = new Model(loops);
    model.task();
    model.completeActivity(0);
    model.task();
    expect(() => armed(model)).toThrow('Fork');
    expect(() => new RetryPlan({ code: 'inbox_overflow', message: '', retryable: false })).toThrow('as a whole');
  });

  it('which of nested branches, their errors say', () => {
    const error = (path: string) => ({ code: 'x', message: '', path, retryable: false });
    const joined = {
      ...error('p'),
      code: 'join_failed',
      details: { a: { ...error('p/a/q'), code: 'race_failed', details: { l: error('p/a/q/l/s') } }, b: error('p/b/t') },
    };
    expect(failedPaths(joined)).toEqual(['p/a/q/l/s', 'p/b/t']);
  });
});
