import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/json/json.ts';
import type { Outcome } from '../../src/steps/kind.ts';
import { runEmployee, shapeAnswer } from '../../src/steps/kinds/run-employee.ts';
import { runWorkflow } from '../../src/steps/kinds/run-workflow.ts';
import { begin, Driven } from './kind-driver.ts';

const held = (outcome: Outcome): Extract<Outcome, { do: 'suspend' }> => {
  if (outcome.do !== 'suspend') throw new Error(`It did not hold: ${JSON.stringify(outcome)}`);
  return outcome;
};

describe('run_workflow', () => {
  it('asks for a child with what its config evaluates to, and waits', () => {
    const config = { workflow: '{{ input.which }}', version: '1.0.0', input: { id: '{{ input.id }}' } };
    const outcome = held(begin(runWorkflow, config, { roots: { input: { which: 'refund', id: 7 } } }));
    expect(outcome.children).toEqual([{ workflow: 'refund', version: '1.0.0', input: { id: 7 } }]);
    expect(outcome.waiting).toEqual({ kind: 'child', name: 'refund' });
  });

  it('gives the child an empty input where it has none to give', () => {
    expect(held(begin(runWorkflow, { workflow: 'refund' })).children).toEqual([{ workflow: 'refund', input: {} }]);
  });

  it('does not wait where wait is false', () => {
    const outcome = held(
      begin(runWorkflow, { workflow: 'refund', wait: '{{ input.no }}' }, { roots: { input: { no: false } } }),
    );
    expect(outcome.children).toEqual([{ workflow: 'refund', input: {}, wait: false }]);
  });

  it('ends with the output of the run and its id', () => {
    const driven = new Driven(runWorkflow, { workflow: 'refund' });
    driven.begin();
    const result = { data: { paid: 1 }, meta: { executionId: 'run.default.refund.child-1' } };
    expect(driven.resume({ on: 'completed', suffix: '', result })).toEqual({
      do: 'end',
      port: 'success',
      data: { paid: 1 },
      meta: { executionId: 'run.default.refund.child-1' },
    });
  });

  it('fails as the run failed', () => {
    const driven = new Driven(runWorkflow, { workflow: 'refund' });
    driven.begin();
    const error = { code: 'no_stock', message: 'Nothing left.', retryable: false };
    expect(driven.resume({ on: 'failed', suffix: '', error })).toEqual({ do: 'fail', error });
  });

  it.each([{}, { workflow: null }])('cannot be planned without a workflow: %j', (config) => {
    expect(() => begin(runWorkflow, config)).toThrow(/slug of a workflow/);
  });
});

describe('run_employee', () => {
  const config = { employee: 'clerk', assignment: 'Sort {{ input.what }}' };

  it('runs the employee with the assignment, the attachments and the schema', () => {
    const given = { ...config, attachments_json: '[{"name": "a.pdf"}]', responseSchema: { kind: 'string' } };
    const outcome = held(begin(runEmployee, given, { roots: { input: { what: 'mail' } } }));
    expect(outcome.children).toEqual([
      {
        workflow: 'clerk',
        employee: true,
        input: {
          assignment: 'Sort mail',
          attachments_json: '[{"name": "a.pdf"}]',
          attachments: [{ name: 'a.pdf' }],
          responseSchema: { kind: 'string' },
        },
      },
    ]);
  });

  it('refuses attachments that are no JSON', () => {
    expect(() => begin(runEmployee, { ...config, attachments_json: '[{' }, { roots: { input: { what: '' } } })).toThrow(
      /attachments_json must be JSON/,
    );
  });

  const now = { isMarked: () => true };
  const format = { kind: 'string', urgent: 'boolean' };
  it.each<[string, Json, Json]>([
    ['an object', { kind: 'a', urgent: true }, { kind: 'a', urgent: true }],
    ['JSON', '{"kind": "a", "urgent": false}', { kind: 'a', urgent: false }],
    ['JSON in a fence', 'Here:\n```json\n{"kind": "a", "urgent": true}\n```\nDone.', { kind: 'a', urgent: true }],
  ])('takes an answer that is %s', (_what, answer, expected) => {
    expect(shapeAnswer(now, format, answer)).toEqual(expected);
  });

  it('makes plain text the one member that is asked for', () => {
    expect(shapeAnswer(now, { summary: 'string' }, 'All is well.')).toEqual({ summary: 'All is well.' });
  });

  it('leaves an answer alone where no schema is given', () => {
    expect(shapeAnswer(now, undefined, '{"a": 1}')).toBe('{"a": 1}');
  });

  it.each<Json>(['no JSON at all', { kind: 'a' }, '{"kind": 1, "urgent": true}', null])('refuses %j', (answer) => {
    expect(() => shapeAnswer(now, format, answer)).toThrow(expect.objectContaining({ code: 'invalid_response' }));
  });
});
