/** Secrets and callbacks are no values here (LANGUAGE.md §3): a template may hold them bare, and an expression never does. */
import { children, type Node } from './ast.ts';
import { staticPath } from './path.ts';
import { TemplateError } from './types.ts';

export type Placeholder = { readonly secret: string } | { readonly callback: string };

/** What a tree that is nothing but `secrets.NAME`, `secrets['NAME']` or `callback('slug')` stands for; undefined for every other. */
export function placeholderOf(node: Node): Placeholder | undefined {
  if (node.kind === 'callback') return { callback: node.slug };
  const found = staticPath(node);
  if (!found?.complete || found.root !== 'secrets' || found.path.length !== 1) return undefined;
  const [name] = found.path;
  return typeof name === 'string' ? { secret: name } : undefined;
}

/** Throws `secret_not_allowed` if a secret or a callback stands anywhere in the tree. */
export function refuseSecrets(node: Node, source: string): void {
  if (node.kind === 'callback') throw notAllowed("callback('…')", node.column, source);
  if (node.kind === 'root' && node.name === 'secrets') throw notAllowed('A secret', node.column, source);
  for (const child of children(node)) refuseSecrets(child, source);
}

/** The error at a place where a secret or a callback may not stand. */
export function notAllowed(what: string, column: number, source: string): TemplateError {
  const template = what === 'A secret' ? '{{ secrets.NAME }}' : "{{ callback('slug') }}";
  const expected = `${template} with nothing else in the braces, in a field that is sent with a request`;
  return new TemplateError(
    'secret_not_allowed',
    `${what} cannot stand here (column ${column}): it has no value before it is sent. Expected ${expected}.`,
    { column, expected, source },
  );
}
