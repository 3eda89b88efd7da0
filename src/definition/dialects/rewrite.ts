/**
 * Rewrites the paths that expressions and templates read, in place: an importer changes what a name means without
 * touching how the author wrote the rest. A text that cannot be parsed is left for the checker to report.
 */
import { isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { parseExpression } from '../../template/expression.ts';
import { references } from '../../template/references.ts';
import { parseTemplate } from '../../template/template.ts';
import type { Reference } from '../../template/types.ts';
import { below } from '../document/pointer.ts';

/**
 * What replaces the root of a path (`loop.item` for `customer`), or the root and its first member (`input.x` for
 * `variables.x`); undefined leaves it.
 */
export type RootChange = (reference: Reference) => string | { readonly rootAndMember: string } | undefined;

/** One expression; as it is where it cannot be parsed. */
export function rewriteExpression(source: string, change: RootChange): string {
  return rewritten(source, () => references(parseExpression(source)), change);
}

/** Every template within a JSON value; the references that `change` is asked about say where in it they stand. */
export function rewriteTemplates(value: Json, change: RootChange, at = ''): Json {
  if (typeof value === 'string') {
    return value.includes('{{') ? rewriteText(value, (reference) => change({ ...reference, pointer: at })) : value;
  }
  if (Array.isArray(value)) return value.map((item, index) => rewriteTemplates(item, change, below(at, index)));
  if (!isObject(value)) return value;
  const changed: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    const name = key.includes('{{') ? rewriteText(key, (reference) => change({ ...reference, pointer: at })) : key;
    setOwn(changed, name, rewriteTemplates(member, change, below(at, key)));
  }
  return changed;
}

function rewriteText(text: string, change: RootChange): string {
  return rewritten(text, () => references(parseTemplate(text, { secrets: true })), change);
}

function rewritten(source: string, read: () => Reference[], change: RootChange): string {
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

/** Where `root.member` or `root['member']` ends in the source. */
function endOfMember(source: string, start: number, { root, path }: Reference): number | undefined {
  const member = path[0];
  const match = /^(?:\s*\.\s*([A-Za-z_$][\w$]*)|\s*\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\])/.exec(
    source.slice(start + root.length),
  );
  if (match === null || (match[1] ?? match[2] ?? match[3]) !== member) return undefined;
  return start + root.length + match[0].length;
}
