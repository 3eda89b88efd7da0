import { describe, expect, it } from 'vitest';
import { PAUSE_PREFIX } from '../../src/contract/run/activity.ts';
import { sliceOf } from '../../src/history/chain.ts';
import { Fold } from '../../src/history/fold.ts';
import { countCalls } from '../support/work-counters.ts';
import { definitionAround, done, fold, history, scheduled, startedEvent, taken } from './histories.ts';
import { Model } from './model.ts';

const http = definitionAround({ stepType: 'http', config: { url: 'https://example.com/{{ input.what }}' } });
const approval = definitionAround({ stepType: 'approval', config: { message: 'Go on?' } }, ['approved', 'rejected']);
const began = [
  [0, startedEvent(http, { what: 'a' })],
  [1, scheduled],
  [2, taken],
  [3, done],
] as const;

describe('a row of the trace', () => {
  it('shows when an effect really ran, how often it was tried, and what went in and out', () => {
    const trace = fold(
      history(
        ...began,
        [3, { type: 'activityScheduled', activityId: 'it' }],
        [50, { type: 'activityStarted', scheduledId: 5, attempt: 1 }],
        [90, { type: 'activityCompleted', scheduledId: 5, result: { data: 7, meta: { status: 200 } } }],
        [91, scheduled],
        [92, taken],
        [93, done],
        [93, { type: 'closed', how: 'completed' }],
      ),
    );
    expect(trace.rows.map((row) => row.path)).toEqual(['start', 'it', 'end']);
    expect(trace.rows[1]).toEqual({
      path: 'it',
      stepSlug: 'it',
      stepType: 'http',
      status: 'completed',
      port: 'success',
      attempts: 1,
      visit: 1,
      eventId: 5,
      input: expect.objectContaining({ url: 'https://example.com/a' }),
      output: { type: 'http', data: 7, meta: { status: 200 } },
      startedAt: 50,
      completedAt: 90,
    });
    expect(trace.guesses).toEqual([]);
    expect(trace.state?.ending).toEqual({ status: 'completed', output: 7 });
  });

  it('counts the attempts of a step that failed, in its error too', () => {
    const cause = { kind: 'application', type: 'http_status', message: 'No.', details: [{ retryable: true }] } as const;
    const trace = fold(
      history(
        ...began,
        [3, { type: 'activityScheduled', activityId: 'it' }],
        [70, { type: 'activityStarted', scheduledId: 5, attempt: 3 }],
        [90, { type: 'activityFailed', scheduledId: 5, cause }],
        [91, scheduled],
        [92, taken],
        [93, done],
        [93, { type: 'closed', how: 'failed' }],
      ),
    );
    // Of three attempts history keeps the last one's start only, so the row begins with the visit.
    expect(trace.rows[1]).toMatchObject({ status: 'failed', attempts: 3, startedAt: 2, completedAt: 90 });
    expect(trace.rows[1]?.error).toMatchObject({ code: 'http_status', attempts: 3, path: 'it' });
  });

  it('shows what is in flight as running, with the attempts that the server counts', () => {
    const events = history(...began, [3, { type: 'activityScheduled', activityId: 'it' }]);
    const trace = fold(events, { pending: [{ activityId: 'it', attempt: 4 }] });
    expect(sliceOf([trace], 0, 10).rows[1]).toMatchObject({ status: 'running', attempts: 4 });
  });

  it('shows an approval as waiting, and as cancelled once the run was terminated', () => {
    const open = history([0, startedEvent(approval)], [1, scheduled], [2, taken], [3, done]);
    expect(sliceOf([fold(open)], 0, 10).rows[1]).toMatchObject({ path: 'it', status: 'waiting' });
    const ended = fold([...open, { type: 'closed', how: 'terminated', id: 5, time: 99 }]);
    expect(sliceOf([ended], 0, 10).rows[1]).toMatchObject({ status: 'cancelled', completedAt: 99 });
    expect(ended.guesses).toEqual([]);
  });

  it('takes the times of a local activity from its marker, and handles one that became a regular activity', () => {
    const local = { type: 'localActivity', summary: 'it', attempt: 1, backoff: false } as const;
    const times = { completedAt: 12 };
    const ended = fold(history(...began, [13, { ...local, ...times, result: { data: 1 } }]));
    expect(ended.rows[1]).toMatchObject({ status: 'completed', attempts: 1, startedAt: 2, completedAt: 12 });
    const late = fold(
      history(
        ...began,
        [13, { ...local, ...times, cause: { kind: 'timeout', timeoutType: 'START_TO_CLOSE' } }],
        [13, { type: 'activityScheduled', activityId: 'it' }],
        [14, { type: 'activityStarted', scheduledId: 6, attempt: 1 }],
        [20, { type: 'activityCompleted', scheduledId: 6, result: { data: 2 } }],
        [21, scheduled],
        [22, taken],
        [23, done],
      ),
    );
    expect(late.rows[1]).toMatchObject({ status: 'completed', attempts: 2, output: { data: 2 } });
  });

  it('ends before what follows it begins, also where servers disagree about the time', () => {
    const { rows } = fold(
      history(
        ...began,
        [3, { type: 'activityScheduled', activityId: 'it' }],
        [95, { type: 'activityStarted', scheduledId: 5, attempt: 1 }],
        [94, { type: 'activityCompleted', scheduledId: 5, result: { data: 7 } }],
        [91, scheduled],
        [92, taken],
        [93, done],
      ),
    );
    expect(rows.slice(1)).toMatchObject([
      { path: 'it', startedAt: 92, completedAt: 92 },
      { path: 'end', startedAt: 92, completedAt: 92 },
    ]);
  });

  it('begins with the first of several activities of the visit', () => {
    const { rows } = fold(
      history(
        ...began,
        [3, { type: 'activityScheduled', activityId: 'it' }],
        [50, { type: 'signal', name: 'retryStep', payload: { step: 'it' } }],
        [51, scheduled],
        [52, taken],
        [53, done],
        [53, { type: 'activityScheduled', activityId: 'it!2' }],
        [60, { type: 'activityStarted', scheduledId: 10, attempt: 1 }],
        [70, { type: 'activityCompleted', scheduledId: 10, result: { data: 7 } }],
        [71, scheduled],
        [72, taken],
        [73, done],
      ),
    );
    expect(rows[1]).toMatchObject({ path: 'it', status: 'completed', completedAt: 70 });
  });

  it('continues after a local activity that is retried after a pause, and counts both, also while it is tried', () => {
    const failed = { kind: 'application', type: 'http_status', details: [{ retryable: true, attempts: 1 }] } as const;
    const events = history(
      ...began,
      [13, { type: 'localActivity', summary: 'it', attempt: 1, backoff: false, cause: failed }],
      [13, { type: 'timerStarted', summary: `${PAUSE_PREFIX}it` }],
      [33, { type: 'timerFired', startedId: 6 }],
      [33, scheduled],
      [34, taken],
      [35, done],
      [35, { type: 'activityScheduled', activityId: 'it' }],
    );
    const open = new Fold('run.default.p.1');
    for (const event of events) open.push(event);
    expect(open.finish([{ activityId: 'it', attempt: 2 }]).rows[1]).toMatchObject({ status: 'running', attempts: 3 });
  });
});

