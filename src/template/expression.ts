/** Expressions: parsed once, evaluated synchronously, as often as one likes (LANGUAGE.md §4). */

import { defined } from '../json/defined.ts';
import type { Json } from '../json/json.ts';
import type { Node } from './ast.ts';
import { compile, type Run } from './compile.ts';
import { account, beginEvaluation, type Evaluation, spend } from './evaluation.ts';
import { toJson } from './json.ts';
import { truthy as isTruthy } from './operators.ts';
import { parseWhole } from './parser.ts';
import { refuseSecrets } from './secrets.ts';
import { type EvaluateOptions, type Scope, TemplateError } from './types.ts';

export interface Expression {
  readonly kind: 'expression';
  /** As written, without the braces of a template. */
  readonly source: string;
  readonly node: Node;
  readonly run: Run;
}

/**
 * Parses an expression. A blank one has the value undefined, as in Jexl.
 * Throws TemplateError: `expression_syntax`, `unknown_transform`, `expression_limit`, or `secret_not_allowed`, since neither
 * `secrets` nor `callback(…)` may stand within an expression.
 */
export function parseExpression(source: string): Expression {
  const node = parseWhole(source);
  refuseSecrets(node, source);
  return expressionOf(node, source);
}

/** An expression from its parsed tree. */
export function expressionOf(node: Node, source: string): Expression {
  return { kind: 'expression', source, node, run: compile(node) };
}

/**
 * The value as clean JSON; undefined where a path leads nowhere. Parts of the scope are given back as they are, not copied.
 * Throws TemplateError: `expression_type`, `expression_limit`, `unresolved_reference` (a text joined to nothing by `+`).
 */
export function evaluate(expression: Expression, scope: Scope, options: EvaluateOptions): Json | undefined {
  const evaluation = beginEvaluation(scope, options);
  try {
    return evaluateWithin(expression, evaluation);
  } catch (error) {
    throw located(error, expression.source);
  } finally {
    account(evaluation, options);
  }
}

/** One of several expressions that share an evaluation's limits. */
export function evaluateWithin(expression: Expression, evaluation: Evaluation): Json | undefined {
  spend(evaluation, expression.node.nodes);
  return toJson(expression.run(evaluation), evaluation);
}

/** Jexl's truthiness: nothing, false, 0 and '' are false; every array and object is true. */
export function truthy(value: unknown): boolean {
  return isTruthy(value);
}

/** The same error with its source and, in a template, its pointer, where it has none yet. */
export function located(error: unknown, source: string, pointer?: string): unknown {
  if (!(error instanceof TemplateError)) return error;
  const { code, message, column, expected } = error;
  const at = error.pointer ?? pointer;
  return new TemplateError(code, message, {
    source: error.source ?? source,
    ...defined({ column, expected, pointer: at }),
  });
}
