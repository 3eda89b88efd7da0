import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/json.ts';
import { mergePatch } from '../../src/json/merge-patch.ts';

// RFC 7396, appendix A, as far as both are objects.
it.each<[JsonObject, JsonObject, JsonObject]>([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  [{ a: 'b' }, { a: { c: 1 } }, { a: { c: 1 } }],
])('%j with the patch %j is %j', (before, patch, after) => {
  expect(mergePatch(before, patch)).toEqual(after);
});
