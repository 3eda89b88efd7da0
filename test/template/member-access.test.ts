import { describe, expect, test } from 'vitest';
import { LazyObject } from '../../src/template/types.ts';
import { value } from './evaluate.ts';

// §1: "dotted names allowed". A path that comes to nothing is read through the names with dots that objects have.
describe('names with dots', () => {
  const flat = { 'customer.name': 'Ann', 'customer.address.city': 'Ulm', list: [{ 'a.b': 1 }, { 'a.b': 2 }] };

  test.each([
    ['input.customer.name', 'Ann'],
    ['input.customer.address.city', 'Ulm'],
    ['input["customer.name"]', 'Ann'],
    ['input.customer', undefined],
    ['input.customer.nothing', undefined],
    ['input.list[1].a.b', 2],
    ['input.list[.a.b == 2]|length', 1],
    ['input.list|map("a.b")', [1, 2]],
  ])('%s is %j of a flat payload', (source, expected) => {
    expect(value(source, { input: flat })).toEqual(expected);
  });

  test('come after what is nested, the longest first', () => {
    expect(value('input.a.b', { input: { a: { b: 1 }, 'a.b': 2 } })).toBe(1);
    expect(value('input.a.b', { input: { a: { b: null }, 'a.b': 2 } })).toBeNull();
    expect(value('input.a.b', { input: { a: { c: 1 }, 'a.b': 2 } })).toBe(2);
    expect(value('input.a.b.c', { input: { a: { 'b.c': 1 }, 'a.b': { c: 2 } } })).toBe(2);
    expect(value('input.a.b.c', { input: { a: { 'b.c': 1 } } })).toBe(1);
  });

  test('are own members, and none of what is read lazily', () => {
    const steps = new LazyObject(
      (slug) => (slug === 's' ? { output: { data: { 'customer.name': 'Ann' } } } : undefined),
      () => ['s'],
    );
    expect(value('steps.s.output.data.customer.name', { steps })).toBe('Ann');
    expect(value('steps.x.output', { steps })).toBeUndefined();
    expect(value('input.constructor.name', { input: { a: 1 } })).toBeUndefined();
  });
});
