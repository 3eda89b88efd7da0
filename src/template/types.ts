/**
 * The vocabulary of expressions and templates (LANGUAGE.md §4): plain JSON in, plain JSON out, and one error type.
 */
import { type Json, setOwn } from '../json/json.ts';

/** What an expression reads. */
export interface Scope {
  /** The value of a root (`steps`, `input`, …) or of a flat variable; undefined where there is none of that name. */
  root(name: string): unknown;
}

/**
 * An object that is read member by member, so that a scope need not build what nobody asks for (`steps` walks its frames this way).
 * `get` answers undefined for a member that does not exist; `keys` lists the members that `toJson`, `keys`, `values` and `entries` see.
 */
export class LazyObject {
  readonly get: (key: string) => unknown;
  readonly keys: () => string[];

  constructor(get: (key: string) => unknown, keys: () => string[]) {
    this.get = get;
    this.keys = keys;
  }

  /** Every member read at once, one level deep; members that are lazy themselves stay so. */
  toJson(): { [key: string]: unknown } {
    const members: { [key: string]: unknown } = {};
    for (const key of this.keys()) setOwn(members, key, this.get(key));
    return members;
  }
}

/**
 * A record that the engine changes in place (`variables`, a frame's entries). Its members are read as they are now; whole it
 * is handed out as a copy, so that what was stored stays what it was. The copy is shallow: values are never changed in place.
 */
export class LiveRecord extends LazyObject {
  constructor(record: { readonly [key: string]: unknown }) {
    super(
      (key) => (Object.hasOwn(record, key) ? record[key] : undefined),
      () => Object.keys(record),
    );
  }
}

/** A path that an expression or a template reads, as far as it is known without running. */
export interface Reference {
  root: string;
  /** The leading part that is written out: it stops at a computed member (`steps[name]`) and at a filter. */
  path: (string | number)[];
  /** 1-based, within the expression or, in a template, within the string that holds it. */
  column: number;
  /** JSON pointer of the string within the template's value; absent for an expression. */
  pointer?: string;
}

/** One string of a rendered value that secrets or callbacks belong into; whoever needs it joins `parts` right before use. */
export interface SecretString {
  /** Where in the rendered value the placeholder stands. */
  path: (string | number)[];
  /** A callback is the step's slug; once its visit is known, that visit's path, with the slug beside it. */
  parts: (string | { secret: string } | { callback: string; slug?: string })[];
}

export interface Rendered {
  value: Json;
  secrets: SecretString[];
}

export interface EvaluateOptions {
  /** The run's clock, in milliseconds since 1970 (UTC). Expressions know no other time. */
  now: number;
  /** Adds up the work of many evaluations, for whoever has to bound them together. */
  meter?: Meter;
  /** Units of work, where it may take fewer than MAX_WORK. */
  readonly work?: number;
}

/** Units of work as in MAX_WORK (limits.ts), which bounds one evaluation. */
export interface Meter {
  units: number;
}

export type TemplateErrorCode =
  /** The source is no expression. */
  | 'expression_syntax'
  /** A transform that is not in the table. */
  | 'unknown_transform'
  /** A value of a kind that the operator or transform cannot take. */
  | 'expression_type'
  /** A bound of limits.ts was reached. */
  | 'expression_limit'
  /** A path in a mixed string that leads nowhere. */
  | 'unresolved_reference'
  /** A secret or callback where none may stand. */
  | 'secret_not_allowed';

export interface TemplateErrorPlace {
  /** 1-based, within `source`. */
  column?: number;
  /** JSON pointer of the string within the template's value. */
  pointer?: string;
  /** What could have stood there. */
  expected?: string;
  /** The expression or the templated string as written. */
  source?: string;
}

/** The only error that parsing, evaluating and rendering throw. */
export class TemplateError extends Error {
  readonly code: TemplateErrorCode;
  readonly column?: number;
  readonly pointer?: string;
  readonly expected?: string;
  readonly source?: string;

  constructor(code: TemplateErrorCode, message: string, place: TemplateErrorPlace = {}) {
    super(message);
    this.name = 'TemplateError';
    this.code = code;
    if (place.column !== undefined) this.column = place.column;
    if (place.pointer !== undefined) this.pointer = place.pointer;
    if (place.expected !== undefined) this.expected = place.expected;
    if (place.source !== undefined) this.source = place.source;
  }
}
