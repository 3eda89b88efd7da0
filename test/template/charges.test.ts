/** What compares or reads texts is charged by their length, so that no expression computes long without its limit. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/json/json.ts';
import { beginEvaluation } from '../../src/template/evaluation.ts';
import { evaluate, parseExpression } from '../../src/template/expression.ts';
import { MAX_WORK } from '../../src/template/limits.ts';
import { createFinder } from '../../src/template/text-search.ts';
import { countCharactersRead } from '../support/work-counters.ts';
import { errorOf, value } from './evaluate.ts';

const LENGTH = 900_000;
/** Two texts that are the same, or nearly so, and not one object, as a body gives them. */
const long = (end = ''): string => JSON.parse(JSON.stringify('x'.repeat(LENGTH) + end)) as string;

const unitsOf = (source: string, roots: { [root: string]: Json }): number => {
  const meter = { units: 0 };
  evaluate(parseExpression(source), { root: (name) => roots[name] }, { now: 0, meter });
  return meter.units;
};

describe('texts', () => {
  const roots = {
    a: long(),
    b: long(),
    list: [long('1'), long('2')],
    objects: [{ k: long('1') }, { k: long('2') }],
    digits: ' '.repeat(LENGTH),
  };
  it.each([
    'a == b',
    'a != b',
    'a < b',
    'a >= b',
    'a in [b]',
    '[a] == [b]',
    '{k: a} == {k: b}',
    'list|sort',
    "objects|sort('k')",
    'list|unique',
    'list|hasOverlap(list)',
    "objects|filterBy('k', a + '1')",
    "objects|find('k', a + '1')",
    "objects|filter('k > 1')",
    'digits == 0',
    'digits > 0',
    'digits * 1',
    '-digits',
    'digits|number',
    'digits|round',
    '[digits]|sum',
  ])('%s is charged by their length', (source) => {
    expect(unitsOf(source, roots)).toBeGreaterThanOrEqual(LENGTH >> 5);
  });

  it('cost nothing more where they are short, or differ in length', () => {
    const name = 'a text of thirty-one characters';
    expect(unitsOf('a == b', { a: name, b: `${name}` })).toBe(unitsOf('a == b', { a: 1, b: 1 }));
    expect(unitsOf('a == b', { a: long(), b: long('1') })).toBe(unitsOf('a == b', { a: 1, b: 1 }));
  });

  it('that are compared for every element end at the limit, after few elements', () => {
    const test = Array.from({ length: 14 }, () => '(a != b)').join(' || ');
    let compared = 0;
    const element = {
      get x() {
        compared++;
        return false;
      },
    };
    const context = { a: long(), b: long(), list: Array.from({ length: 100 }, () => element) };
    expect(errorOf(() => value(`list[${test} || .x]`, context)).code).toBe('expression_limit');
    expect(compared).toBe(Math.floor(MAX_WORK / (14 * (LENGTH >> 5))));
  });

  it('objects of different sizes are charged as well', () => {
    const wide = (size: number): Json => Object.fromEntries(Array.from({ length: size }, (_, i) => [`k${i}`, i]));
    expect(unitsOf('a == b', { a: wide(1_000), b: wide(999) })).toBeGreaterThan(1_999);
  });
});

describe('a text that is looked for in another', () => {
  it('takes no time that grows with the product of their lengths', () => {
    const haystack = 'a'.repeat(1_900_000);
    const needle = `${'a'.repeat(5_000)}b${'a'.repeat(4_999)}`;
    const read = countCharactersRead(() => {
      expect(value('needle in haystack', { haystack, needle })).toBe(false);
      expect(value('haystack|split(needle)|length', { haystack, needle })).toBe(1);
    });
    expect(read).toBeLessThan(2 * 5 * (haystack.length + needle.length));
  });

  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 40 });
  it('is found where JavaScript finds it', () => {
    fc.assert(
      fc.property(letters, fc.integer({ min: 0, max: 40 }), fc.boolean(), (part, at, isThere) => {
        const needle = part.repeat(Math.ceil(260 / part.length));
        const haystack = `${'ab'.repeat(at)}${isThere ? needle : needle.slice(1)}${part}${needle}`;
        const evaluation = beginEvaluation({ root: () => undefined }, { now: 0 });
        const find = createFinder(needle, haystack.length, evaluation);
        for (const from of [0, 1, at, at + 1]) expect(find(haystack, from)).toBe(haystack.indexOf(needle, from));
        expect(value('h|split(n)', { h: haystack, n: needle })).toEqual(haystack.split(needle));
      }),
    );
  });
});
