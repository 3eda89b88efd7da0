/** The type of a transform. */
import { type Evaluation, evaluationError } from '../evaluation.ts';
import type { TemplateError } from '../types.ts';

export interface Transform {
  /** Arguments in parentheses, for people: `(separator = ',')`. */
  readonly takes: string;
  /** The result, as a sentence of the reference. */
  readonly gives: string;
  /** Least and most arguments. */
  readonly arity: readonly [least: number, most: number];
  /** `value` and `args` are values of a scope. The result need not be clean JSON. */
  readonly apply: (value: unknown, args: readonly unknown[], evaluation: Evaluation) => unknown;
}

/** Transforms as they are written. One without `takes` and `arity` takes no arguments. */
export interface TransformDeclarations {
  readonly [name: string]: Pick<Transform, 'gives' | 'apply'> & Partial<Transform>;
}

/** The error `expression_type` for an argument or a value that a transform cannot use. */
export function wrongType(evaluation: Evaluation, problem: string, expected: string): TemplateError {
  return evaluationError(evaluation, 'expression_type', `${problem}; expected ${expected}.`, expected);
}
