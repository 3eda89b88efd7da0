/** JSON merge patches (RFC 7396): members that are given take the place of those that were there, and null takes one away. */
import { getOwn, isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';

/** An object with a patch applied, in objects within it too. Lists and texts are replaced as a whole. */
export function mergePatch(before: JsonObject, patch: JsonObject): JsonObject {
  const kept = Object.entries(before).filter(([key]) => !Object.hasOwn(patch, key));
  const merged: JsonObject = Object.fromEntries(kept);
  for (const [key, value] of Object.entries(patch))
    if (value !== null) setOwn(merged, key, patched(getOwn(before, key), value));
  return merged;
}

const patched = (before: Json | undefined, value: Json): Json =>
  isObject(value) ? mergePatch(isObject(before) ? before : {}, value) : value;
