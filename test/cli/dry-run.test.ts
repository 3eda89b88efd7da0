import { describe, expect, it } from 'vitest';
import type { Definition, StepDefinition } from '../../src/definition/document/types.ts';
import { type DryRunOptions, dryRun } from '../../src/history/dry-run.ts';

/** 2026-01-15T10:30:00Z */
const NOW = 1_768_473_000_000;

function walk(steps: { [slug: string]: StepDefinition }, options: Partial<DryRunOptions> = {}, more: object = {}) {
  const definition: Definition = { name: 'Dry', slug: 'dry', steps, ...more };
  return dryRun(definition, { now: NOW, ...options });
}

const fetchOrder: StepDefinition = {
  stepType: 'http',
  config: { url: 'https://shop.test/orders/{{ input.id }}', headers: { authorization: 'Bearer {{ secrets.KEY }}' } },
  nextSteps: { success: 'done' },
};
const done: StepDefinition = { stepType: 'finish', config: { output: '{{ lastOutput.data }}' } };

describe('a dry run', () => {
  it('answers effects by null, and shows the configs that they would have had', () => {
    const run = walk({ fetch: fetchOrder, done }, { input: { id: 7 } });
    expect(run).toMatchObject({ status: 'completed', output: null, waits: [], problems: [] });
    expect(run.steps).toMatchObject([
      {
        path: 'fetch',
        stepType: 'http',
        status: 'completed',
        input: { url: 'https://shop.test/orders/7' },
        output: { data: null, meta: { mocked: true } },
        startedAt: '2026-01-15T10:30:00.000Z',
      },
      { path: 'done', status: 'completed', input: { output: null } },
    ]);
  });

  it('answers effects by their presets, and evaluates their configs all the same', () => {
    const run = walk({ fetch: fetchOrder, done }, { input: { id: 7 }, presets: { fetch: { total: 12 } } });
    expect(run).toMatchObject({ status: 'completed', output: { total: 12 } });
    expect(run.steps[0]).toMatchObject({
      input: { url: 'https://shop.test/orders/7' },
      output: { meta: { preset: true } },
    });
  });

  it('lets a preset fail an effect, or send it by another port', () => {
    const steps = { fetch: { ...fetchOrder, nextSteps: { success: 'done', error: 'sorry' } }, done, sorry: done };
    const failed = walk(steps, { input: { id: 7 }, presets: { fetch: { error: { code: 'gone' } } } });
    expect(failed.steps.map(({ path, status, port }) => [path, status, port])).toEqual([
      ['fetch', 'failed', 'error'],
      ['sorry', 'completed', undefined],
    ]);
    const sent = walk(steps, { input: { id: 7 }, presets: { fetch: { data: 1, port: 'error' } } });
    expect(sent.steps[1]).toMatchObject({ path: 'sorry' });
  });

  it('says whose output is missing where a step cannot take null', () => {
    const told: StepDefinition = { ...done, config: { output: 'Paid: {{ steps.pay.output.data.ref }}' } };
    const pay: StepDefinition = { ...fetchOrder, outputVariable: 'paid', nextSteps: { success: 'done' } };
    const expected = {
      pointer: '/presets/pay',
      code: 'preset_missing',
      message: "'done' reads the output of 'pay', which is null: a dry run has no effects.",
      hint: "Give an output in place of 'pay'.",
    };
    const failed = walk({ pay, done: told }, { input: { id: 7 } });
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'unresolved_reference' } });
    expect(failed.problems).toEqual([expected]);
    const byOutput = { ...done, config: { output: 'Paid: {{ outputs.paid.data.ref }}' } };
    expect(walk({ pay, done: byOutput }, { input: { id: 7 } }).problems).toEqual([expected]);
    const presets = { pay: { ref: 'A-1' } };
    expect(walk({ pay, done: told }, { input: { id: 7 }, presets })).toMatchObject({
      status: 'completed',
      output: 'Paid: A-1',
      problems: [],
    });
  });

  it('still fails where a config cannot be evaluated', () => {
    expect(walk({ fetch: fetchOrder, done })).toMatchObject({
      status: 'failed',
      error: { code: 'unresolved_reference', stepSlug: 'fetch' },
    });
  });

  it('walks actions that this host does not offer, and undoes with them', () => {
    const run = walk(
      {
        book: {
          stepType: 'action',
          config: { type: 'shop.book', parameters: { id: '{{ input.id }}' } },
          rollback: { stepType: 'action', config: { type: 'shop.unbook' } },
          nextSteps: { success: 'stop' },
        },
        stop: { stepType: 'fail', config: { code: 'enough', message: 'Enough.' } },
      },
      { input: { id: 3 } },
      { config: { onFailure: 'rollback' } },
    );
    expect(run).toMatchObject({ status: 'failed', error: { code: 'enough' } });
    expect(run.steps[0]).toMatchObject({ path: 'book', status: 'completed', input: { parameters: { id: 3 } } });
  });

  it('answers for runs that the run would have started', () => {
    const call: StepDefinition = {
      stepType: 'run_workflow',
      config: { workflow: 'other' },
      nextSteps: { success: 'done' },
    };
    expect(walk({ call, done }, { presets: { call: 'theirs' } })).toMatchObject({
      status: 'completed',
      output: 'theirs',
    });
  });

  it('sleeps in no time, and stops where somebody is asked', () => {
    const run = walk({
      rest: { stepType: 'sleep', config: { duration: '2d' }, nextSteps: { success: 'review' } },
      review: { stepType: 'approval', config: { message: 'Well?', timeout: '1d' }, nextSteps: { approved: 'done' } },
      done,
    });
    expect(run).toMatchObject({
      status: 'waiting',
      waits: [{ path: 'review', kind: 'approval', message: 'Well?', since: '2026-01-17T10:30:00.000Z' }],
    });
    expect(run.steps.map(({ path, status }) => `${path} ${status}`)).toEqual(['rest completed', 'review waiting']);
  });

  it('lets the limit of a wait come before what comes later by itself, as the real run would', () => {
    const racing = (wait: StepDefinition, nap: string): { [slug: string]: StepDefinition } => ({
      r: { stepType: 'race', nextSteps: { short: 'wait', long: 'nap', done: 'out' } },
      wait: { ...wait, nextSteps: { timeout: 'late' } },
      late: { stepType: 'set', config: { values: { v: 'late' } } },
      nap: { stepType: 'sleep', config: { duration: nap } },
      out: { stepType: 'finish', config: { output: '{{ steps.r.output.data.winner }}' } },
    });
    const waits: StepDefinition[] = [
      { stepType: 'wait_callback', config: { timeout: '2s' } },
      { stepType: 'listen', config: { name: 'news', timeout: '2s' } },
      { stepType: 'approval', config: { message: 'Well?', timeout: '2s' } },
      { stepType: 'user_input', config: { message: 'What?', timeout: '2s' } },
    ];
    for (const wait of waits) {
      expect(walk(racing(wait, '4s'))).toMatchObject({ status: 'completed', output: 'short' });
      expect(walk(racing(wait, '1s'))).toMatchObject({ status: 'completed', output: 'long' });
    }
    const nap: StepDefinition = { stepType: 'sleep', config: { duration: '2h' } };
    expect(walk({ nap }, {}, { config: { timeout: '1h' } })).toMatchObject({ error: { code: 'run_timeout' } });
  });

  it('ends as the real step would where a preset names a port that is not wired', () => {
    const fetch = { ...fetchOrder, nextSteps: { success: 'done' } };
    const bad = { data: null, port: 'error' };
    expect(walk({ fetch, done }, { presets: { fetch: bad } })).toMatchObject({
      status: 'failed',
      error: { code: 'preset_error', stepSlug: 'fetch' },
    });
    const told = { ...bad, meta: { error: { code: 'http_status', message: 'It answered 500.' } } };
    expect(walk({ fetch, done }, { presets: { fetch: told } })).toMatchObject({ error: { code: 'http_status' } });
    const going: StepDefinition = { ...fetch, onError: 'continue' };
    expect(walk({ fetch: going, done }, { presets: { fetch: bad } })).toMatchObject({ status: 'completed' });
    const skipped = walk({ fetch, done }, { presets: { fetch: { data: 1, port: 'skipped' } } });
    expect(skipped.steps).toMatchObject([{ path: 'fetch', status: 'skipped' }, { path: 'done' }]);

    const ends = (step: StepDefinition, port: string) =>
      walk({ ask: step, done }, { presets: { ask: { data: {}, port } } });
    const review: StepDefinition = {
      stepType: 'approval',
      config: { message: 'Well?' },
      nextSteps: { approved: 'done' },
    };
    expect(ends(review, 'timeout')).toMatchObject({ status: 'failed', error: { code: 'approval_timeout' } });
    expect(ends(review, 'rejected')).toMatchObject({ status: 'completed' });
    const strict = { ...review, config: { message: 'Well?', onReject: 'cancel' } };
    expect(ends(strict, 'rejected')).toMatchObject({ status: 'cancelled' });
    const listen: StepDefinition = { stepType: 'listen', config: { name: 'n' } };
    expect(ends(listen, 'timeout')).toMatchObject({ error: { code: 'listen_timeout' } });
    const called: StepDefinition = { stepType: 'wait_callback' };
    expect(ends(called, 'timeout')).toMatchObject({ error: { code: 'callback_timeout' } });
    const asked: StepDefinition = { stepType: 'user_input', config: { message: 'What?' } };
    expect(ends(asked, 'timeout')).toMatchObject({ error: { code: 'input_timeout' } });
    const withDefault = { ...asked, config: { message: 'What?', default: 1 }, nextSteps: { submitted: 'done' } };
    expect(ends(withDefault, 'timeout').steps.map(({ path }) => path)).toEqual(['ask', 'done']);
  });

  it('goes past people by presets, and by scripted decisions', () => {
    const steps: { [slug: string]: StepDefinition } = {
      review: { stepType: 'approval', config: { message: 'Well?' }, nextSteps: { approved: 'done', rejected: 'no' } },
      done,
      no: { stepType: 'finish', config: { output: 'no' } },
    };
    expect(walk(steps, { presets: { review: { data: {}, port: 'rejected' } } }).output).toBe('no');
    const events = [{ when: 'review', signal: 'approve', payload: { comments: 'Fine.' } }];
    expect(walk(steps, { events }).output).toMatchObject({ decision: 'approved', comments: 'Fine.' });
  });

  it('says which preset is for no step, and why a definition cannot be walked', () => {
    expect(walk({ done }, { presets: { don: 1 } }).problems).toMatchObject([{ code: 'unknown_step' }]);
    expect(walk({ a: { stepType: 'finish', nextSteps: { success: 'b' } } })).toMatchObject({
      status: 'failed',
      steps: [],
      problems: [{ pointer: '/steps/a/nextSteps/success' }],
    });
  });

  it('ends early where it is told to, and says so', () => {
    const round: { [slug: string]: StepDefinition } = {
      a: { stepType: 'set', config: { values: { text: 'x' } }, nextSteps: { success: 'b' } },
      b: { stepType: 'set', config: { values: { text: '{{ variables.text }}' } }, nextSteps: { success: 'a' } },
    };
    const bySteps = walk(round, { maxSteps: 100, maxRows: 10 });
    expect(bySteps).toMatchObject({ stepsTotal: 100, problems: [{ code: 'dry_run_too_long' }] });
    expect(bySteps.steps).toHaveLength(10);
    let left = 50;
    expect(walk(round, { hasTimedOut: () => --left < 0 }).problems).toMatchObject([{ code: 'dry_run_too_long' }]);
    expect(walk(round, { maxBytes: 1_000 }).problems).toMatchObject([{ code: 'dry_run_too_long' }]);
  });
});
