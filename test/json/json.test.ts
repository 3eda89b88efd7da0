import { describe, expect, it } from 'vitest';
import { exactJsonBytes, jsonBytes } from '../../src/json/bytes.ts';
import { isTooDeep, JsonTooDeep, MAX_NESTING, MAX_VALUE_DEPTH, tooDeepAt } from '../../src/json/depth.ts';
import { sameJson } from '../../src/json/equality.ts';
import { getOwn, isPlainObject, type Json, type JsonObject, setOwn } from '../../src/json/json.ts';

const nested = (depth: number): Json => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as Json;

describe('members of JSON objects', () => {
  it('are own members, whatever their names', () => {
    const object: JsonObject = {};
    setOwn(object, '__proto__', 1);
    setOwn(object, 'a', 2);
    expect(JSON.stringify(object)).toBe('{"__proto__":1,"a":2}');
    expect([getOwn(object, '__proto__'), getOwn(object, 'a'), getOwn(object, 'constructor')]).toEqual([
      1,
      2,
      undefined,
    ]);
  });

  it('belong to objects alone: not to bytes, dates and lists', () => {
    expect([{}, Object.create(null), new Uint8Array(), new Date(), [], null].map(isPlainObject)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});

describe('the equality of JSON values', () => {
  it('ignores the order of members, and members that are undefined', () => {
    expect(sameJson({ a: [1, { b: 2 }], c: undefined }, { a: [1, { b: 2 }] })).toBe(true);
    expect(sameJson({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(true);
  });

  it('tells numbers from texts, lists from objects, and absent members from null', () => {
    expect([sameJson(1, '1'), sameJson([], {}), sameJson({ a: null }, {}), sameJson([1], [1, 2])]).toEqual(
      Array(4).fill(false),
    );
  });
});

describe('the size of JSON values', () => {
  it('is exact as JSON.stringify writes them', () => {
    for (const value of ['ä😀"\n', [1, null], { a: undefined }, '\ud800'])
      expect(exactJsonBytes(value)).toBe(Buffer.byteLength(JSON.stringify(value)));
    expect(exactJsonBytes(undefined)).toBe(0);
  });

  it('is never estimated below the exact size', () => {
    for (const value of ['ä😀"\n', [1, null, true, -0.5, 1e21], { 'ö"': { b: [] } }, 'x'.repeat(1000)])
      expect(jsonBytes(value as Json)).toBeGreaterThanOrEqual(exactJsonBytes(value));
  });

  it('is not estimated for values that are nested too deeply to be stored', () => {
    expect(jsonBytes(nested(MAX_VALUE_DEPTH))).toBeGreaterThan(0);
    expect(() => jsonBytes(nested(MAX_VALUE_DEPTH + 1))).toThrow(JsonTooDeep);
  });
});

describe('the depth of JSON', () => {
  it('is bounded for values and for texts alike', () => {
    expect([isTooDeep(nested(MAX_NESTING)), isTooDeep(nested(MAX_NESTING + 1)), isTooDeep(1)]).toEqual([
      false,
      true,
      false,
    ]);
    const text = (depth: number): string => '[{"a":'.repeat(depth / 2);
    expect([tooDeepAt(text(MAX_NESTING)), tooDeepAt(text(MAX_NESTING + 2))]).toEqual([undefined, 600]);
  });

  it('does not count brackets within strings', () => {
    expect(tooDeepAt('["[[[\\"[["]', 1)).toBe(undefined);
    expect(tooDeepAt(`"${'['.repeat(300)}`)).toBe(undefined);
  });
});
