/**
 * The context of one evaluation, which the compiled closures share: the scope, the clock, and the work left.
 */
import { defined } from '../json/defined.ts';
import { MAX_ARRAY_LENGTH, MAX_RESULT_SIZE, MAX_STRING_LENGTH, MAX_WORK } from './limits.ts';
import { type EvaluateOptions, type Scope, TemplateError, type TemplateErrorCode } from './types.ts';

export interface Evaluation {
  readonly scope: Scope;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** As of EvaluateOptions. */
  readonly asBefore: () => boolean;
  /** The current element of a filter, from which `.name` reads. */
  element: unknown;
  /** Units of work left (MAX_WORK). */
  work: number;
  /** The units of work at the begin. */
  readonly limit: number;
  /** Characters and nodes that the result can still take (MAX_RESULT_SIZE). */
  room: number;
  /** Column of the current operator or transform, for its errors. */
  column: number;
}

export function beginEvaluation(scope: Scope, options: EvaluateOptions): Evaluation {
  const { now, asBefore = asNow } = options;
  const limit = Math.min(options.work ?? MAX_WORK, MAX_WORK);
  return { scope, now, asBefore, element: undefined, work: limit, limit, room: MAX_RESULT_SIZE, column: 1 };
}

const asNow = (): boolean => false;

/** Adds the work of an evaluation to the meter, even if it failed. */
export function account(evaluation: Evaluation, options: EvaluateOptions): void {
  if (options.meter !== undefined) options.meter.units += evaluation.limit - evaluation.work;
}

/** Subtracts `units` from the work left. @throws TemplateError `expression_limit` when none is left. */
export function spend(evaluation: Evaluation, units: number): void {
  evaluation.work -= units;
  if (evaluation.work < 0) {
    throw overLimit(
      evaluation,
      `The expression takes more than ${evaluation.limit} units of work. Use fewer elements, or a run_code step.`,
    );
  }
}

/**
 * Charges for the comparison of two texts by the characters that it may read. `equality` reads none if the lengths
 * differ. Texts of up to 31 characters cost nothing beyond the node that compares them.
 */
export function chargeComparison(evaluation: Evaluation, left: unknown, right: unknown, equality: boolean): void {
  if (typeof left !== 'string' || typeof right !== 'string') return;
  if (equality && left.length !== right.length) return;
  const units = Math.min(left.length, right.length) >> 5;
  if (units > 0) spend(evaluation, units);
}

/** Subtracts `size` from the room of the result. @throws TemplateError `expression_limit` when it is full. */
export function occupy(evaluation: Evaluation, size: number): void {
  evaluation.room -= size;
  if (evaluation.room < 0) {
    throw overLimit(
      evaluation,
      `The result has more than ${MAX_RESULT_SIZE} characters and values. Read fewer or smaller values.`,
    );
  }
}

/** Checks and charges a string of `length` characters before it is built. @throws TemplateError `expression_limit` */
export function boundString(evaluation: Evaluation, length: number): void {
  if (length > MAX_STRING_LENGTH) {
    throw overLimit(
      evaluation,
      `A string of ${length} characters is longer than the limit of ${MAX_STRING_LENGTH}. Build it in smaller parts.`,
    );
  }
  spend(evaluation, 1 + (length >> 5));
}

/** Checks and charges an array of `length` elements before it is built. @throws TemplateError `expression_limit` */
export function boundArray(evaluation: Evaluation, length: number): void {
  if (length > MAX_ARRAY_LENGTH) {
    throw overLimit(
      evaluation,
      `An array of ${length} elements is longer than the limit of ${MAX_ARRAY_LENGTH}. Process it in slices.`,
    );
  }
  spend(evaluation, 1 + length);
}

/** An error at the current column. */
export function fail(
  evaluation: Evaluation,
  code: TemplateErrorCode,
  message: string,
  expected?: string,
): TemplateError {
  return new TemplateError(code, message, {
    column: evaluation.column,
    ...defined({ expected }),
  });
}

/** The error of an expression that takes or makes too much. */
export function overLimit(evaluation: Evaluation, message: string): TemplateError {
  return fail(evaluation, 'expression_limit', message);
}
