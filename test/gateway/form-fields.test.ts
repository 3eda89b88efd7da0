import { expect, it } from 'vitest';
import { fieldsOf, formFields } from '../../src/gateway/input/form-fields.ts';

it('makes a list of a name that occurs more than once', () => {
  const fields = fieldsOf(new URLSearchParams('b=2&a=1&b=&c=x%20y&b=3'));
  expect(fields).toEqual({ a: '1', b: ['2', '', '3'], c: 'x y' });
  expect(Object.keys(fields)).toEqual(['b', 'a', 'c']);
});

it('refuses names that reach prototypes', () => {
  expect(() => fieldsOf(new URLSearchParams('__proto__=1'))).toThrow('not allowed');
});

it('goes through the fields of a form once, however many it has', () => {
  const names = Array.from({ length: 1_000 }, (_, at) => `n${at}`);
  const given = new URLSearchParams(names.map((name) => `${name}=1`).join('&'));
  let seen = 0;
  const counted = {
    *[Symbol.iterator]() {
      for (const entry of given) {
        seen += 1;
        yield entry;
      }
    },
  };
  expect(Object.keys(fieldsOf(counted as URLSearchParams))).toEqual(names);
  expect(seen).toBe(names.length);
});

it('calls a field by its label or title, else by its name in words', () => {
  const format = {
    costCentre: { type: 'string', description: 'Where it is booked.' },
    amount: { type: 'number', label: 'Sum', required: false },
    'due-date': 'date',
  } as const;
  expect(formFields(format).map(({ label, description }) => [label, description])).toEqual([
    ['Cost centre', 'Where it is booked.'],
    ['Sum', undefined],
    ['Due date', undefined],
  ]);
});
