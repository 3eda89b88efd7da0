/** Shared by the importers: collects a canonical document, its origins, problems and warnings. */

import { MAX_NESTING, tooDeepAt } from '../../json/depth.ts';
import { sameJson } from '../../json/equality.ts';
import { getOwn, isObject, type Json, type JsonObject, setOwn, typeName } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { childPointer } from '../../json/pointer.ts';
import { documentOfJson } from '../document/parse.ts';
import type { Problem } from '../document/types.ts';

export interface ImportResult {
  /** The canonical form, not checked yet; absent if the document has no readable steps. */
  readonly document?: JsonObject;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** The canonical pointer → the pointer into the written document. */
  readonly origins: ReadonlyMap<string, string>;
  /** Whether the document holds JSON texts, whose values count towards its limits. */
  readonly hasJsonTexts: boolean;
}

/** The types of members that importers read. A list of types: any of them. */
type MemberType = 'object' | 'array' | 'string' | 'boolean' | 'number';
export interface MemberTypes {
  readonly [member: string]: MemberType | readonly MemberType[];
}

/** An import in progress. */
export class ImportContext {
  readonly problems: Problem[] = [];
  readonly warnings: Problem[] = [];
  readonly origins = new Map<string, string>();
  readonly steps: JsonObject = {};
  private hasJsonTexts = false;

  addProblem(pointer: string, code: string, message: string, hint?: string): void {
    this.problems.push({ pointer, code, message, ...omitUndefined({ hint }) });
  }

  addWarning(pointer: string, code: string, message: string, hint?: string): void {
    this.warnings.push({ pointer, code, message, ...omitUndefined({ hint }) });
  }

  /** Warns about a member without a counterpart in the canonical form. */
  warnDropped(pointer: string, message: string, hint?: string): void {
    this.addWarning(pointer, 'not_carried_over', message, hint);
  }

  /** The id is the name of a document that has neither name nor slug. */
  nameById(id: Json | undefined, canonical: JsonObject): void {
    const { name, slug } = canonical;
    if (name === undefined && slug === undefined) canonical['name'] = id ?? 'Workflow';
    else if (id !== undefined && id !== name && id !== slug)
      this.warnDropped('/id', 'The id is left out, since the document has a name or a slug.');
  }

  /** A warning for every member of `object` that is not in `known`. */
  warnUnknownMembers(object: JsonObject, at: string, known: ReadonlySet<string>): void {
    for (const key of Object.keys(object)) {
      if (!known.has(key))
        this.warnDropped(childPointer(at, key), `"${key.slice(0, 80)}" has no counterpart and is left out.`);
    }
  }

  /**
   * A copy of `object` in which each member of `types` has its type. Databases hold objects and lists as JSON texts,
   * which are read. A member of another type is a problem and is left out; null counts as missing.
   */
  withTypes(object: JsonObject, at: string, types: MemberTypes): JsonObject {
    const result: JsonObject = { ...object };
    for (const [member, type] of Object.entries(types)) {
      const written = getOwn(object, member);
      if (written === undefined) continue;
      const expected = typeof type === 'string' ? [type] : type;
      const place = childPointer(at, member);
      const value = expected.some((one) => one === 'object' || one === 'array')
        ? this.readJsonText(written, place)
        : written;
      if (expected.some((one) => one === typeName(value))) result[member] = value;
      else {
        delete result[member];
        if (value !== null) this.wrongType(place, member, expected, value);
      }
    }
    return result;
  }

  /** The object or list that a JSON text holds; any other value as it is. What a document may not hold is a problem. */
  readJsonText(value: Json, at: string): Json {
    if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
    if (tooDeepAt(value, MAX_NESTING) !== undefined) return value;
    let json: Json;
    try {
      json = JSON.parse(value) as Json;
    } catch {
      return value;
    }
    this.hasJsonTexts = true;
    const parsed = documentOfJson(value, json);
    if ('document' in parsed) {
      const { json: read, warnings = [] } = parsed.document;
      this.warnings.push(...warnings.map((one) => ({ ...one, pointer: at + one.pointer })));
      return read;
    }
    for (const { pointer, code, message, hint } of parsed.problems) this.addProblem(at + pointer, code, message, hint);
    return null;
  }

