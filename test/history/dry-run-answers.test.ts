import { describe, expect, it } from 'vitest';
import type { Definition, StepDefinition } from '../../src/definition/document/types.ts';
import { dryRun } from '../../src/history/dry-run.ts';
import type { DryAnswers } from '../../src/history/dry-run-answers.ts';

const NOW = Date.parse('2026-01-15T10:30:00Z');

function walk(steps: { [slug: string]: StepDefinition }, answers: DryAnswers, more: object = {}) {
  const definition: Definition = { name: 'Dry', slug: 'dry', steps, ...more };
  return dryRun(definition, { now: NOW, answers });
}

const said: StepDefinition = { stepType: 'finish', config: { output: '{{ lastOutput.data }}' } };
const review = (config: object = {}): StepDefinition => ({
  stepType: 'approval',
  config: { message: 'Go?', timeout: '2d', reminders: ['1d'], ...config },
  nextSteps: { approved: 'said', rejected: 'said', timeout: 'said' },
});
const lines = (run: ReturnType<typeof walk>) => run.steps.map(({ path, status, port }) => [path, status, port]);

describe('answers of a dry run', () => {
  it('decide approvals, with comment and form', () => {
    const steps = { ask: review({ form: { amount: 'number' }, commentRequired: true }), said };
    const run = walk(steps, { ask: { decision: 'approved', comments: 'Fine', form: { amount: 3 }, by: 'ann' } });
    expect(run).toMatchObject({
      status: 'completed',
      problems: [],
      output: { decision: 'approved', comments: 'Fine', submittedData: { amount: 3 }, decidedBy: 'ann' },
    });
    expect(walk({ ask: review(), said }, { ask: { decision: 'rejected' } }).output).toMatchObject({
      decision: 'rejected',
    });
  });

  it('give input, messages and callbacks', () => {
    const steps: { [slug: string]: StepDefinition } = {
      ask: {
        stepType: 'user_input',
        config: { message: 'Where?', form: { city: 'string' } },
        nextSteps: { submitted: 'hear' },
      },
      hear: { stepType: 'listen', config: { name: ['paid', 'void'] }, nextSteps: { received: 'back' } },
      back: { stepType: 'wait_callback', config: {}, nextSteps: { received: 'end' } },
      end: {
        stepType: 'finish',
        config: {
          output: {
            ask: '{{ steps.ask.output.data }}',
            hear: '{{ steps.hear.output.data }}',
            back: '{{ steps.back.output.data }}',
          },
        },
      },
    };
    const run = walk(steps, {
      ask: { form: { city: 'Bonn' } },
      hear: { message: { sum: 7 }, name: 'void' },
      back: { message: { ok: true } },
    });
    expect(run.problems).toEqual([]);
    expect(run).toMatchObject({ status: 'completed', waits: [] });
    expect(JSON.stringify(run.output)).toContain('Bonn');
    expect(JSON.stringify(run.output)).toContain('"sum":7');
    expect(JSON.stringify(run.output)).toContain('"ok":true');
  });

  it('let time pass until a timeout, and ask again those to whom it is escalated', () => {
    const timedOut = walk({ ask: review(), said }, { ask: { timeout: true } });
    expect(timedOut.output).toMatchObject({ decision: 'timeout' });
    expect(timedOut.steps[0]?.completedAt).toBe('2026-01-17T10:30:00.000Z');
    const escalated = { ask: review({ onTimeout: 'escalate', escalateTo: ['boss'] }), said };
    expect(walk(escalated, { ask: { timeout: true } })).toMatchObject({
      status: 'waiting',
      waits: [{ path: 'ask', audience: ['user:boss'] }],
    });
    expect(walk(escalated, { ask: [{ timeout: true }, { decision: 'approved' }] }).output).toMatchObject({
      decision: 'approved',
      reviewedAt: '2026-01-17T10:30:00.000Z',
    });
  });

  it('are told by path, or by slug for every visit, and in turn for the votes of a quorum', () => {
    const steps: { [slug: string]: StepDefinition } = {
      each: {
        stepType: 'forEach',
        config: { items: [1, 2, 3], concurrency: 1 },
        nextSteps: { item: 'ask', done: 'said' },
      },
      ask: {
        stepType: 'approval',
        config: { message: 'Go?', quorum: 2 },
        nextSteps: {},
      },
      said: { stepType: 'finish', config: { output: 1 } },
    };
    const twice = [
      { decision: 'approved', by: 'ann' },
      { decision: 'approved', by: 'ben' },
    ] as const;
    const all = walk(steps, { ask: twice });
    expect(lines(all).filter(([path]) => String(path).endsWith('ask'))).toEqual([
      ['each[0]/ask', 'completed', 'approved'],
      ['each[1]/ask', 'completed', 'approved'],
      ['each[2]/ask', 'completed', 'approved'],
    ]);
    const one = walk(steps, { 'each[0]/ask': twice });
    expect(one).toMatchObject({ status: 'waiting', waits: [{ path: 'each[1]/ask' }], problems: [] });
  });

  it('say what does not fit, and what nothing asked for', () => {
    const steps = { ask: review({ form: { amount: 'number' } }), said };
    expect(walk(steps, { ask: { form: { amount: 1 } } })).toMatchObject({
      status: 'waiting',
      problems: [{ pointer: '/answers/ask', code: 'refused_answer' }],
    });
    const [problem] = walk(steps, { ask: { decision: 'approved', form: { amount: 'x' } } }).problems;
    expect(problem).toMatchObject({ code: 'refused_answer', message: expect.stringContaining('form') });
    expect(walk(steps, { asks: { decision: 'approved' } }).problems).toMatchObject([
      { pointer: '/answers/asks', code: 'unused_answer' },
    ]);
    const forEver = { ask: review({ timeout: undefined, reminders: undefined }), said };
    expect(walk(forEver, { ask: { timeout: true } }).problems).toMatchObject([{ code: 'refused_answer' }]);
    const hear: StepDefinition = {
      stepType: 'listen',
      config: { name: 'paid', match: 'payload.sum > 5' },
      nextSteps: { received: 'said' },
    };
    expect(walk({ hear, said }, { hear: { message: { sum: 1 } } })).toMatchObject({
      status: 'waiting',
      problems: [{ code: 'untaken_message' }],
    });
  });
});
