/** What the importers of the dialects share: how they gather a canonical document, and how they report. */

import { defined } from '../../json/defined.ts';
import { isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { below } from '../document/pointer.ts';
import type { Problem } from '../document/types.ts';

export interface Imported {
  /** In the canonical form, not yet checked; absent where the document has no steps that could be read. */
  readonly document?: JsonObject;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Canonical pointer → the pointer of the written document it came from. */
  readonly places: ReadonlyMap<string, string>;
}

/** An import under way. */
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

  /** For what the canonical form has no place for. */
  lost(pointer: string, message: string, hint?: string): void {
    this.warn(pointer, 'not_carried_over', message, hint);
  }

  /** A warning for every member of `object` that is not in `known`. */
  lostMembers(object: JsonObject, at: string, known: ReadonlySet<string>): void {
    for (const key of Object.keys(object)) {
      if (!known.has(key)) this.lost(below(at, key), `"${key.slice(0, 80)}" has no counterpart and is left out.`);
    }
  }

  /** Adds a step; a slug that is taken already is a problem. */
  step(slug: string, step: JsonObject, from: string): void {
    if (Object.hasOwn(this.steps, slug)) {
      this.problem(from, 'duplicate_step', `There are two steps "${slug}".`, 'Give each step a name of its own.');
      return;
    }
    setOwn(this.steps, slug, step);
    this.places.set(below('/steps', slug), from);
  }

  /**
   * Where members of a step stand in the document if not under its own place: canonical (`/config/input`) → written, both
   * within their step.
   */
  moved(slug: string, at: string, members: Iterable<readonly [canonical: string, written: string]>): void {
    for (const [canonical, written] of members) this.places.set(below('/steps', slug) + canonical, at + written);
  }

  done(document: JsonObject): Imported {
    const { problems, warnings, places, steps } = this;
    return { document: { ...document, steps }, problems, warnings, places };
  }

  refused(): Imported {
    return { problems: this.problems, warnings: this.warnings, places: this.places };
  }
}

/** The longest noted prefix of a pointer, replaced by where it came from. */
export function originOf(places: ReadonlyMap<string, string>): (pointer: string) => string {
  return (pointer) => {
    for (let end = pointer.length; end > 0; end = pointer.lastIndexOf('/', end - 1)) {
      const place = places.get(pointer.slice(0, end));
      if (place !== undefined) return place + pointer.slice(end);
    }
    return pointer;
  };
}

/** The members of `object` that are there, under other names: `{canonical: written}`. */
export function renamed(object: JsonObject, names: { readonly [canonical: string]: string }): JsonObject {
  const result: JsonObject = {};
  for (const [canonical, written] of Object.entries(names)) {
    const value = object[written];
    if (value !== undefined) result[canonical] = value;
  }
  return result;
}

/** Every text of a JSON value changed, keys included. */
export function mapTexts(value: Json, change: (text: string) => Json): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (!isObject(value)) return value;
  const mapped: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    const name = change(key);
    setOwn(mapped, typeof name === 'string' ? name : key, mapTexts(member, change));
  }
  return mapped;
}
