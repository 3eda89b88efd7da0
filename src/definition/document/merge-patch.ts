/** JSON merge patches (RFC 7396): members that are given take the place of those that were there, and null takes one away. */
import type { Json } from '../../template/types.ts';
import { isObject, own, put } from './json.ts';
import type { JsonObject } from './types.ts';

/** An object with a patch applied, in objects within it too. Lists and texts are replaced as a whole. */
export function mergePatch(before: JsonObject, patch: JsonObject): JsonObject {
  const kept = Object.entries(before).filter(([key]) => !Object.hasOwn(patch, key));
  const merged: JsonObject = Object.fromEntries(kept);
  for (const [key, value] of Object.entries(patch))
    if (value !== null) put(merged, key, patched(own(before, key), value));
  return merged;
}

const patched = (before: Json | undefined, value: Json): Json =>
  isObject(value) ? mergePatch(isObject(before) ? before : {}, value) : value;
