import { describe, expect, it } from 'vitest';
import { inputOf, payloadOf, type TriggerRequest } from '../../src/definition/document/trigger-mapping.ts';
import { countCalls } from '../support/work-counters.ts';

const parts: TriggerRequest = {
  body: { order: { id: 7, lines: [{ sku: 'a b' }], 'odd key': true } },
  query: { shop: 'x' },
  headers: { 'x-event': 'created' },
  params: { path: 'orders' },
  now: Date.UTC(2026, 0, 15),
};

describe('the payload of a delivery', () => {
  it('is the body, with the query as `query` where there is one', () => {
    expect(payloadOf({ a: 1 }, {})).toEqual({ a: 1 });
    expect(payloadOf({ a: 1, query: 'mine' }, {})).toEqual({ a: 1, query: 'mine' });
    expect(payloadOf({ a: 1 }, { b: '2' })).toEqual({ a: 1, query: { b: '2' } });
    // A signature covers the body only.
    expect(payloadOf({ a: 1, query: 'mine' }, { b: '2' })).toEqual({ a: 1, query: 'mine' });
    expect(payloadOf({ query: null }, { b: '2' })).toEqual({ query: null });
    expect(payloadOf([1], { b: '2' })).toEqual({ body: [1], query: { b: '2' } });
  });
});

describe('a mapping', () => {
  it('reads paths and templates', () => {
    const mapping = {
      id: '$.order.id',
      sku: '$.order.lines[0].sku',
      dotted: '$.order.lines.0.sku',
      beyond: '$.order.lines.1.sku',
      odd: "$.order['odd key']",
      shop: '$.query.shop',
      none: '$.order.missing.deeper',
      text: 'order {{ body.order.id }} of {{ query.shop }} ({{ headers["x-event"] }})',
      whole: '{{ body.order.lines }}',
      all: '$',
    };
    expect(inputOf(mapping, parts)).toMatchObject({
      input: {
        id: 7,
        sku: 'a b',
        dotted: 'a b',
        beyond: null,
        odd: true,
        shop: 'x',
        none: null,
        text: 'order 7 of x (created)',
        whole: [{ sku: 'a b' }],
        all: { order: { id: 7 }, query: { shop: 'x' } },
      },
    });
  });

  it('takes `$.query` from the body, where the body has it', () => {
    const mapping = { path: '$.query.id', template: '{{ body.query.id }}', address: '{{ query.id }}', all: '$' };
    const body = { query: { id: 'signed' } };
    expect(inputOf(mapping, { ...parts, body, query: { id: 'address' } })).toEqual({
      input: { path: 'signed', template: 'signed', address: 'address', all: body },
    });
  });

  it('reads names with dots along a path, nested members first', () => {
    const mapping = { name: '$.customer.name', city: '$.customer.address.city', one: '{{ body.customer.name }}' };
    const body = { 'customer.name': 'Ann', customer: { address: { city: 'Ulm' } } };
    expect(inputOf(mapping, { ...parts, body, query: {} })).toEqual({
      input: { name: 'Ann', city: 'Ulm', one: 'Ann' },
    });
  });

  it('reaches own members only, and says which key cannot be made', () => {
    expect(inputOf({ a: '$.constructor', b: '$.__proto__', c: '$.order.lines.length' }, parts)).toEqual({
      input: { a: null, b: null, c: null },
    });
    expect(inputOf({ a: 'x {{ body.nothing.here }}' }, parts)).toEqual({
      problem: expect.stringMatching(/mapping of a/),
    });
  });

  it('takes no more than it may, however many members it has', async () => {
    const list = Array.from({ length: 2_000 }, (_, x) => ({ x }));
    const heavy = '{{ body[.x >= 0 && body[.x < 0]|length == 0]|length }}';
    const mapping = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, heavy]));
    const light = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, '{{ body[.x < 2]|length }}']));
    const calls = await countCalls(() => {
      expect(inputOf(mapping, { ...parts, body: list, query: {} })).toEqual({
        problem: expect.stringMatching(/^The trigger's mapping of k0 .*units of work/),
      });
      expect(inputOf(light, { ...parts, body: list, query: {} })).toEqual({
        problem: expect.stringMatching(/units of work/),
      });
    });
    expect(calls).toBeLessThan(10_000_000);
    expect(inputOf({ few: '{{ body[.x < 2]|length }}' }, { ...parts, body: list, query: {} })).toEqual({
      input: { few: 2 },
    });
  });
});
