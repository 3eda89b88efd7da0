/**
 * Converts the `@refs` of mesh to paths and templates. Braces in its texts are not templates.
 */

import { STEP_SLUG_PATTERN } from '../../definition/document/names.ts';
import { type ImportContext, mapTextsAndKeys } from '../../definition/import/import-context.ts';
import { isObject, type Json } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';

/** The names after `@` that are not steps. */
export const MESH_ROOTS: ReadonlySet<string> = new Set(['input', 'item', 'index']);
const WHEN: ReadonlySet<string> = new Set(['ref', 'eq', 'neq', 'gt', 'lt']);
/**
 * A member's name. Letters of a script without blanks between words belong to the text after the reference:
 * `@input.name様`.
 */
const SPACED_SCRIPTS = String.raw`\w$\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{M}`;
const MEMBER = String.raw`(?!\d)[${SPACED_SCRIPTS}][${SPACED_SCRIPTS}-]*|(?![${SPACED_SCRIPTS}])\p{L}[\p{L}\p{M}\w$-]*`;
const MEMBERS = String.raw`(?:\.(?:${MEMBER})|\.\d+|\[\d+\])*`;
/** `@name.path[0]`, at the start of a text or after a character that cannot be part of an address. */
const REFERENCE = new RegExp(String.raw`(^|[^\w@.])@([A-Za-z_][\w-]*)(${MEMBERS})`, 'gu');
/** A reference that is the whole text. The name of its step can have any characters except those of a path. */
const WHOLE_REFERENCE = new RegExp(String.raw`^@([^.[\]]+)(${MEMBERS})$`, 'u');
const PLAIN = /^[A-Za-z_$][\w$]*$/;

/** A literal text as part of a template. `isFollowed`: a template follows it. */
export function escapeBraces(text: string, isFollowed = false): string {
  return text.replace(isFollowed ? /\{\{|\{$/g : /\{\{/g, (braces) => `{{ '${braces}' }}`);
}

export class References {
  /** By the name of the step. */
  readonly slugs: ReadonlyMap<string, string>;
  private readonly context: ImportContext;
  /** The begins of names that are not slugs. Within a text a reference to such a name ends too early. */
  private readonly namePrefixes: ReadonlySet<string>;
  /** The names of steps that can be skipped. */
  private readonly skippable: ReadonlySet<string>;

  constructor(slugs: ReadonlyMap<string, string>, context: ImportContext, skippable: ReadonlySet<string>) {
    this.skippable = skippable;
    this.slugs = slugs;
    this.context = context;
    this.namePrefixes = new Set(
      [...slugs.keys()].flatMap((name) => (STEP_SLUG_PATTERN.test(name) ? [] : (/^[A-Za-z_][\w-]*/.exec(name) ?? []))),
    );
  }

  /** A reference that is the whole value, as in `when` and `forEach`. */
  path(reference: string, at: string): string {
    const path = this.resolveWhole(reference.trim());
    if (path !== undefined) return path;
    this.context.addProblem(
      at,
      'unknown_step',
      `"${reference.slice(0, 80)}" is not a reference: expected @input, @item, @index or @ and the name of a step.`,
    );
    return 'null';
  }

  condition(written: Json, at: string): Json {
    if (typeof written === 'string') return this.path(written, at);
    if (!isObject(written) || typeof written['ref'] !== 'string') return written;
    this.context.warnUnknownMembers(written, at, WHEN);
    return { ...written, ref: this.path(written['ref'], childPointer(at, 'ref')) };
  }

  value(value: Json, at: string): Json {
    return mapTextsAndKeys(value, (text) => this.text(text, at));
  }

  private text(text: string, at: string): string {
    const whole = this.resolveWhole(text);
    if (whole !== undefined) return `{{ ${whole} }}`;
    if (STEP_SLUG_PATTERN.test(WHOLE_REFERENCE.exec(text)?.[1] ?? ''))
      this.context.addWarning(at, 'unknown_step', `"${text.slice(0, 80)}" refers to no step, and stays as it is.`);
    let result = '';
    let from = 0;
    for (const match of text.matchAll(REFERENCE)) {
      const [all, before = '', name = '', members = ''] = match;
      const path = this.resolve(name, members);
      if (path === undefined) {
        if (this.namePrefixes.has(name))
          this.context.addWarning(
            at,
            'unknown_step',
            `Within a text "@${name.slice(0, 80)}" refers to no step, and stays as it is.`,
            'Rename the step with letters, digits, _ and - only.',
          );
        continue;
      }
      result += `${escapeBraces(text.slice(from, match.index) + before, true)}{{ ${this.pathWithinText(name, path)} }}`;
      from = match.index + all.length;
    }
    return result + escapeBraces(text.slice(from));
  }

  /** The path of a reference within a text. A skipped step gives null, which is empty in a text and not an error. */
  private pathWithinText(name: string, path: string): string {
    const slug = this.skippable.has(name) && !MESH_ROOTS.has(name) ? this.slugs.get(name) : undefined;
    return slug === undefined ? path : `${stepPath(slug)}.output.meta.skipped ? '' : ${path}`;
  }

  private resolveWhole(text: string): string | undefined {
    const match = WHOLE_REFERENCE.exec(text);
    return match === null ? undefined : this.resolve(match[1] ?? '', match[2] ?? '');
  }

  private resolve(name: string, members: string): string | undefined {
    const path = members.replaceAll(/\.([^.[]+)/g, (member, key: string) => {
      if (/^\d+$/.test(key)) return `[${key}]`;
      return PLAIN.test(key) ? member : `['${key}']`;
    });
    if (MESH_ROOTS.has(name)) return name + path;
    const slug = this.slugs.get(name);
    if (slug === undefined) return undefined;
    return `${stepPath(slug)}.output.data${path}`;
  }
}

const stepPath = (slug: string): string => (slug.includes('-') ? `steps['${slug}']` : `steps.${slug}`);

/** The step's name of a reference that is the whole text. */
export function referencedStep(reference: string): string {
  return WHOLE_REFERENCE.exec(reference.trim())?.[1] ?? '';
}

/** The name after the `@` of a text that is one reference, whether or not a step has it. */
export const wholeReference = (text: string): string | undefined => WHOLE_REFERENCE.exec(text)?.[1];

/** The names after each `@` in a text, whether or not a step has them. */
export function referencedNames(text: string): string[] {
  const whole = wholeReference(text);
  return whole === undefined ? [...text.matchAll(REFERENCE)].map(([, , name = '']) => name) : [whole];
}
