/** Shared by the importers: collects a canonical document, its origins, problems and warnings. */

import { defined } from '../../json/defined.ts';
import { isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import type { Problem } from '../document/types.ts';

export interface ImportResult {
  /** The canonical form, not checked yet; absent if the document has no readable steps. */
  readonly document?: JsonObject;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** The canonical pointer → the pointer into the written document. */
  readonly places: ReadonlyMap<string, string>;
}

/** An import in progress. */
export class Import {
  readonly problems: Problem[] = [];
  readonly warnings: Problem[] = [];
  readonly places = new Map<string, string>();
  readonly steps: JsonObject = {};

  problem(pointer: string, code: string, message: string, hint?: string): void {
    this.problems.push({ pointer, code, message, ...defined({ hint }) });
  }

  warn(pointer: string, code: string, message: string, hint?: string): void {
    this.warnings.push({ pointer, code, message, ...defined({ hint }) });
  }

  /** Warns about a member without a counterpart in the canonical form. */
  lost(pointer: string, message: string, hint?: string): void {
    this.warn(pointer, 'not_carried_over', message, hint);
  }

  /** A warning for every member of `object` that is not in `known`. */
  lostMembers(object: JsonObject, at: string, known: ReadonlySet<string>): void {
    for (const key of Object.keys(object)) {
      if (!known.has(key))
        this.lost(childPointer(at, key), `"${key.slice(0, 80)}" has no counterpart and is left out.`);
    }
  }

  /** Adds a step. A duplicate slug is a problem. */
  step(slug: string, step: JsonObject, from: string): void {
    if (Object.hasOwn(this.steps, slug)) {
      this.problem(from, 'duplicate_step', `Two steps have the name "${slug}".`, 'Give each step a unique name.');
      return;
    }
    setOwn(this.steps, slug, step);
    this.places.set(childPointer('/steps', slug), from);
  }

  /**
   * Notes members of a step that are at another place in the document: canonical (`/config/input`) → written, both
   * relative to the step.
   */
  moved(slug: string, at: string, members: Iterable<readonly [canonical: string, written: string]>): void {
    for (const [canonical, written] of members) this.places.set(childPointer('/steps', slug) + canonical, at + written);
  }

  done(document: JsonObject): ImportResult {
    const { problems, warnings, places, steps } = this;
    return { document: { ...document, steps }, problems, warnings, places };
  }

  refused(): ImportResult {
    return { problems: this.problems, warnings: this.warnings, places: this.places };
  }
}

/** Replaces the longest noted prefix of a pointer by its origin. */
export function originOf(places: ReadonlyMap<string, string>): (pointer: string) => string {
  return (pointer) => {
    for (let end = pointer.length; end > 0; end = pointer.lastIndexOf('/', end - 1)) {
      const place = places.get(pointer.slice(0, end));
      if (place !== undefined) return place + pointer.slice(end);
    }
    return pointer;
  };
}

/** The existing members of `object` under other names. `names`: canonical → written. */
export function renamed(object: JsonObject, names: { readonly [canonical: string]: string }): JsonObject {
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
