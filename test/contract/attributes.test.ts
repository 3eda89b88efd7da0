import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  attributeValue,
  attributeValues,
  listValue,
  MAX_ATTRIBUTE_BYTES,
  MAX_ATTRIBUTE_VALUES,
} from '../../src/contract/search-attributes.ts';

const bytes = (text: string): number => new TextEncoder().encode(text).length;

/** What no keyword holds. */
const UNFIT = /[\p{Cc}\p{Cs}"\\]|^'|'$/u;

describe('values of search attributes', () => {
  it('stay as they are up to 200 bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        fc.pre(bytes(text) <= MAX_ATTRIBUTE_BYTES && !UNFIT.test(text));
        expect(attributeValue(text)).toBe(text);
      }),
    );
  });

  it('are cut beyond, between characters, and differ where the texts do', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 201, maxLength: 400 }), (text) => {
        fc.pre(!UNFIT.test(text));
        const value = attributeValue(text);
        expect(bytes(value)).toBeLessThanOrEqual(MAX_ATTRIBUTE_BYTES);
        expect(value).toMatch(/~[0-9a-f]{16}$/);
        expect(text.startsWith(value.slice(0, -17))).toBe(true);
        expect(attributeValue(`${text}.`)).not.toBe(value);
      }),
    );
  });

  it('hold nothing that a database or its query language would take for something else, and stay apart', () => {
    const odd = fc.string({
      unit: fc.constantFrom('a', '\0', '\n', '\\', '"', "'", '\ud800', '\udc00', ' ', '/', '\u{1f600}'),
    });
    fc.assert(
      fc.property(odd, odd, (one, other) => {
        const value = attributeValue(one);
        expect(value).not.toMatch(UNFIT);
        expect(attributeValue(value)).toBe(value);
        expect(value === attributeValue(other)).toBe(one === other);
      }),
    );
  });

  it('stand in a list once, none of them empty, and not too many', () => {
    expect(attributeValues(['b', 'a', '', 'b'])).toEqual(['b', 'a']);
    expect(attributeValues(Array.from({ length: 80 }, (_, i) => `tag-${i}`))).toHaveLength(MAX_ATTRIBUTE_VALUES);
  });

  it('writes nothing into lists that ends a value there, and keeps values apart all the same', () => {
    expect(listValue('a')).toBe('a');
    const value = listValue('a" OR "b');
    expect(value).toMatch(/^a' OR 'b~[0-9a-f]{16}$/);
    expect(listValue(value)).toBe(value);
    expect(attributeValues(['a"b', "a'b"])).toHaveLength(2);
    expect(listValue('a♡b')).toMatch(/^a♥b~[0-9a-f]{16}$/);
  });
});
