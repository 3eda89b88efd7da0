/** Finds legal expressions that are probably mistakes. */
import { children, type Node } from './ast.ts';
import type { Expression } from './expression.ts';

/**
 * The columns (1-based) of every `&&` or `||` that follows the other without parentheses. In Jexl both have the same
 * precedence: `a || b && c` is `(a || b) && c`.
 */
export function mixedLogic(expression: Expression): number[] {
  return collect(expression.node, []).sort((a, b) => a - b);
}

/**
 * The columns (1-based) of strings within the expression that contain `{{`. Such a string is not a template.
 */
export function bracedStrings(expression: Expression): number[] {
  const columns: number[] = [];
  const visit = (node: Node): void => {
    if (node.kind === 'literal' && typeof node.value === 'string' && node.value.includes('{{'))
      columns.push(node.column);
    for (const child of children(node)) visit(child);
  };
  visit(expression.node);
  return columns;
}

function collect(node: Node, columns: number[]): number[] {
  if (node.kind === 'binary' && isLogic(node.operator) && !node.leftGrouped) {
    const { left } = node;
    if (left.kind === 'binary' && isLogic(left.operator) && left.operator !== node.operator) columns.push(node.column);
  }
  for (const child of children(node)) collect(child, columns);
  return columns;
}

function isLogic(operator: string): boolean {
  return operator === '&&' || operator === '||';
}
