/** What is legal and probably not meant. */
import { children, type Node } from './ast.ts';
import type { Expression } from './expression.ts';

/**
 * Columns (1-based) of every `&&` or `||` that follows the other one without parentheses. In Jexl both bind alike, from left to
 * right: `a || b && c` is `(a || b) && c`.
 */
export function mixedLogic(expression: Expression): number[] {
  return collect(expression.node, []).sort((a, b) => a - b);
}

/**
 * Columns (1-based) of strings within the expression that hold `{{`: they are texts as they stand, nothing is put into them.
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
