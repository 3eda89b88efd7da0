import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePattern, matches } from '../../src/definition/payload/pattern.ts';

const found = (source: string, text: string): boolean => {
  const pattern = compilePattern(source);
  if ('problem' in pattern) throw new Error(`${source} ${pattern.problem}`);
  return matches(pattern, text, () => true);
};

/** Patterns of which every part may be any other. */
const patterns = fc.letrec<{ pattern: string; sequence: string; part: string; atom: string }>((tie) => ({
  pattern: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('|')),
  sequence: fc.array(tie('part'), { maxLength: 4 }).map((parts) => parts.join('')),
  part: fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(tie('atom'), fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,3}', '{0}', '{2,}', '*?', '{0,2}?'))
        .map((both) => both.join('')),
    },
    { weight: 1, arbitrary: fc.constantFrom('^', '$', '\\b') },
  ),
  atom: fc.oneof(
    { maxDepth: 1 },
    fc.constantFrom(
      'a',
      'b',
      'é',
      '😀',
      '.',
      '\\d',
      '\\w',
      '\\S',
      '[ab]',
      '[^a]',
      '[a-c\\]😀]',
      '\\u{1F600}',
      '\\x61',
      '\\uD83D\\uDE00',
      '\\p{L}',
      '\\P{Lu}',
      '\\.',
      '\\/',
      ' ',
    ),
    tie('pattern').map((inner) => `(${inner})`),
    tie('pattern').map((inner) => `(?:${inner})`),
  ),
}));
const texts = fc.string({
  unit: fc.constantFrom('a', 'b', 'c', 'A', '1', ' ', '_', '.', 'é', '😀', ']', '\n'),
  maxLength: 8,
});

describe('a pattern', () => {
  it('is found where JavaScript finds it', () => {
    fc.assert(
      fc.property(patterns.pattern, fc.array(texts, { minLength: 1, maxLength: 5 }), (source, given) => {
        const pattern = compilePattern(source);
        fc.pre(!('problem' in pattern));
        for (const text of given)
          expect([text, matches(pattern, text, () => true)]).toEqual([text, new RegExp(source, 'u').test(text)]);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['^[A-Z]{3}$', 'ABC', true],
    ['^[A-Z]{3}$', 'ABCD', false],
    ['^[A-Z]{3}$', 'xABC', false],
    ['^\\d{5}(-\\d{4})?$', '12345-6789', true],
    ['^(?<year>\\d{4})-(?<month>\\d\\d)$', '2026-01', true],
    ['^[^@\\s]+@[^@\\s]+$', 'a@b', true],
    ['^(foo|bar)+$', 'foobarfoo', true],
    ['', '', true],
    ['^.$', '😀', true],
    ['\\bcat\\b', 'a cat.', true],
    ['\\bcat\\b', 'concat', false],
    ['\\Bcat', 'concat', true],
    ['\\Bcat', 'a cat', false],
  ])('%s in %s: %s', (source, text, expected) => {
    expect(found(source, text)).toBe(expected);
  });

  it.each(['(a+)+$', '(a|a)*$', '(a*)*b', '^(([a-z])+.)+[A-Z]([a-z])+$', '(x+x+)+y'])(
    '%s takes linear time',
    (source) => {
      const pattern = compilePattern(source);
      if ('problem' in pattern) throw new Error(pattern.problem);
      let steps = 0;
      const text = `${source.includes('x') ? 'x'.repeat(5_000) : 'a'.repeat(5_000)}!`;
      matches(pattern, text, (more) => {
        steps += more;
        return true;
      });
      expect(steps).toBeLessThan(text.length * pattern.program.length * 2);
      expect(steps).toBeGreaterThan(text.length);
    },
  );

  it('is given up where too much was spent', () => {
    const pattern = compilePattern('a');
    if ('problem' in pattern) throw new Error(pattern.problem);
    let calls = 0;
    expect(matches(pattern, `${'b'.repeat(1_000)}a`, () => ++calls < 10)).toBe(false);
    expect(calls).toBe(10);
  });

  it('found at the first character counts its steps, and reads no more of the text', () => {
    const pattern = compilePattern('(a?){2000}');
    if ('problem' in pattern) throw new Error(pattern.problem);
    const text = 'a'.repeat(1_000);
    let [steps, read] = [0, 0];
    const watched = {
      codePointAt: (at: number) => {
        read += 1;
        return text.codePointAt(at);
      },
    } as string;
    const spend = (more: number) => {
      steps += more;
      return true;
    };
    expect(matches(pattern, watched, spend)).toBe(true);
    expect(steps).toBeGreaterThan(2_000);
    expect(read).toBe(1);
  });

  it.each([
    ['a(?=b)', 'looks ahead'],
    ['(?<!a)b', 'looks ahead'],
    ['(a)\\1', 'refers to a group'],
    ['(?<n>a)\\k<n>', 'refers to a group'],
    ['(', 'is no regular expression'],
    ['[b-a]', 'is no regular expression'],
    ['\\-', 'is no regular expression'],
    ['(a{1000}){1000}', 'repeats too much'],
    ['(a{70}){70}', undefined],
    ['(a{100}){100}', 'repeats too much'],
    ['(){100000}', 'repeats too much'],
    ['((a?){70}){70}', 'repeats too much'],
    ['x'.repeat(1_001), 'more than 1000 characters'],
  ])('%s is %s', (source, problem) => {
    const pattern = compilePattern(source);
    if (problem === undefined) expect(pattern).toHaveProperty('program');
    else expect(pattern).toHaveProperty('problem', expect.stringContaining(problem));
  });
});