  /** Triggers, whose configs and mappings databases hold as JSON texts. `at`: of the list. */
  readTriggers(list: Json, at: string): Json {
    const types = { config: 'object', variableMapping: 'object' } as const;
    if (!Array.isArray(list)) return list;
    return list.map((one, index) => (isObject(one) ? this.withTypes(one, childPointer(at, index), types) : one));
  }

  private wrongType(at: string, member: string, expected: readonly MemberType[], value: Json): void {
    const got = typeof value === 'string' && !expected.includes('string') ? 'a text that holds none' : typeName(value);
    this.addProblem(at, 'wrong_type', `"${member}" must be ${expected.join(' or ')}, got ${got}.`);
  }

  /**
   * The value of the first of several spellings that the object has; null counts as missing. The others are reported,
   * unless they have the same value.
   */
  firstSpelling(object: JsonObject, at: string, spellings: readonly string[]): Json | undefined {
    const [taken, ...others] = spellings.filter((name) => object[name] !== undefined && object[name] !== null);
    if (taken === undefined) return undefined;
    for (const other of others)
      if (!sameJson(object[other] ?? null, object[taken] ?? null))
        this.warnDropped(childPointer(at, other), `"${other}" is another spelling of "${taken}", and is left out.`);
    return object[taken];
  }

  /** Adds a step. A duplicate slug is a problem. */
  addStep(slug: string, step: JsonObject, from: string): void {
    if (Object.hasOwn(this.steps, slug)) {
      this.addProblem(from, 'duplicate_step', `Two steps have the name "${slug}".`, 'Give each step a unique name.');
      return;
    }
    setOwn(this.steps, slug, step);
    this.origins.set(childPointer('/steps', slug), from);
  }

  /**
   * Records the origins of members of a step: canonical pointer (`/config/input`) → pointer in the document, both
   * relative to the step.
   */
  mapOrigins(slug: string, at: string, members: Iterable<readonly [canonical: string, written: string]>): void {
    for (const [canonical, written] of members)
      this.origins.set(childPointer('/steps', slug) + canonical, at + written);
  }

  finish(document: JsonObject): ImportResult {
    const { problems, warnings, origins, steps, hasJsonTexts } = this;
    return { document: { ...document, steps }, problems, warnings, origins, hasJsonTexts };
  }

  failed(): ImportResult {
    const { problems, warnings, origins, hasJsonTexts } = this;
    return { problems, warnings, origins, hasJsonTexts };
  }
}

/** Replaces the longest prefix of a pointer that has an origin by that origin. */
export function originOf(origins: ReadonlyMap<string, string>): (pointer: string) => string {
  return (pointer) => {
    for (let end = pointer.length; end > 0; end = pointer.lastIndexOf('/', end - 1)) {
      const origin = origins.get(pointer.slice(0, end));
      if (origin !== undefined) return origin + pointer.slice(end);
    }
    return pointer;
  };
}

/** The existing members of `object` under other names. `names`: canonical → written. */
export function renameMembers(object: JsonObject, names: { readonly [canonical: string]: string }): JsonObject {
  const result: JsonObject = {};
  for (const [canonical, written] of Object.entries(names)) {
    const value = object[written];
    if (value !== undefined) result[canonical] = value;
  }
  return result;
}

/** A copy with every text changed, keys included. */
export function mapTextsAndKeys(value: Json, change: (text: string) => Json): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTextsAndKeys(item, change));
  if (!isObject(value)) return value;
  const mapped: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    const name = change(key);
    setOwn(mapped, typeof name === 'string' ? name : key, mapTextsAndKeys(member, change));
  }
  return mapped;
}

/** The names of members in a text, with spaces between them. */
export const memberNames = (names: string): ReadonlySet<string> => new Set(names.trim().split(/\s+/));
