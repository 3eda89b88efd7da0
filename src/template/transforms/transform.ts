/** What a transform is. */
import { type Evaluation, fail } from '../evaluation.ts';
import type { TemplateError } from '../types.ts';

export interface Transform {
  /** Arguments in parentheses, for people: `(separator = ',')`. */
  readonly takes: string;
  /** What comes out, in a sentence of the reference. */
  readonly gives: string;
  /** Least and most arguments. */
  readonly arity: readonly [least: number, most: number];
  /** `value` and `args` are anything that a scope holds; the answer need not be clean JSON yet. */
  readonly apply: (value: unknown, args: readonly unknown[], evaluation: Evaluation) => unknown;
}

export type Family = { readonly [name: string]: Transform };

/** An argument or a value that a transform can do nothing with: `expression_type`. */
export function wrongType(evaluation: Evaluation, problem: string, expected: string): TemplateError {
  return fail(evaluation, 'expression_type', `${problem}; expected ${expected}.`, expected);
}
