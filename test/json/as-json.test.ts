import { expect, it } from 'vitest';
import { asJson } from '../../src/json/json.ts';

interface Known {
  readonly name: string;
  readonly tags?: readonly string[];
}

it('takes what JSON can hold, and the compiler refuses the rest', () => {
  const known: Known = { name: 'a', tags: ['x'] };
  expect(asJson(known)).toBe(known);
  expect(asJson([known])).toEqual([{ name: 'a', tags: ['x'] }]);
  // @ts-expect-error JSON has no functions.
  asJson({ name: () => 'a' });
  // @ts-expect-error JSON has no maps.
  asJson(new Map([['a', 1]]));
  // @ts-expect-error JSON has no dates.
  asJson({ at: new Date(0) });
  // @ts-expect-error JSON has no sets, however deep.
  asJson({ tags: [{ all: new Set<string>() }] });
  const unknown: unknown = 1;
  // @ts-expect-error It may be anything.
  asJson(unknown);
});
