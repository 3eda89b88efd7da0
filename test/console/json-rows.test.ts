import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expressionOf, rowsOf, truncateJson } from '../../src/console/data/json-rows.ts';

const value = { name: 'Ada', tags: ['a', 'b'], address: { city: 'Paris', 'zip code': '75001' }, none: {}, nil: null };
const lines = (isOpen: (pointer: string, depth: number) => boolean, search?: string) =>
  rowsOf(value, isOpen, search).map(
    ({ pointer, text, isOpen: open, isMatch }) =>
      `${pointer} ${text}${open === undefined ? '' : open ? ' -' : ' +'}${isMatch ? ' !' : ''}`,
  );

describe('the rows of JSON', () => {
  it('are those of open containers', () => {
    expect(lines((_, depth) => depth < 1)).toEqual([
      ' 5 members -',
      '/name "Ada"',
      '/tags 2 items +',
      '/address 2 members +',
      '/none {}',
      '/nil null',
    ]);
    expect(lines((pointer) => pointer === '' || pointer === '/tags').slice(2, 5)).toEqual([
      '/tags 2 items -',
      '/tags/0 "a"',
      '/tags/1 "b"',
    ]);
  });

  it('are those that a search finds, with what leads to them', () => {
    expect(lines(() => false, 'paris')).toEqual([' 5 members -', '/address 2 members -', '/address/city "Paris" !']);
    expect(lines(() => false, 'ADDRESS')).toEqual([' 5 members -', '/address 2 members + !']);
    expect(lines(() => true, 'address').slice(1)).toEqual([
      '/address 2 members - !',
      '/address/city "Paris"',
      '/address/zip code "75001"',
    ]);
    expect(lines(() => false, 'nothing')).toEqual([' 5 members +']);
  });

  it('are named by expressions', () => {
    expect(expressionOf('steps.fetch.output', ['data', 'items', 0, 'name'])).toBe(
      'steps.fetch.output.data.items[0].name',
    );
    expect(expressionOf('input', ['zip code', "it's"])).toBe("input['zip code']['it\\'s']");
  });
});

describe('a cut of JSON', () => {
  it('is the beginning, and says so', () => {
    expect(truncateJson(value)).toEqual({ value, isTruncated: false });
    const long = { a: 'x'.repeat(50), b: [1, 2, 3], c: 'y'.repeat(100), d: 1 };
    const { value: cut, isTruncated } = truncateJson(long, 90);
    expect(isTruncated).toBe(true);
    expect(cut).toMatchObject({ a: long.a, b: [1, 2, 3] });
    expect(cut).not.toHaveProperty('d');
  });

  it('never has more text than it may, but for braces and the end of a text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 200 }), (given, most) => {
        const { value: cut, isTruncated } = truncateJson(given, most);
        if (!isTruncated) expect(cut).toBe(given);
        const size = (of: unknown): number =>
          typeof of === 'string'
            ? of.length
            : typeof of === 'object' && of !== null
              ? Object.entries(of).reduce(
                  (sum, [name, child]) => sum + (Array.isArray(of) ? 0 : name.length) + size(child),
                  0,
                )
              : 1;
        if (isTruncated) expect(size(cut)).toBeLessThanOrEqual(most + 2);
      }),
    );
  });
});
