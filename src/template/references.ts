/** The references of expressions and templates, as far as they are known without evaluation. */
import { children, type Node } from './ast.ts';
import type { Expression } from './expression.ts';
import { staticPath } from './path.ts';
import type { Placeholder } from './placeholders.ts';
import type { Template, TemplateNode, TextNode } from './template.ts';
import type { Reference } from './types.ts';

interface ExpressionAt {
  readonly expression: Expression;
  /** JSON pointer of the string within the template's value, or of the member whose key it is. */
  readonly pointer: string;
}

export interface PlaceholderAt {
  readonly placeholder: Placeholder;
  readonly pointer: string;
  readonly column: number;
}

/**
 * Every path that is read, in the order of the source, with repetitions. `now` and `nowMs` are roots, and so is
 * `secrets` in a template. Members of elements (`.total` in a filter) have no root and are not listed.
 */
export function references(source: Expression | Template): Reference[] {
  if (source.kind === 'expression') return collect(source.node, []);
  const found: Reference[] = [];
  for (const node of textNodes(source.root)) {
    for (const part of node.parts) {
      if (typeof part === 'string') continue;
      if (part.kind === 'expression') {
        for (const reference of collect(part.node, [])) found.push({ ...reference, pointer: node.pointer });
      } else if ('secret' in part.placeholder) {
        const { column, placeholder } = part;
        found.push({ root: 'secrets', path: [placeholder.secret], column, pointer: node.pointer });
      }
    }
  }
  return found;
}

/** The secrets and callbacks of a template, with their pointers. */
export function placeholders(template: Template): PlaceholderAt[] {
  const found: PlaceholderAt[] = [];
  for (const { pointer, parts } of textNodes(template.root)) {
    for (const part of parts) {
      if (typeof part === 'string' || part.kind === 'expression') continue;
      found.push({ placeholder: part.placeholder, pointer, column: part.column });
    }
  }
  return found;
}

/** The expressions of a template, with the pointers of their strings. */
export function expressions(template: Template): ExpressionAt[] {
  const found: ExpressionAt[] = [];
  for (const { pointer, parts } of textNodes(template.root)) {
    for (const part of parts) {
      if (typeof part === 'object' && part.kind === 'expression') found.push({ expression: part, pointer });
    }
  }
  return found;
}

function textNodes(node: TemplateNode): TextNode[] {
  switch (node.kind) {
    case 'constant':
      return [];
    case 'text':
      return [node];
    case 'array':
      return node.items.flatMap(textNodes);
    case 'object':
      return node.members.flatMap(({ key, value }) =>
        typeof key === 'string' ? textNodes(value) : [key, ...textNodes(value)],
      );
  }
}

function collect(node: Node, found: Reference[]): Reference[] {
  const path = staticPath(node);
  if (path === undefined) {
    for (const child of children(node)) collect(child, found);
    return found;
  }
  found.push({ root: path.root, path: path.path, column: path.column });
  collectComputed(node, found);
  return found;
}

/** The references within the brackets of a path. */
function collectComputed(node: Node, found: Reference[]): void {
  if (node.kind === 'member' || node.kind === 'index' || node.kind === 'filter') collectComputed(node.from, found);
  if (node.kind === 'index') collect(node.key, found);
  if (node.kind === 'filter') collect(node.test, found);
}
