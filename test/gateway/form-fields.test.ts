import { expect, it } from 'vitest';
import { formFields, paramsToFields, readForm } from '../../src/gateway/input/form-fields.ts';

it('makes a list of a name that occurs more than once', () => {
  const fields = paramsToFields(new URLSearchParams('b=2&a=1&b=&c=x%20y&b=3'));
  expect(fields).toEqual({ a: '1', b: ['2', '', '3'], c: 'x y' });
  expect(Object.keys(fields)).toEqual(['b', 'a', 'c']);
});

it.each([
  ['name=Ren%E9&x=%80+%93a%94', '; charset=windows-1252', { name: 'René', x: '€ “a”' }],
  ['name=Ren\xe9', '; charset="iso-8859-1"', { name: 'René' }],
  ['a=%A4', '; charset=ISO-8859-15', { a: '€' }],
  ['a=%26%3D%25E9%2B&b=%E9', '; charset=latin1', { a: '&=%E9+', b: 'é' }],
  ['name=Ren%E9&charset=windows-1252', '', { name: 'René', charset: 'windows-1252' }],
  ['_charset_=windows-1251&a=%EF', '', { _charset_: 'windows-1251', a: 'п' }],
  // What is UTF-8 is read so, whatever a field says.
  ['name=Ren%C3%A9&charset=windows-1252', '', { name: 'René', charset: 'windows-1252' }],
  ['name=Ren%C3%A9', '; charset=UTF-8', { name: 'René' }],
  ['name=Ren%E9', '', { name: 'Ren\ufffd' }],
  ['a=%83%5C', '; charset=shift_jis', undefined],
  ['a=1', '; charset=unknown', undefined],
])('reads the form %s in its charset%s', (text, charset, expected) => {
  const sent = readForm(Buffer.from(text, 'latin1'), `application/x-www-form-urlencoded${charset}`);
  expect(sent && paramsToFields(sent)).toEqual(expected);
});

it('refuses names that reach prototypes', () => {
  expect(() => paramsToFields(new URLSearchParams('__proto__=1'))).toThrow('not allowed');
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
  expect(Object.keys(paramsToFields(counted as URLSearchParams))).toEqual(names);
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
