import { describe, expect, test } from 'vitest';
import { evaluate, parseExpression } from '../../src/template/expression.ts';
import { bracedStrings, mixedLogic } from '../../src/template/lint.ts';
import { objectScope } from '../../src/template/scope.ts';
import { LazyObject } from '../../src/template/types.ts';
import { errorOf, value } from './evaluate.ts';

describe('operators', () => {
  test.each([
    ['2 + 3 * 4 ^ 2', 50],
    ['2 ^ 3 ^ 2', 64],
    ['10 - 2 - 3', 5],
    ['-7 // 2', -4],
    ['-x + 1', -4],
    ['2 - -3', 5],
    ['[1, -2]', [1, -2]],
    ['!x || "none"', 'none'],
    ['x && "yes"', 'yes'],
    ['missing.deep.path == null', true],
    ['undefined.b', undefined],
    ['"2" == 2', true],
    ['"2" in [2]', false],
    ['2 in [1, 2]', true],
    ['{a: [1]} == {a: [1]}', true],
    ['o == {b: 2, a: 1}', true],
    ['1 / 0', null],
    ['{a: 0 / 0, b: missing}', { a: null }],
    ['[missing]', [null]],
    ['"abc"[1]', 'b'],
    ['"n: " + o', 'n: {"a":1,"b":2}'],
    ['null + 1', 1],
    ['x > "4"', true],
    ['"b" > "a"', true],
    ['o > 1', false],
    ['x ? missing ? 1 : 2 : 3', 2],
    ['[1,2,3]|length > 2 ? "many" : "few"', 'many'],
  ])('%s is %j', (source, expected) => {
    expect(value(source, { x: 5, o: { a: 1, b: 2 } })).toEqual(expected);
  });

  test('a text joined to nothing is an error that names the path, never the text "undefined"', () => {
    const error = errorOf(() => value('"Dear " + customer.name', { customer: {} }));
    expect(error.code).toBe('unresolved_reference');
    expect(error.message).toContain('"customer.name"');
    expect(error.column).toBe(9);
  });

  test.each([
    '"Total: " + price * 2',
    'price * 2 + " in total"',
    '"Total: " + 1 / 0',
    '[1] + -1 / 0',
    '"" + (price + 1)',
  ])('nor is a text joined to a number that is none: %s', (source) => {
    expect(errorOf(() => value(source)).code).toBe('unresolved_reference');
    const before = evaluate(parseExpression(source), objectScope({}), { now: 0, isLegacy: () => true });
    expect(['Total: ', ' in total', '[1]', '']).toContain(before);
  });
});

describe('paths', () => {
  const orders = [
    { id: 1, total: 4, lines: [{ sku: 'a' }] },
    { id: 2, total: 9, lines: [{ sku: 'b' }, { sku: 'c' }] },
  ];

  test.each([
    ['orders[.total > 5]', [orders[1]]],
    ['orders[.total > limit].id', 2],
    ['orders[.lines[.sku == "c"]|length > 0].id', 2],
    ['orders[(.total > 5) && true].id', 2],
    ['orders.id', 1],
    ['orders.length', 2],
    ['orders["1"].id', 2],
    ['orders[1]["lines"][0]["sku"]', 'b'],
    ['orders[7].id', undefined],
    ['a["b-c"].in.null', 1],
    ['nothing[.x == 1]', []],
    ['now', '2026-01-15T10:30:00.000Z'],
    ['nowMs', 1_768_473_000_000],
  ])('%s', (source, expected) => {
    expect(value(source, { orders, limit: 5, nothing: null, now: 'mine', a: { 'b-c': { in: { null: 1 } } } })).toEqual(
      expected,
    );
  });

  test('read lazy objects member by member, and whole ones through their keys', () => {
    const asked: string[] = [];
    const steps = new LazyObject(
      (key) => {
        asked.push(key);
        return key === 'a' || key === 'b' ? { output: key } : undefined;
      },
      () => ['a', 'b'],
    );
    expect(value('steps.a.output + steps["b"].output', { steps })).toBe('ab');
    expect(value('steps.get', { steps })).toBeUndefined();
    expect(asked).toEqual(['a', 'b', 'get']);
    expect(value('steps', { steps })).toEqual({ a: { output: 'a' }, b: { output: 'b' } });
    expect(value('steps|keys', { steps })).toEqual(['a', 'b']);
    expect(value('[{s: steps}]|toJSON', { steps })).toBe('[{"s":{"a":{"output":"a"},"b":{"output":"b"}}}]');
  });

  test('answer parts of the scope as they are, and never change them', () => {
    const list = Object.freeze([Object.freeze({ n: 2 }), Object.freeze({ n: 1 })]);
    expect(value('list', { list })).toBe(list);
    expect(value('list|sort("n")|reverse', { list })).toEqual([{ n: 2 }, { n: 1 }]);
  });
});

describe('syntax errors say where and what was expected', () => {
  test.each([
    ['(1 + 2', 7, '")"'],
    ['a +', 4, 'a value'],
    ['a b', 3, 'an operator'],
    ['a and b', 3, '"&&"'],
    ['a = 1', 3, '"=="'],
    ['a === 1', 5, '"=="'],
    ['@input.email', 1, 'a path without it, such as input.email'],
    ["'abc", 1, "'"],
    ['[1, 2', 6, '"]"'],
    ['{a 1}', 4, '":"'],
    ['a ? 1', 6, '":"'],
    ['a.', 3, 'the name of a member'],
    ['a|', 3, 'the name of a transform'],
    ['.a', 1, 'the name of a root'],
    ['a|filter(.x)', 10, 'the name of a root'],
    ['x.includes(1)', 11, 'an operator'],
    ['daysAgo(d)', 8, 'value|daysAgo'],
    ['a|replace', 3, 'replace(search'],
    ['{{n}} > 3', 1, 'without braces'],
    ['callback(1)', 1, "callback('slug"],
    ['a # b', 3, 'an operator'],
    ['2++2', 3, 'a value'],
  ])('%s', (source, column, expected) => {
    const error = errorOf(() => parseExpression(source));
    expect([error.code, error.column]).toEqual(['expression_syntax', column]);
    expect(error.expected).toContain(expected);
    expect(error.source).toBe(source);
  });

  test('an unknown transform is reported with the known ones', () => {
    const error = errorOf(() => parseExpression('a|upcase'));
    expect([error.code, error.column]).toEqual(['unknown_transform', 3]);
    expect(error.expected).toContain('upper');
  });
});

describe('what is legal and probably not meant', () => {
  test.each([
    ['a || b && c', [8]],
    ['a && b || c && d', [8, 13]],
    ['(a || b) && c', []],
    ['a || (b && c)', []],
    ['a && b && c', []],
    ['x[.a || .b && .c]', [12]],
  ])('mixed && and ||: %s', (source, columns) => {
    expect(mixedLogic(parseExpression(source))).toEqual(columns);
  });

  test('a template in a string of an expression', () => {
    expect(bracedStrings(parseExpression('"{{ s }}" == x || y == "z"'))).toEqual([1]);
  });
});
