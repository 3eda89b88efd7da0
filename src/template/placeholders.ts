/** Secrets and callbacks are placeholders (LANGUAGE.md §3). A template may contain them bare, an expression may not. */
import { children, type Node } from './ast.ts';
import { staticPath } from './path.ts';
import { TemplateError } from './types.ts';

export type Placeholder = { readonly secret: string } | { readonly callback: string };

/**
 * The placeholder of a tree that is `secrets.NAME`, `secrets['NAME']` or `callback('slug')`; undefined for other trees.
 */
export function placeholderOf(node: Node): Placeholder | undefined {
  if (node.kind === 'callback') return { callback: node.slug };
  const found = staticPath(node);
  if (!found?.complete || found.root !== 'secrets' || found.path.length !== 1) return undefined;
  const [name] = found.path;
  return typeof name === 'string' ? { secret: name } : undefined;
}

/** @throws TemplateError `secret_not_allowed` if the tree contains a secret or a callback. */
export function rejectPlaceholders(node: Node, source: string): void {
  if (node.kind === 'callback') throw placeholderNotAllowed("callback('…')", node.column, source);
  if (node.kind === 'root' && node.name === 'secrets') throw placeholderNotAllowed('A secret', node.column, source);
  for (const child of children(node)) rejectPlaceholders(child, source);
}

/** The error for a secret or a callback where none is allowed. */
export function placeholderNotAllowed(what: string, column: number, source: string): TemplateError {
  const template = what === 'A secret' ? '{{ secrets.NAME }}' : "{{ callback('slug') }}";
  const expected = `${template} with nothing else in the braces, in a field that is sent with a request`;
  return new TemplateError(
    'secret_not_allowed',
    `${what} is not allowed here (column ${column}): only the sending activity knows its value. Expected ${expected}.`,
    { column, expected, source },
  );
}
