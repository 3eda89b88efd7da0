/** The difference of two versions of a definition: as a list of changes, and as text (text-diff.ts). */

import { canonicalText } from '../../json/canonical-text.ts';
import { getOwn, isObject, type Json, type JsonObject } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { sortKeys } from '../../template/clean-json.ts';
import { textDiff } from './text-diff.ts';
import type { Definition } from './types.ts';

interface DefinitionDifference {
  readonly op: 'added' | 'removed' | 'changed';
  /** JSON pointer into the later version; for a removed value, into the earlier one. */
  readonly pointer: string;
  readonly before?: Json;
  readonly after?: Json;
}

/** Further differences are left out. */
const MAX_DIFFERENCES = 1_000;

/** Members that are not part of a version (LANGUAGE.md §11). */
const UNVERSIONED_MEMBERS: ReadonlySet<string> = new Set(['version', 'enabled']);

export interface VersionDifference {
  readonly diffText: string;
  readonly changes: readonly DefinitionDifference[];
}

/** The difference from one version to another. `names` are in the header of the text. */
export const definitionDifference = (
  before: Definition,
  after: Definition,
  names: { readonly before: string; readonly after: string },
): VersionDifference => ({
  diffText: definitionDiffText(before, after, names),
  changes: definitionDifferences(before, after),
});

/** The changes, ordered by key. At most MAX_DIFFERENCES. */
export function definitionDifferences(before: Definition, after: Definition): DefinitionDifference[] {
  const found: DefinitionDifference[] = [];
  compare(bodyOf(before), bodyOf(after), '', found);
  return found.slice(0, MAX_DIFFERENCES);
}

/** A unified diff of both as indented JSON with sorted keys; empty if they are equal. */
export function definitionDiffText(
  before: Definition,
  after: Definition,
  names: { readonly before: string; readonly after: string },
): string {
  const write = (definition: Definition): string => JSON.stringify(sortKeys(bodyOf(definition)), null, 2);
  return textDiff(write(before), write(after), names);
}

function bodyOf(definition: Definition): JsonObject {
  return Object.fromEntries(
    Object.entries(definition).filter(([key, value]) => !UNVERSIONED_MEMBERS.has(key) && value !== undefined),
  ) as JsonObject;
}

function compare(before: Json, after: Json, pointer: string, found: DefinitionDifference[]): void {
  if (found.length >= MAX_DIFFERENCES || canonicalText(before) === canonicalText(after)) return;
  if (isObject(before) && isObject(after)) compareObjects(before, after, pointer, found);
  else if (Array.isArray(before) && Array.isArray(after)) compareArrays(before, after, pointer, found);
  else found.push({ op: 'changed', pointer, before, after });
}

function compareObjects(before: JsonObject, after: JsonObject, pointer: string, found: DefinitionDifference[]): void {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const key of [...keys].sort()) {
    const at = childPointer(pointer, key);
    const [old, fresh] = [getOwn(before, key), getOwn(after, key)];
    if (old === undefined && fresh !== undefined) found.push({ op: 'added', pointer: at, after: fresh });
    else if (fresh === undefined && old !== undefined) found.push({ op: 'removed', pointer: at, before: old });
    else if (old !== undefined && fresh !== undefined) compare(old, fresh, at, found);
  }
}

/** Skips the common begin and end, and compares the rest item by item. */
function compareArrays(
  before: readonly Json[],
  after: readonly Json[],
  pointer: string,
  found: DefinitionDifference[],
): void {
  const same = (a: Json | undefined, b: Json | undefined): boolean =>
    a !== undefined && b !== undefined && canonicalText(a) === canonicalText(b);
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && same(before[start], after[start])) start++;
  let end = 0;
  while (end < shorter - start && same(before.at(-1 - end), after.at(-1 - end))) end++;
  const [removedItems, addedItems] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  for (let i = 0; i < Math.max(removedItems.length, addedItems.length); i++) {
    const at = `${pointer}/${start + i}`;
    const [old, fresh] = [removedItems[i], addedItems[i]];
    if (old === undefined && fresh !== undefined) found.push({ op: 'added', pointer: at, after: fresh });
    else if (fresh === undefined && old !== undefined) found.push({ op: 'removed', pointer: at, before: old });
    else if (old !== undefined && fresh !== undefined) compare(old, fresh, at, found);
  }
}
