/**
 * Rewrites the paths in expressions and templates, so that an importer changes the meaning of a name and keeps the rest
 * of the text. The checker reports texts that cannot be parsed.
 */
import { isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { parseExpression } from '../../template/expression.ts';
import { references } from '../../template/references.ts';
import { parseTemplate } from '../../template/template.ts';
import type { Reference } from '../../template/types.ts';

/**
 * Returns the replacement of the root of a path (`loop.item` for `customer`), or of the root and its first member
 * (`input.x` for `variables.x`); undefined keeps the path.
 */
export type RootChange = (reference: Reference) => string | { readonly rootAndMember: string } | undefined;

/** The rewritten expression; the same text if it cannot be parsed. */
export function rewriteExpression(source: string, change: RootChange): string {
  return rewriteReferences(source, () => references(parseExpression(source)), change);
}

/** Rewrites every template within a JSON value. References have the pointers of their texts in it. */
export function rewriteTemplates(value: Json, change: RootChange, at = ''): Json {
  if (typeof value === 'string') {
    return value.includes('{{') ? rewriteText(value, (reference) => change({ ...reference, pointer: at })) : value;
  }
  if (Array.isArray(value)) return value.map((item, index) => rewriteTemplates(item, change, childPointer(at, index)));
  if (!isObject(value)) return value;
  const changed: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    const name = key.includes('{{') ? rewriteText(key, (reference) => change({ ...reference, pointer: at })) : key;
    setOwn(changed, name, rewriteTemplates(member, change, childPointer(at, key)));
  }
  return changed;
}

function rewriteText(text: string, change: RootChange): string {
  return rewriteReferences(text, () => references(parseTemplate(text, { secrets: true })), change);
}

function rewriteReferences(source: string, read: () => Reference[], change: RootChange): string {
  let found: Reference[];
  try {
    found = read();
  } catch {
    return source;
  }
  let result = '';
  let from = 0;
  for (const reference of [...found].sort((a, b) => a.column - b.column)) {
    const start = reference.column - 1;
    const replacement = change(reference);
    if (replacement === undefined || start < from || !source.startsWith(reference.root, start)) continue;
    const end = typeof replacement === 'string' ? start + reference.root.length : endOfMember(source, start, reference);
    if (end === undefined) continue;
    result += source.slice(from, start) + (typeof replacement === 'string' ? replacement : replacement.rootAndMember);
    from = end;
  }
  return result + source.slice(from);
}

/** The end of `root.member` or `root['member']` in the source. */
function endOfMember(source: string, start: number, { root, path }: Reference): number | undefined {
  const member = path[0];
  const match = /^(?:\s*\.\s*([A-Za-z_$][\w$]*)|\s*\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\])/.exec(
    source.slice(start + root.length),
  );
  if (match === null || (match[1] ?? match[2] ?? match[3]) !== member) return undefined;
  return start + root.length + match[0].length;
}
