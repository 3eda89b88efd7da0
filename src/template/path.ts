/** Paths as far as they are written out. */
import type { Node } from './ast.ts';

export interface StaticPath {
  readonly root: string;
  readonly path: (string | number)[];
  readonly column: number;
  /** Whether the path is the whole node: nothing of it is computed. */
  readonly complete: boolean;
}

/** The root and the leading written-out members that a chain of members begins with; undefined where no root is below. */
export function staticPath(node: Node): StaticPath | undefined {
  switch (node.kind) {
    case 'root':
      return { root: node.name, path: [], column: node.column, complete: true };
    case 'member':
      return extend(staticPath(node.from), node.name);
    case 'index':
      return extend(staticPath(node.from), literalKey(node.key));
    case 'filter': {
      const from = staticPath(node.from);
      return from && { ...from, complete: false };
    }
    default:
      return undefined;
  }
}

/** Where a node begins in the source: the column of its first operand. */
export function startColumn(node: Node): number {
  switch (node.kind) {
    case 'member':
    case 'index':
    case 'filter':
      return startColumn(node.from);
    case 'binary':
      return startColumn(node.left);
    case 'conditional':
      return startColumn(node.test);
    case 'transform':
      return startColumn(node.value);
    default:
      return node.column;
  }
}

/** How an error names a node: its path, or what stands there. */
export function pathText(node: Node): string {
  // Of a choice between a constant and a path, only the path can be without a value.
  if (node.kind === 'conditional' && node.then?.kind === 'literal') return pathText(node.otherwise);
  const found = staticPath(node);
  if (found?.complete) return `"${found.root}${found.path.map(step).join('')}"`;
  return node.kind === 'literal' ? `"${String(node.value)}"` : `The part at column ${startColumn(node)}`;
}

function step(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`;
  return /^[\p{L}_$][\p{L}\d_$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function extend(from: StaticPath | undefined, key: string | number | undefined): StaticPath | undefined {
  if (from === undefined || !from.complete) return from;
  if (key === undefined) return { ...from, complete: false };
  from.path.push(key);
  return from;
}

function literalKey(key: Node): string | number | undefined {
  if (key.kind !== 'literal') return undefined;
  const { value } = key;
  return typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value)) ? value : undefined;
}
