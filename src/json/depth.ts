/** How deeply objects and arrays of JSON nest. A scalar has depth 0, `[]` has depth 1. No function here recurses. */

/** The nesting that documents, templates and results may have (LANGUAGE.md §12). */
export const MAX_NESTING = 200;
/** The nesting that any stored value may have: encoding a deeper one would exhaust the stack. */
export const MAX_VALUE_DEPTH = 1_000;

/** Thrown for a value that is nested too deeply to be measured or stored. */
export class JsonTooDeep extends Error {
  readonly limit: number;

  constructor(limit: number) {
    super(`A value is nested deeper than ${limit} levels, and cannot be stored. Make it flatter.`);
    this.name = 'JsonTooDeep';
    this.limit = limit;
  }
}

export function isTooDeep(given: unknown, limit = MAX_NESTING): boolean {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value: given, depth: 1 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (depth > limit) return true;
    for (const member of Object.values(value)) open.push({ value: member, depth: depth + 1 });
  }
  return false;
}

/**
 * The offset of the first bracket that nests too deeply in a text of JSON or of YAML's flow style. It is asked before a
 * recursive parser sees the text. Brackets within double quotes do not count. Whether the text is JSON, the parser
 * says.
 */
export function tooDeepAt(text: string, limit = MAX_NESTING): number | undefined {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        if (depth > limit) return at;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
    }
  }
  return undefined;
}

/** The offset of the quote that ends the string which begins at `start`; past the end of the text where none does. */
export function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
  return at;
}
