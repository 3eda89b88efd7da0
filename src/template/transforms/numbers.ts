/** Transforms of numbers. */
import { chargeWork, type Evaluation } from '../evaluation.ts';
import { toNumber } from '../operators.ts';
import { type TransformDeclarations, wrongType } from './transform.ts';

const MAX_DIGITS = 15;
const MAX_ARGUMENTS = 100;

export const NUMBERS: TransformDeclarations = {
  round: {
    takes: '(digits = 0)',
    gives: 'The number rounded to this many decimal digits, halves away from zero.',
    arity: [0, 1],
    apply: (value, [digits], evaluation) => {
      const places = digits === undefined ? 0 : toNumber(digits, evaluation);
      if (!Number.isInteger(places) || Math.abs(places) > MAX_DIGITS) {
        throw wrongType(evaluation, 'round cannot take this number of digits', 'a whole number from -15 to 15');
      }
      return round(toNumber(value ?? undefined, evaluation), places);
    },
  },
  abs: {
    gives: 'The number without its sign.',
    apply: (value, _args, evaluation) => Math.abs(toNumber(value ?? undefined, evaluation)),
  },
  min: {
    takes: '(…more)',
    gives: 'The least number of an array, or of the value and the arguments; null if there is none.',
    arity: [0, MAX_ARGUMENTS],
    apply: (value, args, evaluation) => extremum(value, args, evaluation, (a, b) => a < b),
  },
  max: {
    takes: '(…more)',
    gives: 'The greatest number of an array, or of the value and the arguments; null if there is none.',
    arity: [0, MAX_ARGUMENTS],
    apply: (value, args, evaluation) => extremum(value, args, evaluation, (a, b) => a > b),
  },
  sum: {
    gives: 'The sum of the numbers of an array; 0 if it is empty.',
    apply: (value, args, evaluation) => numbersOf(value, args, evaluation).reduce((sum, number) => sum + number, 0),
  },
};

/** The numbers of an array's elements and of the arguments. A value that is no number makes the result null. */
function numbersOf(value: unknown, args: readonly unknown[], evaluation: Evaluation): number[] {
  const all = [...(Array.isArray(value) ? value : [value]), ...args.flat()];
  chargeWork(evaluation, all.length);
  return all.filter((item) => item !== undefined && item !== null).map((item) => toNumber(item, evaluation));
}

function extremum(
  value: unknown,
  args: readonly unknown[],
  evaluation: Evaluation,
  better: (a: number, b: number) => boolean,
): number | null {
  let found: number | null = null;
  for (const number of numbersOf(value, args, evaluation)) {
    if (Number.isNaN(number)) return null;
    if (found === null || better(number, found)) found = number;
  }
  return found;
}

/** Shifts the decimal point in the number's own digits, so that 1.005 rounds to 1.01 as people read it. */
function round(number: number, digits: number): number {
  if (!Number.isFinite(number)) return Number.NaN;
  const rounded = shiftDecimalPoint(Math.round(shiftDecimalPoint(Math.abs(number), digits)), -digits);
  return number < 0 && rounded !== 0 ? -rounded : rounded;
}

function shiftDecimalPoint(number: number, exponentChange: number): number {
  const [digits = '0', exponent = '0'] = String(number).split('e');
  return Number(`${digits}e${Number(exponent) + exponentChange}`);
}
