import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findDuplicateKeys, inexactNumbers, isInexactNumber } from '../../src/json/json-source.ts';
import { valueAt } from '../../src/json/pointer.ts';

describe('the numbers of a JSON text that a double cannot hold', () => {
  it.each([
    ['7615917337495251231', true],
    ['-9007199254740993', true],
    ['9007199254740993000000000000', true],
    ['1e400', true],
    ['-1E+400', true],
    ['9'.repeat(400), true],
    ['9007199254740993', true],
    ['9007199254740992', false],
    ['9007199254740994', false],
    // As JavaScript and Go print 2^60.
    ['1152921504606847000', false],
    ['1152921504606846976', false],
    ['1e22', false],
    ['1e308', false],
    ['1e-400', false],
    ['0.1234567890123456789012345', false],
    ['123', false],
  ])('%s: %s', (written, isInexact) => {
    expect(isInexactNumber(written)).toBe(isInexact);
    expect(inexactNumbers(`{"a/b": [0, {"c": ${written} }]}`)).toEqual(
      isInexact ? [{ written, offset: 18, pointer: '/a~1b/1/c' }] : [],
    );
  });

  it('are none in what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.double({ noNaN: true, noDefaultInfinity: true }), (value, number) => {
        expect(inexactNumbers(JSON.stringify([value, number, number * 1e10]))).toEqual([]);
      }),
    );
  });

  it('are found at their pointers, and not within texts and names', () => {
    const odd = '"}],1e400';
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null))), fc.string(), (before, name) => {
        const text = JSON.stringify([...before, { [odd]: odd, [`${name}1e400`]: ['MARK'] }]).replace('"MARK"', '1e400');
        const [found, ...more] = inexactNumbers(text);
        expect(more).toEqual([]);
        expect(text.slice(found?.offset, (found?.offset ?? 0) + 5)).toBe('1e400');
        expect(valueAt(JSON.parse(text), found?.pointer ?? '')).toBe(Number.POSITIVE_INFINITY);
      }),
    );
  });
});

it('duplicate keys of an object are found at their pointers', () => {
  expect(findDuplicateKeys('{"a": {"b": 1}, "l": [{"b": 1}, {"b": 1, "\\u0062": 2, "b": 3}], "a": 1}', 20)).toEqual([
    { name: 'b', offset: 41, pointer: '/l/1/b' },
    { name: 'b', offset: 54, pointer: '/l/1/b' },
    { name: 'a', offset: 64, pointer: '/a' },
  ]);
  expect(findDuplicateKeys('{"a":1,"a":2,"a":3}', 1)).toHaveLength(1);
});
