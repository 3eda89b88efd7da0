/**
 * The vocabulary of expressions and templates (LANGUAGE.md §4): plain JSON in, plain JSON out, and one error type.
 */
import { type Json, setOwn } from '../json/json.ts';

/** The names that an expression can read. */
export interface Scope {
  /** The value of a root (`steps`, `input`, …) or of a flat variable; undefined if none has that name. */
  root(name: string): unknown;
}

/**
 * An object that is read member by member, so that a scope builds only the members that are read: `steps` looks through
 * its frames this way. `get` returns undefined for a member that does not exist. `keys` lists the members for `toJson`
 * and the transforms `keys`, `values` and `entries`.
 */
export class LazyObject {
  readonly get: (key: string) => unknown;
  readonly keys: () => string[];

  constructor(get: (key: string) => unknown, keys: () => string[]) {
    this.get = get;
    this.keys = keys;
  }

  /** All members, one level deep. Lazy members stay lazy. */
  toJson(): { [key: string]: unknown } {
    const members: { [key: string]: unknown } = {};
    for (const key of this.keys()) setOwn(members, key, this.get(key));
    return members;
  }
}

/**
 * A record that the engine changes in place (`variables`, a frame's entries). Its members are read as they are now. The
 * whole record is copied when it is read, so that a stored value never changes. The copy is shallow: values never
 * change in place.
 */
export class LiveRecord extends LazyObject {
  constructor(record: { readonly [key: string]: unknown }) {
    super(
      (key) => (Object.hasOwn(record, key) ? record[key] : undefined),
      () => Object.keys(record),
    );
  }
}

/** A path that an expression or a template reads, as far as it is known without evaluation. */
export interface Reference {
  root: string;
  /** The leading literal part: it ends at a computed member (`steps[name]`) or a filter. */
  path: (string | number)[];
  /** 1-based, within the expression or, in a template, within its string. */
  column: number;
  /** JSON pointer of the string within the template's value; absent for an expression. */
  pointer?: string;
}

/** One string of a rendered value that contains secrets or callbacks. The activity joins `parts` right before use. */
export interface SecretString {
  /** The path of the string in the rendered value. */
  path: (string | number)[];
  /**
   * `callback` is the step's slug. Once the visit is known, `callback` is its path and `slug` the step's slug.
   * `approval` is the path of a visit: the link by which that person decides. `since`: when it was asked, ISO 8601.
   * `to`: the address or channel it is sent to, where the person is named apart.
   */
  parts: (
    | string
    | { secret: string }
    | { callback: string; slug?: string }
    | { approval: string; person: string; since: string; to?: string }
  )[];
}

export interface Rendered {
  value: Json;
  secrets: SecretString[];
}

export interface EvaluateOptions {
  /** The run's clock, in milliseconds since 1970 (UTC). Expressions know no other time. */
  now: number;
  /** Adds up the work of several evaluations, so that a caller can bound them together. */
  meter?: Meter;
  /** Whether as workers before version 0.4: `+` drops a NaN, and texts are cut within surrogate pairs. */
  readonly isLegacy?: () => boolean;
  /** The units of work allowed, if fewer than MAX_WORK. */
  readonly maxWork?: number;
}

/** Units of work as in MAX_WORK (limits.ts), which bounds one evaluation. */
interface Meter {
  units: number;
}

export type TemplateErrorCode =
  /** The source is not an expression. */
  | 'expression_syntax'
  /** The transform is not in the table. */
  | 'unknown_transform'
  /** The operator or transform cannot take a value of this type. */
  | 'expression_type'
  /** A limit of limits.ts is reached. */
  | 'expression_limit'
  /** A path in a mixed string does not resolve. */
  | 'unresolved_reference'
  /** A secret or callback is used where none is allowed. */
  | 'secret_not_allowed';

interface TemplateErrorLocation {
  /** 1-based, within `source`. */
  column?: number;
  /** JSON pointer of the string within the template's value. */
  pointer?: string;
  /** What the parser or transform expected. */
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

  constructor(code: TemplateErrorCode, message: string, location: TemplateErrorLocation = {}) {
    super(message);
    this.name = 'TemplateError';
    this.code = code;
    if (location.column !== undefined) this.column = location.column;
    if (location.pointer !== undefined) this.pointer = location.pointer;
    if (location.expected !== undefined) this.expected = location.expected;
    if (location.source !== undefined) this.source = location.source;
  }
}
