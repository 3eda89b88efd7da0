import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canRepresent,
  draftOf,
  type FieldDraft,
  readDraft,
  rootField,
  validateDraft,
} from '../../src/console/form/form-fields.ts';
import { validatePayload } from '../../src/definition/payload/format.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';

// From a payload format to fields, and from their drafts to a value that the format accepts.

const kinds = (format: JsonObject) => (rootField(format).fields ?? []).map(({ name, kind }) => [name, kind]);

describe('the fields of a format', () => {
  it('are those of its members, in the short form and in JSON Schema', () => {
    const short = {
      order: 'string',
      amount: { type: 'number', description: 'In euros', default: 10 },
      day: 'date',
      at: 'datetime',
      size: { type: 'string', enum: ['s', 'm'], required: false },
      gift: { type: 'boolean', required: false },
      sure: 'boolean',
      address: { street: 'string', zip: { type: 'integer' } },
      lines: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' } } } },
      extra: 'any',
    };
    expect(kinds(short)).toEqual([
      ['order', 'text'],
      ['amount', 'number'],
      ['day', 'date'],
      ['at', 'datetime'],
      ['size', 'choice'],
      ['gift', 'choice'],
      ['sure', 'boolean'],
      ['address', 'group'],
      ['lines', 'list'],
      ['extra', 'json'],
    ]);
    const schema = {
      type: 'object',
      required: ['orderId'],
      properties: {
        orderId: { type: 'string', title: 'Order' },
        due: { type: 'string', format: 'date' },
        either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      },
    };
    expect(rootField(schema).fields).toMatchObject([
      { name: 'orderId', kind: 'text', label: 'Order', isRequired: true },
      { name: 'due', kind: 'date', isRequired: false },
      { name: 'either', kind: 'json' },
    ]);
  });

  it('have labels in words, and end as JSON below three levels', () => {
    expect(rootField({ orderId: 'string', 'ship.zip_code': 'string' }).fields).toMatchObject([
      { label: 'Order id' },
      { label: 'Ship zip code' },
    ]);
    const deep = rootField({ a: { b: { c: { d: 'string' } } } });
    expect(deep.fields?.[0]?.fields?.[0]?.fields?.[0]).toMatchObject({ name: 'c', kind: 'json' });
    expect(rootField({})).toMatchObject({ kind: 'json' });
    expect(rootField({ type: 'object' })).toMatchObject({ kind: 'json' });
  });
});

describe('the value of a draft', () => {
  const format: JsonObject = {
    order: 'string',
    amount: 'number',
    note: { type: 'string', required: false },
    size: { type: 'string', enum: ['s', 'm'], default: 'm' },
    address: { street: 'string', floor: { type: 'integer', required: false } },
    tags: { type: 'array', items: { type: 'string' }, required: false },
  };
  const field = rootField(format);
  const filled: FieldDraft = {
    order: 'A-1',
    amount: '2.5',
    note: '',
    size: '0',
    address: { street: 'X', floor: '' },
    tags: [],
  };

  it('has the types of the format, and omits optional empty fields', () => {
    expect(readDraft(field, filled)).toEqual({
      value: { order: 'A-1', amount: 2.5, size: 's', address: { street: 'X' } },
      problems: [],
    });
    expect(readDraft(field, draftOf(field)).value).toEqual({ size: 'm', address: {} });
  });

  it('names what is missing or invalid by its pointer', () => {
    const wrong = {
      ...(filled as object),
      order: ' ',
      amount: 'x',
      address: { street: '', floor: '1.5' },
    } as FieldDraft;
    expect(validateDraft(format, field, wrong).problems).toEqual([
      { pointer: '/order', message: 'Fill this in.' },
      { pointer: '/amount', message: 'Expected a number.' },
      { pointer: '/address/street', message: 'Fill this in.' },
      { pointer: '/address/floor', message: 'Expected a whole number.' },
    ]);
    const limited = { type: 'object', properties: { name: { type: 'string', minLength: 3 } }, required: ['name'] };
    expect(validateDraft(limited, rootField(limited), { name: 'ab' }).problems).toMatchObject([{ pointer: '/name' }]);
  });

  it('reads times in the zone of the viewer, and writes them as ISO 8601', () => {
    const at = rootField({ at: 'datetime' });
    const draft = draftOf(at, { at: '2026-01-31T09:00:05Z' });
    expect(draft).toEqual({ at: expect.stringMatching(/^2026-01-3\dT\d\d:\d\d:05$/) });
    expect(readDraft(at, draft).value).toEqual({ at: '2026-01-31T09:00:05.000Z' });
  });

  it('survives the conversion to fields and back, or the fields report that they cannot hold it', () => {
    expect(canRepresent(field, { order: 'A', amount: 1, address: { street: 'x' } })).toBe(true);
    expect(canRepresent(field, { order: 'A', amount: 1, address: { street: 'x' }, more: 1 })).toBe(false);
    expect(canRepresent(field, { order: 7, amount: 1, address: { street: 'x' } })).toBe(false);
    expect(canRepresent(field, [1])).toBe(false);
  });

  it('fits the format, whatever is filled in', () => {
    const types = fc.constantFrom('string', 'number', 'integer', 'boolean', 'date', 'datetime');
    const formats = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,6}$/),
      fc.record({ type: types, required: fc.boolean() }) as fc.Arbitrary<Json>,
      { minKeys: 1, maxKeys: 6 },
    );
    const typed = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.constant('2026-02-28'),
      fc.constant('2026-02-28T10:00'),
    );
    fc.assert(
      fc.property(formats, fc.array(typed, { minLength: 6, maxLength: 6 }), (generated, texts) => {
        const form = rootField(generated);
        const names = Object.keys(generated);
        const draft = Object.fromEntries(
          (form.fields ?? []).map(({ name, kind }) => [
            name,
            kind === 'boolean' ? true : (texts[names.indexOf(name)] ?? ''),
          ]),
        );
        const { value, problems } = readDraft(form, draft);
        const refused = validatePayload(generated, value ?? null);
        // What no field found wrong is refused for the written form of a date at most.
        if (problems.length === 0)
          for (const { pointer } of refused)
            expect(['date', 'datetime']).toContain((generated[pointer.slice(1)] as JsonObject)['type']);
      }),
    );
  });
});
