/** JSON merge patches (RFC 7396): members of the patch replace members of the object, and null removes one. */
import { getOwn, isObject, type Json, type JsonObject, setOwn } from './json.ts';

/** The object with the patch applied, also to nested objects. Other values are replaced as a whole. */
export function mergePatch(before: JsonObject, patch: JsonObject): JsonObject {
  const untouched = Object.entries(before).filter(([key]) => !Object.hasOwn(patch, key));
  const merged: JsonObject = Object.fromEntries(untouched);
  for (const [key, value] of Object.entries(patch))
    if (value !== null) setOwn(merged, key, patched(getOwn(before, key), value));
  return merged;
}

const patched = (before: Json | undefined, value: Json): Json =>
  isObject(value) ? mergePatch(isObject(before) ? before : {}, value) : value;
