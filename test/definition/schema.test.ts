import { describe, expect, it } from 'vitest';
import { schemaProblems } from '../../src/definition/document/schema.ts';
import type { JsonObject } from '../../src/json/json.ts';

const minimal: JsonObject = { name: 'A', slug: 'a', steps: { a: { stepType: 'trigger' } } };

function found(change: JsonObject): { pointer: string; code: string; message: string; hint?: string } {
  const [first] = schemaProblems({ ...minimal, ...change });
  if (first === undefined) throw new Error('no problem');
  return first;
}

describe('the shape of a document', () => {
  it('has one operator in a condition', () => {
    const when = (condition: JsonObject) => ({ steps: { a: { stepType: 'trigger', when: condition } } });
    expect(schemaProblems({ ...minimal, ...when({ ref: 'input.n', eq: null }) })).toEqual([]);
    expect(found(when({ ref: 'input.n', gt: 1, lt: 5 }))).toMatchObject({
      pointer: '/steps/a/when/lt',
      code: 'invalid_value',
      message: '"lt": a condition has one comparison: write an expression for more.',
    });
  });

  it.each([' ', '\t', '\u00a0', '\u200b', '\u2060 \u00ad', '\u3164'])('has names that can be seen: not %j', (name) => {
    expect(found({ name })).toMatchObject({ pointer: '/name', code: 'invalid_value' });
    expect(found({ triggers: [{ type: 'manual', name }] })).toMatchObject({ pointer: '/triggers/0/name' });
    for (const seen of ['é', '👍', '.', 'ا', `x${name}`])
      expect(schemaProblems({ ...minimal, name: seen })).toEqual([]);
  });

  it('takes the example of LANGUAGE.md', () => {
    const document: JsonObject = {
      ...minimal,
      type: 'structured',
      version: '1.0.0',
      tags: ['finance'],
      flow: 'ports',
      input: { orderId: 'string', amount: { type: 'number', description: 'in cents' } },
      state: { attempts: { type: 'number' }, customer: { type: 'string', searchable: true } },
      config: {
        timeout: '30d',
        retryPolicy: { maxAttempts: 3, initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' },
        variables: { limit: 10_000 },
        secrets: { PAYMENTS_KEY: 'payments/live' },
        maxSteps: 1_000_000,
        mode: 'parallel',
        debounce: { key: 'customer.id', seconds: 30 },
        concurrency: { limit: 10, key: '{{ input.customer }}', overflow: 'queue' },
        onFailure: 'fail',
      },
      constraints: { allowSelfModification: false },
      output: '{{ steps.pay.output.data }}',
    };
    expect(schemaProblems(document)).toEqual([]);
  });

  it.each<[JsonObject, string, string]>([
    [{ versoin: '1.0.0' }, '/versoin', 'unknown_member'],
    [{ slug: 'Not A Slug' }, '/slug', 'invalid_value'],
    [{ version: 1 }, '/version', 'wrong_type'],
    [{ version: '1' }, '/version', 'invalid_value'],
    [{ flow: 'dags' }, '/flow', 'invalid_value'],
    [{ steps: {} }, '/steps', 'invalid_value'],
    [{ steps: { 'a b': { stepType: 'set' } } }, '/steps/a b', 'invalid_name'],
    [{ steps: { a: {} } }, '/steps/a/stepType', 'missing_member'],
    [{ steps: { a: 3 } }, '/steps/a', 'wrong_type'],
    [{ steps: { a: { stepType: 'set', retry: { maxattempts: 2 } } } }, '/steps/a/retry/maxattempts', 'unknown_member'],
    [{ steps: { a: { stepType: 'set', retry: { maxAttempts: 0 } } } }, '/steps/a/retry/maxAttempts', 'invalid_value'],
    [{ steps: { a: { stepType: 'set', when: { ref: 1 } } } }, '/steps/a/when/ref', 'wrong_type'],
    [{ steps: { a: { stepType: 'set', nextSteps: { 'x/y': 1 } } } }, '/steps/a/nextSteps/x~1y', 'wrong_type'],
    [{ config: { concurrency: {} } }, '/config/concurrency/limit', 'missing_member'],
    [{ triggers: [{ name: 'x', type: 'hook' }] }, '/triggers/0/type', 'invalid_value'],
  ])('%j: at %s, %s', (change, pointer, code) => {
    expect(found(change)).toMatchObject({ pointer, code });
  });

  it('says what was probably meant', () => {
    expect(found({ versoin: '1.0.0' }).hint).toBe('Did you mean "version"?');
    expect(found({ flow: 'Dag' }).hint).toBe('Did you mean "dag"?');
    expect(found({ steps: { a: { stepType: 'set', nextstep: {} } } }).hint).toBe('Did you mean "nextSteps"?');
    expect(found({ version: 2 }).hint).toBe('Write it in quotes: "2".');
  });

  it('names what was expected and what was found', () => {
    expect(found({ steps: { a: { stepType: 'set', local: 'no' } } }).message).toBe(
      'Expected boolean or "auto", got "no".',
    );
    expect(found({ config: { timeout: {} } }).message).toBe('Expected number or string, got object.');
    // What YAML has where nothing is written.
    expect(found({ steps: { a: { stepType: null } } }).message).toBe(
      'Nothing is written here (null): expected string.',
    );
    expect(found({ config: { timeout: null } }).message).toBe(
      'Nothing is written here (null): expected number or string.',
    );
  });
});
