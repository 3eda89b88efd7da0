/**
 * The context of one evaluation, which the compiled closures share: the scope, the clock, and the work left.
 */
import { omitUndefined } from '../json/omit-undefined.ts';
import { MAX_ARRAY_LENGTH, MAX_RESULT_SIZE, MAX_STRING_LENGTH, MAX_WORK } from './limits.ts';
import { type EvaluateOptions, type Scope, TemplateError, type TemplateErrorCode } from './types.ts';

export interface Evaluation {
  readonly scope: Scope;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** As of EvaluateOptions. */
  readonly isLegacy: () => boolean;
  /** The current element of a filter, from which `.name` reads. */
  element: unknown;
  /** Units of work left (MAX_WORK). */
  workLeft: number;
  /** The units of work at the begin. */
  readonly workLimit: number;
  /** Characters and nodes that the result can still take (MAX_RESULT_SIZE). */
  sizeLeft: number;
  /** Column of the current operator or transform, for its errors. */
  column: number;
}

export function beginEvaluation(scope: Scope, options: EvaluateOptions): Evaluation {
  const { now, isLegacy = neverLegacy } = options;
  const workLimit = Math.min(options.maxWork ?? MAX_WORK, MAX_WORK);
  return {
    scope,
    now,
    isLegacy,
    element: undefined,
    workLeft: workLimit,
    workLimit,
    sizeLeft: MAX_RESULT_SIZE,
    column: 1,
  };
}

const neverLegacy = (): boolean => false;

/** Adds the work of an evaluation to the meter, even if it failed. */
export function addToMeter(evaluation: Evaluation, options: EvaluateOptions): void {
  if (options.meter !== undefined) options.meter.units += evaluation.workLimit - evaluation.workLeft;
}

/** Subtracts `units` from the work left. @throws TemplateError `expression_limit` when none is left. */
export function chargeWork(evaluation: Evaluation, units: number): void {
  evaluation.workLeft -= units;
  if (evaluation.workLeft < 0) {
    throw limitError(
      evaluation,
      `The expression takes more than ${evaluation.workLimit} units of work. Use fewer elements, or a run_code step.`,
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
  if (units > 0) chargeWork(evaluation, units);
}

/** Subtracts `size` from the size left for the result. @throws TemplateError `expression_limit` when none is left. */
export function chargeSize(evaluation: Evaluation, size: number): void {
  evaluation.sizeLeft -= size;
  if (evaluation.sizeLeft < 0) {
    throw limitError(
      evaluation,
      `The result has more than ${MAX_RESULT_SIZE} characters and values. Read fewer or smaller values.`,
    );
  }
}

/** Checks and charges a string of `length` characters before it is built. @throws TemplateError `expression_limit` */
export function chargeString(evaluation: Evaluation, length: number): void {
  if (length > MAX_STRING_LENGTH) {
    throw limitError(
      evaluation,
      `A string of ${length} characters is longer than the limit of ${MAX_STRING_LENGTH}. Build it in smaller parts.`,
    );
  }
  chargeWork(evaluation, 1 + (length >> 5));
}

/** Checks and charges an array of `length` elements before it is built. @throws TemplateError `expression_limit` */
export function chargeArray(evaluation: Evaluation, length: number): void {
  if (length > MAX_ARRAY_LENGTH) {
    throw limitError(
      evaluation,
      `An array of ${length} elements is longer than the limit of ${MAX_ARRAY_LENGTH}. Process it in slices.`,
    );
  }
  chargeWork(evaluation, 1 + length);
}

/** An error at the current column. */
export function evaluationError(
  evaluation: Evaluation,
  code: TemplateErrorCode,
  message: string,
  expected?: string,
): TemplateError {
  return new TemplateError(code, message, {
    column: evaluation.column,
    ...omitUndefined({ expected }),
  });
}

/** The error of an expression that takes or makes too much. */
export function limitError(evaluation: Evaluation, message: string): TemplateError {
  return evaluationError(evaluation, 'expression_limit', message);
}
