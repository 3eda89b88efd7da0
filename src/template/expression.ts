/** Expressions: parsed once, evaluated any number of times, synchronously (LANGUAGE.md §4). */

import type { Json } from '../json/json.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import type { Node } from './ast.ts';
import { toJson } from './clean-json.ts';
import { compileExpression, type Evaluator } from './compile.ts';
import { addToMeter, beginEvaluation, chargeWork, type Evaluation } from './evaluation.ts';
import { parseSource } from './parser.ts';
import { rejectPlaceholders } from './placeholders.ts';
import { type EvaluateOptions, type Scope, TemplateError } from './types.ts';

export interface Expression {
  readonly kind: 'expression';
  /** As written, without the braces of a template. */
  readonly source: string;
  readonly node: Node;
  readonly evaluator: Evaluator;
}

/**
 * Parses an expression. A blank one has the value undefined, as in Jexl.
 * @throws TemplateError `expression_syntax`, `unknown_transform`, `expression_limit`, and `secret_not_allowed` for
 * `secrets` and `callback(…)`, which an expression must not contain.
 */
export function parseExpression(source: string): Expression {
  const node = parseSource(source);
  rejectPlaceholders(node, source);
  return expressionOf(node, source);
}

/** The expression of a parsed tree. */
export function expressionOf(node: Node, source: string): Expression {
  return { kind: 'expression', source, node, evaluator: compileExpression(node) };
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
    throw withSource(error, expression.source);
  } finally {
    addToMeter(evaluation, options);
  }
}

/** Evaluates one of several expressions that share the limits of an evaluation. */
export function evaluateWithin(expression: Expression, evaluation: Evaluation): Json | undefined {
  chargeWork(evaluation, expression.node.nodes);
  return toJson(expression.evaluator(evaluation), evaluation);
}

/** The error with its source and, in a template, its pointer, if it does not have them yet. */
export function withSource(error: unknown, source: string, pointer?: string): unknown {
  if (!(error instanceof TemplateError)) return error;
  const { code, message, column, expected } = error;
  const at = error.pointer ?? pointer;
  return new TemplateError(code, message, {
    source: error.source ?? source,
    ...omitUndefined({ column, expected, pointer: at }),
  });
}
