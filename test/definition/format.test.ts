import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StateField } from '../../src/definition/document/types.ts';
import {
  coerceState,
  declarationStatus,
  formatProblems,
  formatWarnings,
  validatePayload,
  withDefaults,
} from '../../src/definition/payload/format.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';

const field = { type: 'number', default: 1 };

const places = (format: JsonObject, value: Json): string[] =>
  validatePayload(format, value).map(({ pointer }) => pointer);

describe('the short form of a payload format', () => {
  const order: JsonObject = {
    orderId: 'string',
    amount: { type: 'number', description: 'in cents' },
    day: 'date',
    at: 'datetime',
    paid: 'boolean',
  };
  const good: JsonObject = { orderId: 'o1', amount: 5, day: '2026-02-28', at: '2026-02-28T10:30:00Z', paid: true };

  it('lets a payload pass that fits, and members that it does not name', () => {
    expect(validatePayload(order, { ...good, extra: 1 })).toEqual([]);
  });

  it.each<[string, Json]>([
    ['orderId', 5],
    ['amount', '5'],
    ['amount', null],
    ['paid', 'true'],
    ['day', '2026-02-30'],
    ['day', '28.02.2026'],
    ['day', '2026-02-28T10:30:00Z'],
    ['at', '2026-02-28'],
    ['at', '2026-02-28T25:30:00Z'],
    ['at', '2026-02-28 10:30:00'],
    ['at', '20260228T253000Z'],
    ['at', '20260228T10:30:00Z'],
    ['at', '20260230T103000Z'],
  ])('refuses %s = %j', (name, value) => {
    expect(places(order, { ...good, [name]: value })).toEqual([`/${name}`]);
  });

  it.each([
    '2026-02-28T10:30Z',
    '2026-02-28T10:30:00.123+02:00',
    '2024-02-29T00:00:00',
    '2026-02-28t10:30:00z',
    '20260228T103000Z',
    '20260228T1030+0200',
    '20260228T103000,5Z',
  ])('takes %s for a datetime', (at) => {
    expect(validatePayload(order, { ...good, at })).toEqual([]);
  });

  it('knows a JSON Schema by its list of what is required, also without a type', () => {
    const format = { properties: { id: { type: 'string' }, n: { type: 'number' } }, required: ['id'] };
    expect(formatProblems(format)).toEqual([]);
    expect(places(format, { id: 'x' })).toEqual([]);
    expect(places(format, { n: 1 })).toEqual(['/id']);
  });

  it('asks for every field, but those with required: false or a default', () => {
    expect(
      validatePayload({ a: 'string', b: { type: 'string', required: false }, c: { type: 'number', default: 1 } }, {}),
    ).toEqual([{ pointer: '/a', code: 'missing_member', message: '"a" is missing: expected string.' }]);
    expect(places({ a: 'string' }, null)).toEqual(['/a']);
    expect(places({ a: 'string' }, 'text')).toEqual(['']);
  });

  it('reads dotted names flat first, else along the dots', () => {
    const format = { 'customer.id': 'string' };
    expect(places(format, { 'customer.id': 'c' })).toEqual([]);
    expect(places(format, { customer: { id: 'c' } })).toEqual([]);
    expect(places(format, { customer: { id: 3 } })).toEqual(['/customer.id']);
    expect(places(format, { customer: 'c' })).toEqual(['/customer.id']);
  });

  it('nests, lists values, and takes a schema for objects and arrays', () => {
    expect(places({ customer: { name: 'string' } }, { customer: { name: 1 } })).toEqual(['/customer/name']);
    expect(places({ size: { type: 'string', enum: ['s', 'm'] } }, { size: 'l' })).toEqual(['/size']);
    expect(places({ list: { type: 'array', items: { type: 'number' } } }, { list: [1, 'x'] })).toEqual(['/list/1']);
  });

  it('fills in defaults', () => {
    expect(withDefaults({ a: { type: 'number', default: 1 }, b: 'string' }, { b: 'x' })).toEqual({ a: 1, b: 'x' });
    expect(withDefaults({ a: { type: 'number', default: 1 } }, { a: 2 })).toEqual({ a: 2 });
  });

  it('fills the defaults of dotted names into the object that the payload has, and flat elsewhere', () => {
    const format: JsonObject = {
      'a.b': 'string',
      'a.c': field,
      'a.d.e': { type: 'string', default: 'x' },
      'z.y': field,
    };
    const given: JsonObject = { a: { b: 'given', d: { f: 2 } } };
    expect(withDefaults(format, given)).toEqual({ a: { b: 'given', c: 1, d: { f: 2, e: 'x' } }, 'z.y': 1 });
    expect(given).toEqual({ a: { b: 'given', d: { f: 2 } } });
    expect(withDefaults(format, { a: {} })).toEqual({ a: { c: 1, d: { e: 'x' } }, 'z.y': 1 });
    expect(withDefaults(format, { 'a.b': 'flat' })).toEqual({ 'a.b': 'flat', 'a.c': 1, 'a.d.e': 'x', 'z.y': 1 });
    expect(withDefaults(format, { a: { d: 5 } })).toEqual({ a: { c: 1, d: 5 }, 'a.d.e': 'x', 'z.y': 1 });
    expect(withDefaults(format, { a: 5 })).toEqual({ a: 5, 'a.c': 1, 'a.d.e': 'x', 'z.y': 1 });
    expect(withDefaults({ '__proto__.x': field }, {})).toEqual({ '__proto__.x': 1 });
  });

  /** The payload with defaults, and how many objects were asked for members: each copy of a payload is one. */
  function filledIn(format: JsonObject, given: JsonObject): { filled: JsonObject; asked: number } {
    const { hasOwn } = Object;
    const asked = new Set<object>();
    Object.hasOwn = (object: object, name) => hasOwn(asked.add(object) && object, name);
    try {
      return { filled: withDefaults(format, given) as JsonObject, asked: asked.size };
    } finally {
      Object.hasOwn = hasOwn;
    }
  }

  it('fills in thousands of defaults of one object, of which it makes one copy', () => {
    const names = Array.from({ length: 8_000 }, (_, at) => `a.n${at}`);
    const format = Object.fromEntries(names.map((name) => [name, field]));
    const { filled, asked } = filledIn(format, { a: {} });
    expect(filled['a']).toMatchObject({ n0: 1, n7999: 1 });
    // Format, field, payload and its object, and a copy of these two.
    expect(asked).toBe(6);
  });

  it('fills in thousands of defaults in one copy, and leaves what was given as it is', () => {
    const names = Array.from({ length: 8_000 }, (_, at) => `n${at}`);
    const format = Object.fromEntries(names.map((name) => [name, field]));
    const given: JsonObject = Object.fromEntries(names.map((name) => [`given-${name}`, 1]));
    const { filled, asked } = filledIn(format, given);
    expect(filled).toMatchObject({ n0: 1, n7999: 1, 'given-n0': 1 });
    expect(Object.keys(given)).toHaveLength(names.length);
    expect(asked).toBe(4);
  });

  it('reports what is no format', () => {
    expect(
      formatProblems({ a: 'text', b: 3, c: { type: 'strin' }, d: { type: 'string', desc: 'x' } }).map(
        ({ pointer }) => pointer,
      ),
    ).toEqual(['/a', '/b', '/c', '/d/desc']);
    expect(formatProblems({ a: { description: 'Whose' }, b: { description: 'string' } })).toEqual([
      {
        pointer: '/a',
        code: 'missing_member',
        message: '"a" has no type: expected {type, description}, such as {type: string}.',
      },
    ]);
    expect(formatProblems(order)).toEqual([]);
  });
});

