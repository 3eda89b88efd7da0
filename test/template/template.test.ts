import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/json/json.ts';
import { parseExpression } from '../../src/template/expression.ts';
import { joinSecrets } from '../../src/template/join-secrets.ts';
import { expressions, placeholders, references } from '../../src/template/references.ts';
import { isConstant, parseTemplate } from '../../src/template/template.ts';
import { errorOf, rendered } from './evaluate.ts';

describe('rendering', () => {
  test.each<[Json, Json]>([
    ['{{ o }}', { k: [1] }],
    ['{{ missing.path }}', null],
    ['{{ 1 / 0 }}', null],
    [' {{ n }}', ' 7'],
    ['{{ n }}{{ n }}', '77'],
    ['v={{ o }}', 'v={"k":[1]}'],
    ["{{ missing ?: 'none' }}!", 'none!'],
    ['{{ missing|default(0) }}!', '0!'],
    ["{{ '{{' }} n }}", '{{ n }}'],
    ["Dear {{ '{{name}}' }}", 'Dear {{name}}'],
    ['{{ {a: {b: n}} }}', { a: { b: 7 } }],
    ['{{{a: {b: n}}}}', { a: { b: 7 } }],
    ["{{ '}}' }}", '}}'],
    ['a }} b {', 'a }} b {'],
    [{ '{{ s }}-id': ['{{ n }}', 1, { x: 'n {{ n }}' }] }, { 'key-id': [7, 1, { x: 'n 7' }] }],
    [{ '{{ n }}': true }, { '7': true }],
  ])('%j is %j', (template, expected) => {
    expect(rendered(template, { n: 7, s: 'key', o: { k: [1] } })).toEqual({ value: expected, secrets: [] });
  });

  test('data is never evaluated, nor refused: braces in values stay text', () => {
    const context = { secrets: { KEY: 'clear' }, answer: '{{ secrets.KEY }}', list: ['{{ 1 + 1 }}'] };
    expect(rendered(['{{ answer }}', 'said: {{ answer }}', '{{ list }}'], context).value).toEqual([
      '{{ secrets.KEY }}',
      'said: {{ secrets.KEY }}',
      ['{{ 1 + 1 }}'],
    ]);
  });

  test('what depends on nothing is known to, and is given back as it is', () => {
    const constant = { a: ['b', { c: null }] };
    expect(isConstant(parseTemplate(constant))).toBe(true);
    expect(isConstant(parseTemplate({ a: ['{{ 1 }}'] }))).toBe(false);
    expect(rendered(constant).value).toBe(constant);
  });
});

describe('errors name the place', () => {
  test.each<[Json, string, string, number | undefined]>([
    [{ to: ['Hi {{ user.name }}!'] }, 'unresolved_reference', '/to/0', 7],
    [{ 'a/b': { '{{ nothing }}': 1 } }, 'unresolved_reference', '/a~1b/{{ nothing }}', 4],
    [{ to: 'x {{ a + }}' }, 'expression_syntax', '/to', 10],
    [{ to: 'x {{ a' }, 'expression_syntax', '/to', 7],
    ['{{ }}', 'expression_syntax', '', 4],
    ['{{#each}}', 'expression_syntax', '', 3],
    [{ to: '{{ [1]|chunk(0) }}' }, 'expression_type', '/to', 8],
    [{ a: 1, '{{ "a" }}': 2 }, 'expression_type', '/{{ "a" }}', undefined],
    [{ a: '{{ secrets.KEY }}' }, 'secret_not_allowed', '/a', 4],
    [{ a: "{{ callback('approve') }}" }, 'secret_not_allowed', '/a', 4],
  ])('%j', (template, code, pointer, column) => {
    const error = errorOf(() => rendered(template, { user: {} }));
    expect([error.code, error.pointer, error.column]).toEqual([code, pointer, column]);
  });

  test('a path without a value is named as it was written', () => {
    expect(errorOf(() => rendered("Hi {{ user['first name'][0].x }}")).message).toContain(
      '"user["first name"][0].x" has no value',
    );
  });
});