describe('the order within one workflow task', () => {
  it('hands an update over between the signals around it', () => {
    const update = { type: 'updateAccepted', updateId: 'u', name: 'reject', payload: {} } as const;
    const early = fold(
      history(
        [0, startedEvent(approval)],
        [1, scheduled],
        [2, taken],
        [3, done],
        [10, scheduled],
        [11, { type: 'signal', name: 'approve', payload: {} }],
        [12, taken],
        [13, done],
        [13, { ...update, sequencingId: 5 }],
      ),
    );
    expect(early.state?.ending).toMatchObject({ output: { decision: 'rejected' } });
  });

  it('hands signals over before updates in the first task of a run, since nobody listened yet', () => {
    const trace = fold(
      history(
        [0, startedEvent(approval)],
        [1, scheduled],
        [2, { type: 'signal', name: 'approve', payload: {} }],
        [3, taken],
        [4, done],
        [4, { type: 'updateAccepted', updateId: 'u', name: 'reject', payload: {}, sequencingId: 2 }],
      ),
    );
    expect(trace.state?.ending).toMatchObject({ output: { decision: 'approved' } });
  });

  it('leaves out what no completed task has handed over yet', () => {
    const trace = fold(
      history(
        [0, startedEvent(approval)],
        [1, scheduled],
        [2, taken],
        [3, done],
        [4, { type: 'signal', name: 'approve', payload: {} }],
        [5, scheduled],
        [6, taken],
      ),
    );
    expect(trace.state?.ending).toBeUndefined();
  });

  it('ignores signals of other names and shapes, as the run does', () => {
    const trace = fold(
      history(
        [0, startedEvent(approval)],
        [1, scheduled],
        [2, { type: 'signal', name: 'approve', payload: { step: 1 } }],
        [2, { type: 'signal', name: 'hello', payload: {} }],
        [2, { type: 'signal', name: 'decide', payload: 'yes' }],
        [3, taken],
        [4, done],
      ),
    );
    expect(trace.state?.ending).toBeUndefined();
  });
});

