import { describe, expect, test } from 'vitest';
import { evaluate, parseExpression } from '../../src/template/expression.ts';
import { objectScope } from '../../src/template/scope.ts';
import { errorOf, value } from './evaluate.ts';

const context = {
  items: [
    { id: 1, n: 3, tag: 'b', meta: { on: true } },
    { id: 2, n: 1, tag: 'a', meta: { on: false } },
    { id: 3, tag: 'b' },
  ],
  o: { b: 2, a: 1 },
};

describe('texts', () => {
  test.each([
    ['"a,b"|split', ['a', 'b']],
    ['"a.b.a"|replace("a", "$&")', '$&.b.$&'],
    ['"a.b"|replace(".")', 'ab'],
    ['"abc"|slice(1)', 'bc'],
    ['"abc"|slice(-2, -1)', 'b'],
    ['"abc"|slice(2, 1)', ''],
    ['"abc"|slice(-9, 9)', 'abc'],
    ['"a😀b"|slice(0, 2)', 'a'],
    ['"a😀b"|slice(2)', '😀b'],
    ['"a😀b"|slice(0, -1)', 'a😀'],
    ['"a😀b"|slice(-2)', '😀b'],
    ['"a😀b"|split("")', ['a', '😀', 'b']],
    ['"😀b"|first', '😀'],
    ['"a😀"|last', '😀'],
    ['""|first', undefined],
    ['""|last', undefined],
    ['"abc"|reverse', 'cba'],
    ['"abc"|last', 'c'],
    ['"a"|concat("b", 1)', 'ab1'],
    ['o|string', '{"b":2,"a":1}'],
    ['"1e3"|number', 1000],
    ['"{\\"__proto__\\": {\\"x\\": 1}}"|parseJSON|keys', ['__proto__']],
  ])('%s', (source, expected) => {
    expect(value(source, context)).toEqual(expected);
  });

  test.each([
    ['"a😀b"|slice(0, 2)', 'a\ud83d'],
    ['"a😀b"|slice(2)', '\ude00b'],
    ['"😀"|split("")', ['\ud83d', '\ude00']],
    ['"😀b"|first', '\ud83d'],
    ['"a😀"|last', '\ude00'],
  ])('%s is as before for earlier workers', (source, expected) => {
    expect(evaluate(parseExpression(source), objectScope({}), { now: 0, isLegacy: () => true })).toEqual(expected);
  });
});

describe('arrays and objects', () => {
  test.each([
    ['items|filter("n >= 3")|map("id")', [1]],
    ['items|filter("tag != b")|map("id")', [2]],
    ["items|filter(\"tag == 'b'\")|map('id')", [1, 3]],
    ['items|filter("meta.on")|map("id")', [1]],
    ['items|filter("meta.on == false")|map("id")', [2]],
    ['items|filter("tag", "b")|map("id")', [1, 3]],
    ['items|filterBy("meta", {on: true})|map("id")', [1]],
    ['items|sort("n")|map("id")', [2, 1, 3]],
    ['items|sort("n", "desc")|map("id")', [1, 2, 3]],
    ['[10, 9, "b", "a", null, true]|sort', [9, 10, 'a', 'b', true, null]],
    ['items|unique("tag")|map("id")', [1, 2]],
    ['[{a: 1, b: 2}, {b: 2, a: 1}]|unique|length', 1],
    ['[1, [2, [3, [4]]]]|flatten(2)', [1, 2, 3, [4]]],
    ['missing|concat([1])', [1]],
    ['[1]|concat(2, [3])', [1, 2, 3]],
    ['o|keys', ['b', 'a']],
    ['o|values', [2, 1]],
    [
      'o|entries',
      [
        ['b', 2],
        ['a', 1],
      ],
    ],
    ['o|merge({a: 5}, missing, {c: 3})', { b: 2, a: 5, c: 3 }],
    ['o|pick("a", "zzz")', { a: 1 }],
    ['items|pick(["id", "tag"])|first', { id: 1, tag: 'b' }],
    ['missing|default("x")', 'x'],
    ['""|default("x")', ''],
    ['o|toJSON', '{"b":2,"a":1}'],
    ['[{a: missing}]|toJSON', '[{}]'],
  ])('%s', (source, expected) => {
    expect(value(source, context)).toEqual(expected);
  });
});

describe('numbers and encodings', () => {
  test.each([
    ['1.005|round(2)', 1.01],
    ['-2.5|round', -3],
    ['1234|round(-2)', 1200],
    ['null|round', null],
    ['-3|abs', 3],
    ['[3, "1", 2]|min', 1],
    ['3|max(7, 5)', 7],
    ['[]|max', null],
    ['[1, "2", null, 3]|sum', 6],
    ['missing|sum', 0],
    ['"héllo €"|base64', 'aMOpbGxvIOKCrA=='],
    ['""|base64', ''],
    ['"abc"|sha256', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ])('%s', (source, expected) => {
    expect(value(source)).toEqual(expected);
  });
});

describe('times are UTC and come from the run’s clock', () => {
  test.each([
    ['"2026-01-15T09:00:00"|parseDate', Date.UTC(2026, 0, 15, 9)],
    ['"2026-01-15T09:00:00+02:00"|isoDate', '2026-01-15T07:00:00.000Z'],
    ['"2026-01-15T09:00:00.123456Z"|isoDate', '2026-01-15T09:00:00.123Z'],
    ['"2026-02-30"|isoDate', ''],
    ['"20260115T090000Z"|parseDate', Date.UTC(2026, 0, 15, 9)],
    ['"20260115T0900+0100"|parseDate', Date.UTC(2026, 0, 15, 8)],
    ['"15.1.2026"|parseDate', null],
    ['now|addDuration("2d")', '2026-01-17T10:30:00.000Z'],
    ['nowMs|addDuration("PT5M")', '2026-01-15T10:35:00.000Z'],
    ['"2026-01-31"|addDuration("P1M")', '2026-02-28T00:00:00.000Z'],
    ['"2024-02-29T12:00:00Z"|addDuration("-P1Y")', '2023-02-28T12:00:00.000Z'],
    ['now|addDuration(-1500)', '2026-01-15T10:29:58.500Z'],
    ['"zzz"|addDuration("1h")', null],
    ['now|isBefore("2026-01-16")', true],
    ['now|daysAgo', 0],
  ])('%s', (source, expected) => {
    expect(value(source)).toEqual(expected);
  });
});

test.each([
  ['[1]|chunk(0)', 'a whole number from 1'],
  ['now|addDuration("soon")', 'ISO 8601'],
  ['[1]|sort("n", "up")', "'asc' or 'desc'"],
  ['[1]|filter("n >")', 'total > 5'],
  ['[1]|filter("a b == 1")', 'total > 5'],
  ['1|round("x")', 'a whole number'],
  ['[1]|map({})', 'meta.id'],
  ['{}|pick(1)', 'names of members'],
])('what a transform cannot take is a typed error with its column: %s', (source, expected) => {
  const error = errorOf(() => value(source));
  expect([error.code, error.column]).toEqual(['expression_type', source.lastIndexOf('|') + 2]);
  expect(error.expected).toContain(expected);
});