describe('secrets and callbacks', () => {
  const template = {
    url: '{{ base }}/pay',
    headers: { authorization: 'Bearer {{ secrets.PAYMENTS_KEY }}', 'x-{{ base }}': "{{ secrets['my-key'] }}" },
    body: ['{{ base }}?cb={{ callback("paid") }}&n={{ base }}'],
  };
  const context = { base: 'b', secrets: { PAYMENTS_KEY: 'must not be read' } };

  test('come apart from the rendered value', () => {
    expect(rendered(template, context, { secrets: true })).toEqual({
      value: {
        url: 'b/pay',
        headers: { authorization: 'Bearer [secret PAYMENTS_KEY]', 'x-b': '[secret my-key]' },
        body: ['b?cb=[callback paid]&n=b'],
      },
      secrets: [
        { path: ['headers', 'authorization'], parts: ['Bearer ', { secret: 'PAYMENTS_KEY' }] },
        { path: ['headers', 'x-b'], parts: [{ secret: 'my-key' }] },
        { path: ['body', 0], parts: ['b?cb=', { callback: 'paid' }, '&n=b'] },
      ],
    });
  });

  test('are joined right before use, in a copy', () => {
    const { value, secrets } = rendered(template, context, { secrets: true });
    const before = JSON.stringify(value);
    const joined = joinSecrets(value, secrets, (part) =>
      'secret' in part ? `<${part.secret}>` : 'callback' in part ? `https://x/${part.callback}` : '',
    );
    expect(joined).toEqual({
      url: 'b/pay',
      headers: { authorization: 'Bearer <PAYMENTS_KEY>', 'x-b': '<my-key>' },
      body: ['b?cb=https://x/paid&n=b'],
    });
    expect(JSON.stringify(value)).toBe(before);
    expect(joinSecrets('[secret A]', [{ path: [], parts: [{ secret: 'A' }] }], () => 'a')).toBe('a');
    expect(errorOf(() => joinSecrets({}, [{ path: ['a'], parts: [] }], () => '')).code).toBe('unresolved_reference');
  });

  test.each([
    '{{ secrets }}',
    '{{ secrets.KEY|upper }}',
    '{{ "Bearer " + secrets.KEY }}',
    '{{ secrets.KEY.part }}',
    '{{ secrets[name] }}',
    '{{ input[secrets.KEY] }}',
    "{{ callback('x')|upper }}",
    "{{ [callback('x')] }}",
  ])('stand bare or not at all: %s', (text) => {
    const error = errorOf(() => parseTemplate({ a: text }, { secrets: true }));
    expect([error.code, error.pointer]).toEqual(['secret_not_allowed', '/a']);
  });

  test('stand neither in keys nor in expressions', () => {
    expect(errorOf(() => parseTemplate({ '{{ secrets.A }}': 1 }, { secrets: true })).code).toBe('secret_not_allowed');
    expect(errorOf(() => parseExpression('secrets.A == "x"')).code).toBe('secret_not_allowed');
    expect(errorOf(() => parseExpression("callback('a')")).code).toBe('secret_not_allowed');
  });

  test('callbacks may be allowed where secrets are not', () => {
    expect(rendered("{{ callback('a') }}", {}, { callbacks: true }).secrets).toHaveLength(1);
    expect(errorOf(() => rendered('{{ secrets.A }}', {}, { callbacks: true })).code).toBe('secret_not_allowed');
  });

  test('are listed with their places, for whoever knows the fields', () => {
    expect(placeholders(parseTemplate(template, { secrets: true }))).toEqual([
      { placeholder: { secret: 'PAYMENTS_KEY' }, pointer: '/headers/authorization', column: 11 },
      { placeholder: { secret: 'my-key' }, pointer: '/headers/x-{{ base }}', column: 4 },
      { placeholder: { callback: 'paid' }, pointer: '/body/0', column: 18 },
    ]);
  });
});

describe('references', () => {
  test('are the paths as far as they are written out', () => {
    const source =
      'steps.a.output.data[0][\'x-y\'] + steps[name].b + list[.n > limit].id + (o|keys)[i] ? {k: now} : ["s", .5]';
    expect(references(parseExpression(source))).toEqual([
      { root: 'steps', path: ['a', 'output', 'data', 0, 'x-y'], column: 1 },
      { root: 'steps', path: [], column: 33 },
      { root: 'name', path: [], column: 39 },
      { root: 'list', path: [], column: 49 },
      { root: 'limit', path: [], column: 59 },
      { root: 'o', path: [], column: 72 },
      { root: 'i', path: [], column: 80 },
      { root: 'now', path: [], column: 89 },
    ]);
  });

  test('in a template have the pointer of their string', () => {
    const template = parseTemplate({ '{{ k }}': ['a {{ b.c }} {{ secrets.S }}'] }, { secrets: true });
    expect(references(template)).toEqual([
      { root: 'k', path: [], column: 4, pointer: '/{{ k }}' },
      { root: 'b', path: ['c'], column: 6, pointer: '/{{ k }}/0' },
      { root: 'secrets', path: ['S'], column: 16, pointer: '/{{ k }}/0' },
    ]);
    expect(expressions(template).map(({ expression, pointer }) => [expression.source, pointer])).toEqual([
      ['k', '/{{ k }}'],
      ['b.c', '/{{ k }}/0'],
    ]);
  });
});
