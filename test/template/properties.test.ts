/** What holds for every source, template and scope. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/json/json.ts';
import { evaluate, parseExpression } from '../../src/template/expression.ts';
import { joinSecrets } from '../../src/template/join-secrets.ts';
import { mixedLogic } from '../../src/template/lint.ts';
import { references } from '../../src/template/references.ts';
import { objectScope } from '../../src/template/scope.ts';
import { parseTemplate, render } from '../../src/template/template.ts';
import { TRANSFORMS } from '../../src/template/transforms/table.ts';
import { TemplateError } from '../../src/template/types.ts';
import { NOW } from './evaluate.ts';

const RUNS = { numRuns: 2000 };

/** Sources that look like expressions, most of them wrong, many of them right. */
const word = fc.constantFrom(
  ...[
    'a',
    'b',
    '.x',
    '.constructor',
    '["__proto__"]',
    'null',
    'undefined',
    'true',
    'now',
    'secrets.K',
    "callback('c')",
  ],
  ...[
    '1',
    '-',
    '0.5',
    '"s"',
    "'t'",
    '"',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '{k:',
    ',',
    ':',
    '?',
    '?:',
    '!',
    ' ',
    '{{',
    '}}',
  ],
  ...['+', '*', '/', '//', '%', '^', '==', '!=', '>', '>=', '<', ' in ', '&&', '||', '|', '\\', '#', 'é', '\u2028'],
  ...[...TRANSFORMS.keys()].map((name) => `|${name}`),
  ...['|map("x")', '|filter("x > 1")', '|find("x", 1)', '|chunk(2)', '|addDuration("1d")', '|default(1)', '|concat(b)'],
);
const source = fc.array(word, { maxLength: 12 }).map((words) => words.join(''));

/** Sources that are right by construction. */
const { expression: valid } = fc.letrec<{ expression: string; operand: string }>((tie) => ({
  operand: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('a', 'b', 'c.x', 'missing', '1', '"s"', 'null', 'nowMs'),
    tie('expression').map((inner) => `(${inner})`),
    fc.array(tie('expression'), { maxLength: 2 }).map((items) => `[${items.join(', ')}]`),
    tie('operand').map((inner) => `${inner}.x`),
    fc.tuple(tie('operand'), tie('expression')).map(([from, key]) => `${from}[${key}]`),
    fc.tuple(tie('operand'), tie('operand')).map(([from, by]) => `${from}[.x == ${by}]`),
    fc
      .tuple(tie('operand'), fc.constantFrom('upper', 'length', 'first', 'string', 'number', 'keys', 'sort', 'unique'))
      .map(([value, name]) => `${value}|${name}`),
  ),
  expression: fc.oneof(
    { maxDepth: 3 },
    tie('operand'),
    fc
      .tuple(tie('operand'), fc.constantFrom('+', '-', '*', '%', '==', '<', 'in', '&&', '||'), tie('operand'))
      .map(([left, operator, right]) => `${left} ${operator} ${right}`),
    fc.tuple(tie('operand'), tie('operand'), tie('operand')).map(([test, a, b]) => `${test} ? ${a} : ${b}`),
    tie('operand').map((inner) => `!${inner}`),
  ),
}));

const context = fc.record({ a: fc.jsonValue(), b: fc.jsonValue(), c: fc.jsonValue() });

type Outcome = { value: Json | undefined } | { error: TemplateError };

/** A value, or a TemplateError; every other error fails the property. */
function outcome(act: () => Json | undefined): Outcome {
  try {
    return { value: act() };
  } catch (error) {
    if (error instanceof TemplateError) return { error };
    throw error;
  }
}

function run(text: string, of: object): Outcome {
  return outcome(() => evaluate(parseExpression(text), objectScope({ ...of }), { now: NOW }));
}

describe('expressions', () => {
  test('throw nothing but TemplateError, with a column within the source', () => {
    fc.assert(
      fc.property(fc.oneof(source, fc.string()), context, (text, of) => {
        const result = run(text, of);
        if (!('error' in result)) return true;
        const { column = 1 } = result.error;
        return column >= 1 && column <= text.length + 1;
      }),
      RUNS,
    );
  });

  test('that are well formed parse, and can be inspected', () => {
    fc.assert(
      fc.property(valid, (text) => {
        const expression = parseExpression(text);
        references(expression);
        mixedLogic(expression);
      }),
      RUNS,
    );
  });

  test('are deterministic, change nothing that they read, and answer clean JSON', () => {
    fc.assert(
      fc.property(valid, context, (text, of) => {
        const before = JSON.stringify(of);
        const first = run(text, of);
        const second = run(text, JSON.parse(before) as object);
        expect(JSON.stringify(of)).toBe(before);
        if ('error' in first || 'error' in second) {
          expect(first).toEqual(second);
          return;
        }
        expect(JSON.stringify(first.value)).toBe(JSON.stringify(second.value));
        if (first.value !== undefined) expect(JSON.parse(JSON.stringify(first.value))).toEqual(normal(first.value));
      }),
      RUNS,
    );
  });

  test('read own properties only', () => {
    const names = fc.constantFrom('constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty', 'map', 'at');
    fc.assert(
      fc.property(fc.jsonValue(), names, fc.boolean(), (a, name, dotted) => {
        const holder = Array.isArray(a) ? a[0] : a;
        const own = typeof holder === 'object' && holder !== null && Object.hasOwn(holder, name);
        const result = run(dotted ? `a.${name}` : `a["${name}"]`, { a });
        return own || ('value' in result && result.value === undefined);
      }),
    );
  });
});

describe('templates', () => {
  const text = fc.array(
    fc.oneof(fc.constantFrom('{{ a }}', '{{ b.x }}', '{{ c ?: 1 }}', '{{ secrets.K }}'), word, fc.string()),
  );
  const template = fc.jsonValue({ stringUnit: 'grapheme', maxDepth: 3 }).chain((value) =>
    fc.oneof(
      text.map((words): unknown => words.join('')),
      fc.record({ a: text.map((words) => words.join('')), rest: fc.constant(value) }),
      fc.array(text.map((words) => words.join(''))),
    ),
  );

  test('throw nothing but TemplateError', () => {
    fc.assert(
      fc.property(template, context, fc.boolean(), (value, of, secrets) => {
        outcome(() => {
          const parsed = parseTemplate(value as Json, { secrets });
          const { value: out, secrets: found } = render(parsed, objectScope(of), { now: NOW });
          return joinSecrets(out, found, () => 'joined');
        });
      }),
      RUNS,
    );
  });

  test('render data as it is: what comes out of a whole template is what went in', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (a) => {
        expect(render(parseTemplate('{{ a }}'), objectScope({ a }), { now: NOW })).toEqual({ value: a, secrets: [] });
      }),
    );
  });

  test('without braces are the text itself', () => {
    fc.assert(
      fc.property(
        fc.string().filter((plain) => !plain.includes('{{')),
        (plain) => render(parseTemplate(plain), objectScope({}), { now: NOW }).value === plain,
      ),
    );
  });
});

/** JSON knows no -0. */
function normal(value: Json): Json {
  if (Object.is(value, -0)) return 0;
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, normal(member)]));
}
