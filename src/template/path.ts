/** The parts of paths that are known without evaluation. */
import type { Node } from './ast.ts';

interface StaticPath {
  readonly root: string;
  readonly path: (string | number)[];
  readonly column: number;
  /** Whether the path is the whole node, so that no part of it is computed. */
  readonly complete: boolean;
}

/**
 * The root and the leading literal members of a chain of members; undefined if the chain does not begin with a root.
 */
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

/** The column where a node begins in the source, which is that of its first operand. */
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

/** The name of a node in errors: its path, its literal, or its column. */
export function pathText(node: Node): string {
  // In a choice between a constant and a path, only the path can have no value.
  if (node.kind === 'conditional' && node.then?.kind === 'literal') return pathText(node.otherwise);
  const found = staticPath(node);
  if (found?.complete) return `"${found.root}${found.path.map(segmentText).join('')}"`;
  return node.kind === 'literal' ? `"${String(node.value)}"` : `The part at column ${startColumn(node)}`;
}

function segmentText(key: string | number): string {
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
