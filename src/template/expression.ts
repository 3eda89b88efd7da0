/** Expressions: parsed once, evaluated any number of times, synchronously (LANGUAGE.md §4). */

import { defined } from '../json/defined.ts';
import type { Json } from '../json/json.ts';
import type { Node } from './ast.ts';
import { toJson } from './clean-json.ts';
import { compile, type Run } from './compile.ts';
import { account, beginEvaluation, type Evaluation, spend } from './evaluation.ts';
import { parseWhole } from './parser.ts';
import { refuseSecrets } from './placeholders.ts';
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
 * @throws TemplateError `expression_syntax`, `unknown_transform`, `expression_limit`, and `secret_not_allowed` for
 * `secrets` and `callback(…)`, which an expression must not contain.
 */
export function parseExpression(source: string): Expression {
  const node = parseWhole(source);
  refuseSecrets(node, source);
  return expressionOf(node, source);
}

/** The expression of a parsed tree. */
export function expressionOf(node: Node, source: string): Expression {
  return { kind: 'expression', source, node, run: compile(node) };
}

/**
 * The value as clean JSON; undefined for a path that does not resolve. Parts of the scope are returned without a copy.
 * @throws TemplateError `expression_type`, `expression_limit`, and `unresolved_reference` for a text joined to a
 * missing value by `+`.
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

/** Evaluates one of several expressions that share the limits of an evaluation. */
export function evaluateWithin(expression: Expression, evaluation: Evaluation): Json | undefined {
  spend(evaluation, expression.node.nodes);
  return toJson(expression.run(evaluation), evaluation);
}

/** The error with its source and, in a template, its pointer, if it does not have them yet. */
export function located(error: unknown, source: string, pointer?: string): unknown {
  if (!(error instanceof TemplateError)) return error;
  const { code, message, column, expected } = error;
  const at = error.pointer ?? pointer;
  return new TemplateError(code, message, {
    source: error.source ?? source,
    ...defined({ column, expected, pointer: at }),
  });
}
