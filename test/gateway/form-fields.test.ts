import { expect, it } from 'vitest';
import { fieldsOf } from '../../src/gateway/input/form-fields.ts';

it('makes a list of a name that occurs more than once', () => {
  const fields = fieldsOf(new URLSearchParams('b=2&a=1&b=&c=x%20y&b=3'));
  expect(fields).toEqual({ a: '1', b: ['2', '', '3'], c: 'x y' });
  expect(Object.keys(fields)).toEqual(['b', 'a', 'c']);
});

it('refuses names that reach prototypes', () => {
  expect(() => fieldsOf(new URLSearchParams('__proto__=1'))).toThrow('not allowed');
});

it('reads a form of as many names as a body can hold in a moment', () => {
  const names = Array.from({ length: 200_000 }, (_, at) => `n${at}`);
  const given = new URLSearchParams(names.map((name) => `${name}=1`).join('&'));
  const begun = performance.now();
  expect(Object.keys(fieldsOf(given))).toHaveLength(names.length);
  // Looking through all of them for each takes minutes.
  expect(performance.now() - begun).toBeLessThan(5_000);
}, 30_000);
