/**
 * What one evaluation carries through the compiled closures: where names are read, the clock, and how much work is left.
 */
import { defined } from '../json/defined.ts';
import { MAX_ARRAY_LENGTH, MAX_RESULT_SIZE, MAX_STRING_LENGTH, MAX_WORK } from './limits.ts';
import { type EvaluateOptions, type Scope, TemplateError, type TemplateErrorCode } from './types.ts';

export interface Evaluation {
  readonly scope: Scope;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The element that a filter looks at: what `.name` reads from. */
  element: unknown;
  /** Units of work left (MAX_WORK). */
  work: number;
  /** What it began with. */
  readonly limit: number;
  /** Characters and nodes that the result may still have (MAX_RESULT_SIZE). */
  room: number;
  /** Column of the operator or transform that runs, for its errors. */
  column: number;
}

export function beginEvaluation(scope: Scope, options: EvaluateOptions): Evaluation {
  const limit = Math.min(options.work ?? MAX_WORK, MAX_WORK);
  return { scope, now: options.now, element: undefined, work: limit, limit, room: MAX_RESULT_SIZE, column: 1 };
}

/** Puts what an evaluation has taken on the meter, also when it failed. */
export function account(evaluation: Evaluation, options: EvaluateOptions): void {
  if (options.meter !== undefined) options.meter.units += evaluation.limit - evaluation.work;
}

/** Takes `units` from the work left. Throws `expression_limit` when none is left. */
export function spend(evaluation: Evaluation, units: number): void {
  evaluation.work -= units;
  if (evaluation.work < 0) {
    throw fail(
      evaluation,
      'expression_limit',
      `The expression takes more than ${evaluation.limit} units of work. Do it on fewer elements, or in a run_code step.`,
    );
  }
}

/**
 * Charges for comparing two values where both are texts: as many characters as it may look at. `equality` looks at none where
 * the lengths differ. Texts of up to 31 characters cost nothing beyond what the node costs that compares them.
 */
export function chargeComparison(evaluation: Evaluation, left: unknown, right: unknown, equality: boolean): void {
  if (typeof left !== 'string' || typeof right !== 'string') return;
  if (equality && left.length !== right.length) return;
  const units = Math.min(left.length, right.length) >> 5;
  if (units > 0) spend(evaluation, units);
}

/** Takes `size` from what the result may still hold. Throws `expression_limit` when it is full. */
export function occupy(evaluation: Evaluation, size: number): void {
  evaluation.room -= size;
  if (evaluation.room < 0) {
    throw fail(
      evaluation,
      'expression_limit',
      `The result has more than ${MAX_RESULT_SIZE} characters and values. Refer to fewer or smaller values.`,
    );
  }
}

/** Asserts, before a string of `length` characters is built, that it may be, and charges for it. */
export function boundString(evaluation: Evaluation, length: number): void {
  if (length > MAX_STRING_LENGTH) {
    throw fail(
      evaluation,
      'expression_limit',
      `A string of ${length} characters is longer than the limit of ${MAX_STRING_LENGTH}. Build it in smaller parts.`,
    );
  }
  spend(evaluation, 1 + (length >> 5));
}

/** Asserts, before an array of `length` elements is built, that it may be, and charges for it. */
export function boundArray(evaluation: Evaluation, length: number): void {
  if (length > MAX_ARRAY_LENGTH) {
    throw fail(
      evaluation,
      'expression_limit',
      `An array of ${length} elements is longer than the limit of ${MAX_ARRAY_LENGTH}. Work on slices of it.`,
    );
  }
  spend(evaluation, 1 + length);
}

/** An error at the place that runs. */
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