describe('JSON Schema as a payload format', () => {
  const schema: JsonObject = {
    type: 'object',
    required: ['id', 'items'],
    additionalProperties: false,
    properties: {
      id: { type: 'string', minLength: 2 },
      items: { type: 'array', minItems: 1, items: { $ref: '#/$defs/item' } },
      kind: { enum: ['a', 'b'] },
      price: { type: 'number', minimum: 0, multipleOf: 0.01 },
    },
    $defs: {
      item: {
        type: 'object',
        properties: { sku: { type: 'string' }, count: { type: 'integer', exclusiveMinimum: 0 } },
        required: ['sku'],
      },
    },
  };

  it.each<[Json, string[]]>([
    [{ id: 'o1', items: [{ sku: 'a', count: 1 }], price: 0.29 }, []],
    [{ id: 'o', items: [] }, ['/id', '/items']],
    [{ items: [{ count: 0 }] }, ['/id', '/items/0/sku', '/items/0/count']],
    [{ id: 'o1', items: [{ sku: 'a', count: 1.5 }] }, ['/items/0/count']],
    [{ id: 'o1', items: [{ sku: 'a' }], kind: 'c', more: 1 }, ['/kind', '/more']],
    [[], ['']],
  ])('%j has problems at %j', (value, expected) => {
    expect(places(schema, value)).toEqual(expected);
  });

  it('combines schemas', () => {
    const either: JsonObject = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      oneOf: [{ type: 'string' }, { type: 'number', minimum: 5 }],
    };
    expect([places(either, 'x'), places(either, 6), places(either, 4)]).toEqual([[], [], ['']]);
    const conditional: JsonObject = JSON.parse(
      '{"type":"object","if":{"properties":{"a":{"const":1}},"required":["a"]},' +
        '"then":{"required":["b"]},"else":{"required":["c"]}}',
    );
    expect([places(conditional, { a: 1 }), places(conditional, { a: 2 })]).toEqual([['/b'], ['/c']]);
    expect(places({ type: 'object', not: { required: ['x'] } }, { x: 1 })).toEqual(['']);
    expect(
      places({ type: 'object', properties: { l: { uniqueItems: true, contains: { const: 1 } } } }, { l: [2, 2] }),
    ).toEqual(['/l', '/l']);
  });

  it('refuses what it does not know, and patterns that cannot be applied', () => {
    const bad: JsonObject = {
      type: 'object',
      properties: {
        a: { pattern: '(a)\\1', patternProperties: { '(': {}, '^x': { typ: 1 } } },
        b: { typ: 'string' },
        c: { $ref: 'https://example.com/x' },
        d: { type: 'text' },
      },
    };
    expect(formatProblems(bad).map(({ pointer }) => pointer)).toEqual([
      '/properties/a/pattern',
      '/properties/a/patternProperties/(',
      '/properties/a/patternProperties/^x/typ',
      '/properties/b/typ',
      '/properties/c/$ref',
      '/properties/d/type',
    ]);
  });

  it('applies patterns to texts and to names', () => {
    const format: JsonObject = {
      type: 'object',
      properties: { code: { type: 'string', pattern: '^[A-Z]{3}$' }, xa: { type: 'number' } },
      patternProperties: { '^x': { minimum: 5 }, b$: { type: 'string' } },
      additionalProperties: false,
    };
    expect(formatProblems(format)).toEqual([]);
    expect(places(format, { code: 'ABC', xa: 5, xb: 'text', ab: '' })).toEqual([]);
    expect(places(format, { code: 'ABCD', xa: 4, xb: 7, cc: 1 })).toEqual(['/code', '/xa', '/xb', '/cc']);
    expect(validatePayload(format, { code: 'x' })[0]?.message).toBe('"code" must match the pattern ^[A-Z]{3}$.');
    expect(places({ type: 'object', propertyNames: { pattern: '^[a-z]+$' } }, { a: 1, B: 2 })).toEqual(['/B']);
  });

  it('gives up on a pattern that takes too long, and says so', () => {
    const format = { type: 'object', properties: { a: { pattern: '(a?){1000}b' } } };
    expect(formatProblems(format)).toEqual([]);
    expect(validatePayload(format, { a: 'a'.repeat(50_000) }).map(({ code }) => code)).toEqual(['invalid_format']);
  });

  it.each<[string, string[], string[]]>([
    [
      'ipv4',
      ['0.0.0.0', '255.255.255.255', '192.168.0.1'],
      ['1.2.3', '1.2.3.256', '01.2.3.4', '1.2.3.4.', '1.2.3.4.5', ''],
    ],
    [
      'ipv6',
      ['::', '::1', '1::', 'fe80::1', '1:2:3:4:5:6:7:8', '::ffff:192.168.0.1', '1::2:3:4:5:6:7', '1:2:3:4:5:6:1.2.3.4'],
      [
        '',
        ':',
        ':::',
        '1:2:3:4:5:6:7',
        '1:2:3:4:5:6:7:8:9',
        '1::2::3',
        '12345::',
        'fe80::1%eth0',
        '::1.2.3',
        '1:',
        ':1',
        '1::2:3:4:5:6:7:8',
        '1.2.3.4',
        '1:2:3:4:5:6:7:1.2.3.4',
      ],
    ],
    [
      'hostname',
      ['a', 'www.example.com', 'xn--4gbwdl', `${'a'.repeat(63)}.b`],
      ['', '-a', 'a-', 'a..b', '.a', 'a_b', 'a.b.', 'a b', 'a'.repeat(64)],
    ],
    [
      'uri-reference',
      ['', '/a/b?c#d', 'a/b', '//host/x', 'https://a.b/c', '#frag', 'a%20b', './a:b'],
      ['a b', '\\\\x', '#a#b', '%zz', '1:b', '"a"', 'ü'],
    ],
    [
      'duration',
      ['P1D', 'PT5M', 'P4DT12H30M5S', 'P2W', 'P1Y2M3D', 'PT1H'],
      ['', 'P', 'PT', 'P1D2H', 'PT1D', 'P1YT', 'P2Y1W', '1D', 'P1Y2D', 'PT0.5S'],
    ],
    ['json-pointer', ['', '/', '/a~0b~1c/0', '/ü'], ['a', '/~', '/~2', '#/a']],
  ])('checks the format %s', (format, good, bad) => {
    const fits = (text: string) => places({ type: 'object', properties: { a: { format } } }, { a: text }).length === 0;
    expect(good.filter((text) => !fits(text))).toEqual([]);
    expect(bad.filter(fits)).toEqual([]);
  });

  it('applies none of these for a run whose worker is older', () => {
    const format: JsonObject = {
      type: 'object',
      properties: { a: { pattern: '^x$' }, b: { format: 'ipv4' }, c: { format: 'date' } },
      patternProperties: { '.': { type: 'number' } },
      additionalProperties: false,
    };
    const reported = validatePayload(format, { a: 'y', b: 'y', c: 'y', d: 1 }, { before0_4: true });
    expect(reported.map(({ pointer }) => pointer)).toEqual(['/c', '/d']);
  });

  it('warns of formats that it does not check, wherever they stand', () => {
    const reported = (format: JsonObject) =>
      formatWarnings(format).map(({ pointer, code, hint }) => `${pointer} ${code} ${hint ?? ''}`);
    const properties = { at: { format: 'date-tim' }, n: { anyOf: [{ format: 'int32' }] }, ok: { format: 'uuid' } };
    const known =
      'Known here: date, date-time, datetime, duration, email, hostname, ipv4, ipv6, json-pointer, time, uri, ' +
      'uri-reference, url, uuid.';
    const expected = [
      '/properties/at/format unchecked_format Did you mean "date-time"?',
      `/properties/n/anyOf/0/format unchecked_format ${known}`,
    ];
    expect(reported({ type: 'object', properties })).toEqual(expected);
    // A member that is called so is none.
    expect(reported({ type: 'object', properties: { format: { const: 'x' } }, default: { format: 'x' } })).toEqual([]);
    expect(reported({ a: 'string', b: { type: 'object', properties } })).toEqual(expected.map((one) => `/b${one}`));
  });

  it('warns of what is wrong with the schemas of fields of the short form, which apply as far as they can', () => {
    const format = { a: { b: { type: 'array', required: false, items: { patern: 'x', type: 'string' } } } };
    expect(formatProblems(format)).toEqual([]);
    expect(formatWarnings(format).map(({ pointer }) => pointer)).toEqual(['/a/b/items/patern']);
    expect(places(format, { a: { b: ['x', 1] } })).toEqual(['/a/b/1']);
  });

  it('warns of keywords beside a reference where the draft of the schema ignores them', () => {
    const $defs = { id: { type: 'string' } };
    const reported = (draft: string, id: JsonObject) =>
      formatWarnings({ $schema: draft, type: 'object', properties: { id }, $defs }).map(({ pointer }) => pointer);
    const withSibling = { $ref: '#/$defs/id', minLength: 3 };
    expect(reported('http://json-schema.org/draft-07/schema#', withSibling)).toEqual(['/properties/id/$ref']);
    expect(reported('http://json-schema.org/draft-04/schema#', withSibling)).toEqual(['/properties/id/$ref']);
    expect(reported('https://json-schema.org/draft/2020-12/schema', withSibling)).toEqual([]);
    expect(reported('http://json-schema.org/draft-07/schema#', { $ref: '#/$defs/id', description: 'Whose.' })).toEqual(
      [],
    );
  });

  it('gives up on schemas that multiply, and on those that lead back to themselves', () => {
    const names = Array.from({ length: 40 }, (_, i) => `d${i}`);
    const $defs = Object.fromEntries(
      names.map((name, i) => [
        name,
        i === 39 ? { type: 'string' } : { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
      ]),
    );
    expect(validatePayload({ $ref: '#/$defs/d0', $defs }, 'x').map(({ code }) => code)).toEqual(['invalid_format']);
    expect(validatePayload({ type: 'object', $ref: '#' }, {}).map(({ code }) => code)).toEqual(['invalid_format']);
  });

  it('never throws, whatever schema and value are', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom('type', 'properties', 'items', 'allOf', '$ref', 'required', 'enum', 'minimum', 'a'),
          fc.jsonValue(),
        ),
        fc.jsonValue(),
        (format, value) => {
          formatProblems(format as JsonObject);
          validatePayload(format as JsonObject, value as Json);
          declarationStatus(format as JsonObject, ['a', 0, 'b']);
        },
      ),
      { examples: [[{ type: { toString: 0 }, allOf: [] }, 0]] },
    );
  });
});

