/** THREATS.md on expressions: nothing of the host is reachable, and nothing grows without end. */

import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/json/json.ts';
import { parseExpression } from '../../src/template/expression.ts';
import { MAX_STRING_LENGTH, MAX_WORK } from '../../src/template/limits.ts';
import { parseTemplate } from '../../src/template/template.ts';
import { TemplateError } from '../../src/template/types.ts';
import { countCalls } from '../support/work-counters.ts';
import { errorOf, rendered, value } from './evaluate.ts';

describe('own properties only', () => {
  test.each([
    'a.constructor',
    'a["constructor"]',
    'a["con" + "structor"]["constructor"]',
    'a.__proto__',
    'a.toString',
    '"text".toUpperCase',
    '[].map',
    '[[]].constructor',
    '(5).toFixed',
    'constructor.constructor',
    '__proto__',
    'a|pick("constructor", "toString")|values|first',
    '[a]|map("constructor")|first',
    '[a]|map("__proto__.constructor")|first',
  ])('%s is undefined', (source) => {
    expect(value(source, { a: { x: 1 } })).toBeUndefined();
  });

  test('data that has such keys reads its own', () => {
    const a = JSON.parse('{"constructor": 1, "__proto__": {"x": 2}, "toString": 3, "length": 4}') as Json;
    expect(value('a.constructor + a.__proto__.x + a.toString + a.length', { a })).toBe(10);
    expect(value('"" + a', { a })).toBe(JSON.stringify(a));
    expect(value('a == a && a != 1 && !(a > 1)', { a })).toBe(true);
    expect(JSON.stringify(rendered({ '{{ "__proto__" }}': '{{ a }}' }, { a }).value)).toBe(
      `{"__proto__":${JSON.stringify(a)}}`,
    );
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  test('a merge of hostile keys changes no prototype', () => {
    const merged = value('{}|merge(a)', { a: JSON.parse('{"__proto__": {"polluted": true}}') });
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('functions and other things of the host never come out', () => {
    const host = { f: () => 1, d: new Date(0), m: new Map([['a', 1]]), s: Symbol('s'), b: 1n };
    expect(value('host', { host })).toEqual({ d: {}, m: {} });
    expect(value('[host.f, host.b]', { host })).toEqual([null, null]);
    expect(errorOf(() => rendered('{{ host.f }}!', { host })).code).toBe('unresolved_reference');
  });
});

describe('sources that are too large or too deep', () => {
  test.each([
    ['a million nodes', Array.from({ length: 1_000_000 }, () => '1').join('+')],
    ['ten thousand operands', Array.from({ length: 10_001 }, () => '1').join('+')],
    ['a wide array', `[${'1,'.repeat(20_000)}1]`],
    ['parentheses', '('.repeat(20_000)],
    ['closed parentheses', `${'('.repeat(5000)}1${')'.repeat(5000)}`],
    ['brackets', '['.repeat(20_000)],
    ['objects', '{a:'.repeat(10_000)],
    ['negations', `${'!'.repeat(20_000)}x`],
    ['minus signs', `${'-'.repeat(20_000)}x`],
    ['members', `a${'.a'.repeat(10_000)}`],
    ['filters', `a${'[.a'.repeat(10_000)}`],
    ['conditionals', '1?'.repeat(10_000)],
    ['fallbacks', `${'a?:'.repeat(10_000)}a`],
    ['transforms', `a${'|upper'.repeat(5000)}`],
  ])('%s are expression_limit', (_, source) => {
    expect(errorOf(() => parseExpression(source)).code).toBe('expression_limit');
    expect(errorOf(() => parseTemplate([`{{ ${source} }}`])).code).toBe('expression_limit');
  });

  test('templates nested too deep', () => {
    let nested: Json = 'x';
    for (let i = 0; i < 10_000; i += 1) nested = [nested];
    expect(errorOf(() => parseTemplate(nested)).code).toBe('expression_limit');
  });
});

describe('growth', () => {
  const big = 'x'.repeat(MAX_STRING_LENGTH / 2);
  const many = Array.from({ length: 300_000 }, (_, i) => i);
  let doubled: unknown = ['x'];
  for (let i = 0; i < 40; i += 1) doubled = [doubled, doubled];
  let deep: unknown = {};
  for (let i = 0; i < 20_000; i += 1) deep = { deep };
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const context = { big, many, doubled, deep, cycle, text: 'a'.repeat(1_000_000), needle: `b${'a'.repeat(500_000)}` };

  /** The code of the error. The calls of JavaScript are in a proportion to the units that are charged. */
  async function growing(source: string): Promise<string> {
    let code = 'none';
    const calls = await countCalls(() => {
      try {
        value(source, context);
      } catch (error) {
        code = error instanceof TemplateError ? error.code : String(error);
      }
    });
    expect(calls).toBeLessThan(10 * MAX_WORK);
    return code;
  }

  test.each([
    'big + big + big',
    'big|replace("x", "xxxxx")',
    '[big, big, big]|join',
    '[{a: big}]|formatList("{a}{a}{a}")',
    '[big, big, big, big, big, big, big, big, big]',
    'many[.x == many|sort|unique|length]',
    'many|concat(many, many, many)',
    'many[many[.x == 1]|length == .y]',
    'many|map("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p")',
    'doubled',
    'doubled|toJSON',
    'deep',
    'deep|string',
    'cycle',
    'cycle|toJSON',
    'needle in text',
    'text|replace(needle)',
    '[text|sha256, text|sha256, text|sha256, text|sha256, text|sha256]',
  ])('%s', async (source) => {
    expect(await growing(source)).toBe('expression_limit');
  });

  test('of what is the same is none', async () => {
    expect(await growing('doubled == doubled|flatten')).toBe('none');
  });

  test('of a whole template is bounded too', () => {
    const template = Array.from({ length: 100 }, () => '{{ big }}');
    expect(errorOf(() => rendered(template, context)).code).toBe('expression_limit');
  });
});