describe('what history does not show', () => {
  it('marks a task that timed out while a local activity ran', () => {
    const marker = { type: 'localActivity', summary: 'it', attempt: 1, backoff: false, result: { data: 1 } } as const;
    const events = history(
      [0, startedEvent(http)],
      [1, scheduled],
      [2, taken],
      [3, { type: 'taskTimedOut' }],
      [4, scheduled],
      [5, taken],
      [6, done],
      [6, marker],
    );
    expect(fold(events).guesses).toEqual([{ eventId: 6, why: 'task_timed_out' }]);
  });

  it('marks a run that was carried on with another state than history gives', () => {
    const argument = { definition: approval, carried: { version: 1, state: {}, shared: [] } };
    const events = history([0, startedEvent(approval)], [1, scheduled], [2, taken], [3, done]);
    const trace = fold([...events, { type: 'closed', how: 'continued', argument, nextRunId: 'next', id: 5, time: 4 }]);
    expect(trace.guesses).toEqual([{ eventId: 5, why: 'carried_state_differs' }]);
  });

  it('has no rows for an argument that is no definition, and for one that does not compile', () => {
    for (const argument of [7, { steps: { a: { stepType: 'nothing' } } }, { steps: 1 }]) {
      const trace = fold(
        history(
          [0, { type: 'workflowStarted', argument }],
          [1, scheduled],
          [2, taken],
          [3, done],
          [3, { type: 'closed', how: 'failed' }],
        ),
      );
      expect(trace).toMatchObject({ state: undefined, rows: [], guesses: [] });
    }
  });
});

const WORDS = 'word '.repeat(400);

describe('a long history', () => {
  const ticks = definitionAround({ stepType: 'loop', config: { items: '{{ input.items }}' } }, ['done']);
  const looping = {
    ...ticks,
    steps: {
      ...ticks.steps,
      it: { ...ticks.steps['it']!, nextSteps: { loop: 'ask', done: 'end' } },
      ask: { stepType: 'http', config: { url: 'https://example.com' } },
    },
  };

  it('folds a hundred thousand events with as much work for each, and keeps only the rows asked for', async () => {
    const rounds = 17_000;
    const model = new Model(looping, { items: Array.from({ length: rounds }, () => 0) });
    model.task();
    for (let n = 0; n < rounds; n++) {
      model.completeActivity(0, { data: null });
      model.task();
    }
    model.close();
    const events = model.histories[0]!;
    expect(events.length).toBeGreaterThan(100_000);
    let trace = fold([]);
    const calls = await countCalls(() => {
      trace = fold(events, { window: { from: 100, to: 103 } });
    });
    expect(calls / events.length).toBeLessThan(250);
    expect(trace.state?.ending?.status).toBe('completed');
    expect(trace.count).toBe(rounds + 3);
    expect(trace.rows.map((row) => row.path)).toEqual(['it~98/ask', 'it~99/ask', 'it~100/ask']);
  });

  it('keeps no more rows than their bytes allow, and a page ends where they end', () => {
    const wordy = {
      ...looping,
      steps: { ...looping.steps, ask: { stepType: 'set', config: { values: { x: WORDS } } } },
    };
    const model = new Model(wordy, { items: Array.from({ length: 1_000 }, () => 0) });
    for (model.task(); model.openActivities > 0; model.task()) model.completeActivity(0);
    const events = model.histories[0]!;
    const trace = fold(events, { window: { from: 0, to: 10_000, bytes: 100_000 } });
    expect(trace.count).toBe(1_003);
    expect(trace.rows.length).toBe(trace.window.to);
    expect(trace.rows.length).toBeLessThan(60);
    const first = sliceOf([trace], 0, 1_000);
    expect(first).toMatchObject({ total: 1_003 });
    expect(first.rows).toHaveLength(trace.rows.length);
    expect(sliceOf([trace], 0, 1_000, 1).rows).toHaveLength(1);
    const next = trace.rows.length;
    const again = fold(events, { window: { from: next, to: next + 10 } });
    expect(sliceOf([again], next, 10).rows.map((row) => row.path)[0]).toBe(`it~${next - 2}/ask`);
  });

  it('gives way where the run gave way', () => {
    const pure = { ...looping, steps: { ...looping.steps, ask: { stepType: 'checkpoint' } } };
    const model = new Model(pure, { items: Array.from({ length: 10_000 }, () => 0) });
    for (model.task(); model.openActivities > 0; model.task()) model.completeActivity(0);
    const trace = fold(model.histories[0]!);
    expect(trace.state).toEqual(model.state);
    expect(trace.state?.ending?.status).toBe('completed');
  });
});