describe('what a format declares', () => {
  it.each<[JsonObject, (string | number)[], string]>([
    [{ a: 'string' }, ['a'], 'declared'],
    [{ a: 'string' }, ['b'], 'undeclared'],
    [{}, ['b'], 'open'],
    [{ a: 'object' }, ['a', 'b'], 'open'],
    [{ 'c.id': 'string' }, ['c', 'id'], 'declared'],
    [{ 'c.id': 'string' }, ['c'], 'parts'],
    [{ 'c.id': 'string' }, ['c', 'no'], 'undeclared'],
    [{ type: 'object', properties: { a: { type: 'object', properties: { b: {} } } } }, ['a', 'c'], 'undeclared'],
    [{ type: 'object', properties: { a: {} }, additionalProperties: true }, ['b'], 'open'],
    [{ type: 'object', properties: { a: { type: 'array' } } }, ['a', 0, 'x'], 'open'],
  ])('%j %j: %s', (format, path, expected) => {
    expect(declarationStatus(format, path)).toBe(expected);
  });
});

describe('what a state field keeps', () => {
  it.each<[StateField['type'], Json, Json | undefined]>([
    ['number', 5, 5],
    ['number', ' 5.5 ', 5.5],
    ['number', '1e3', 1000],
    ['number', '', undefined],
    ['number', '0x10', undefined],
    ['number', true, undefined],
    ['boolean', 'true', true],
    ['boolean', 'yes', undefined],
    ['boolean', 1, undefined],
    ['string', 5, '5'],
    ['string', false, 'false'],
    ['string', null, null],
    ['string', { a: 1 }, undefined],
    ['string', [1], undefined],
  ])('%s of %j: %j', (type, value, kept) => {
    const result = coerceState({ type }, value);
    if (kept === undefined) expect(result).toEqual({ problem: expect.stringContaining(`expected ${type}`) });
    else expect(result).toEqual({ value: kept });
  });
});
