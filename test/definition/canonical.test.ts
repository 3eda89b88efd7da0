import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCanonical } from '../../src/compat/dialects.ts';
import { definitionHash, resolveStart } from '../../src/definition/document/canonical.ts';
import { parseDocument } from '../../src/definition/document/parse.ts';
import type { Definition, TriggerDefinition } from '../../src/definition/document/types.ts';
import { canonicalText } from '../../src/json/canonical-text.ts';
import type { Json } from '../../src/json/json.ts';

const refund: Definition = {
  name: 'Refund',
  slug: 'refund',
  steps: {
    received: { stepType: 'trigger', nextSteps: { success: 'pay' } },
    pay: { stepType: 'set', config: { values: { b: 1, a: [1, 2] } } },
  },
};

function hashOf(text: string): string {
  const parsed = parseDocument(text);
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  const { definition, problems } = toCanonical(parsed.document);
  if (definition === undefined) throw new Error(JSON.stringify(problems));
  return definitionHash(definition);
}

describe('canonical JSON', () => {
  it('writes numbers, strings and keys as RFC 8785 does', () => {
    const value = {
      numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 1e-27],
      string: '€$\u000f\nA\'B"\\"/',
      literals: [null, true, false],
    };
    expect(canonicalText(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\"/"}',
    );
  });

  it('sorts keys by UTF-16 code units, deeply', () => {
    expect(
      canonicalText({ '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, ö: { b: 1, a: 2 } }),
    ).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":{"a":2,"b":1},"€":1,"😀":5,"\ufb33":3}');
  });

  it('is the same for any order of keys', () => {
    const shuffled = (value: Json): Json =>
      Array.isArray(value)
        ? value.map(shuffled)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value)
                .reverse()
                .map(([key, member]) => [key, shuffled(member)]),
            )
          : value;
    fc.assert(
      fc.property(fc.jsonValue(), (value) => canonicalText(value as Json) === canonicalText(shuffled(value as Json))),
    );
  });
});

describe('the hash of a definition', () => {
  it('is sha256: and 64 hexadecimal digits', () => {
    expect(definitionHash(refund)).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('is one for YAML, JSON and another order of keys', () => {
    const yaml =
      'slug: refund\nsteps:\n  pay:\n    config: {values: {a: [1, 2], b: 1}}\n    stepType: set\n  received: ' +
      '{nextSteps: {success: pay}, stepType: trigger}\nname: Refund\n';
    expect(hashOf(yaml)).toBe(hashOf(JSON.stringify(refund)));
    expect(hashOf(yaml)).toBe(definitionHash(refund));
  });

  it('is one for short forms and what they stand for', () => {
    const written = (state: string, limit: string): string =>
      `{"name":"R","slug":"r","state":{"a":${state}},"config":{${limit}},"steps":{"a":{"stepType":"trigger"}}}`;
    expect(hashOf(written('"number"', '"timeoutMs":5'))).toBe(hashOf(written('{"type":"number"}', '"timeout":5')));
  });

  it('does not see version, enabled, timestamps and trigger secrets', () => {
    const triggers = (secret: string): TriggerDefinition[] => [
      { name: 'hook', type: 'webhook', config: { path: 'p', secret } },
    ];
    const one = { ...refund, version: '1.0.0', enabled: true, triggers: triggers('a') };
    const other = { ...refund, version: '2.0.0', enabled: false, triggers: triggers('b'), updatedAt: 'now' };
    expect(definitionHash(one)).toBe(definitionHash(other));
    expect(definitionHash(one)).not.toBe(definitionHash(refund));
  });

  it('sees the order of lists and every value', () => {
    const changed = {
      ...refund,
      steps: { ...refund.steps, pay: { stepType: 'set', config: { values: { b: 1, a: [2, 1] } } } },
    };
    expect(definitionHash(changed)).not.toBe(definitionHash(refund));
  });

  it('is that of the definition with its start written out', () => {
    expect(definitionHash({ ...refund, start: 'received' })).toBe(definitionHash(refund));
    expect(definitionHash({ ...refund, start: 'pay' })).not.toBe(definitionHash(refund));
  });
});

describe('where a run starts', () => {
  it.each([
    ['what the definition says', { start: 'b', steps: { a: { stepType: 'trigger' }, b: { stepType: 'set' } } }, 'b'],
    ['the only trigger', { steps: { a: { stepType: 'set', order: 0 }, b: { stepType: 'trigger' } } }, 'b'],
    ['the only starting_step', { steps: { a: { stepType: 'set' }, b: { stepType: 'starting_step' } } }, 'b'],
    ['the lowest order', { steps: { a: { stepType: 'set', order: 2 }, b: { stepType: 'set', order: 1 } } }, 'b'],
    [
      'the lowest order of several triggers',
      { steps: { a: { stepType: 'trigger', order: 2 }, b: { stepType: 'trigger', order: 1 } } },
      'b',
    ],
    ['the first as written', { steps: { a: { stepType: 'set' }, b: { stepType: 'set' } } }, 'a'],
    ['nowhere', { steps: {} }, undefined],
  ])('%s', (_, definition, start) => {
    expect(resolveStart(definition)).toBe(start);
  });
});
