/**
 * The condition that `filter` takes as a text: `path operator value` (`n >= 2`, `status == open`), or a path alone. It
 * is not an expression, since a condition can come from data, and data is never evaluated.
 */
import type { Evaluation } from '../evaluation.ts';
import { readPath } from '../member-access.ts';
import { compare, looselyEqual, truthy } from '../operators.ts';
import { wrongType } from './transform.ts';

/** Longer ones first: `>=` is not `>` and `=`. */
const OPERATORS = ['>=', '<=', '==', '!=', '>', '<'] as const;
const PATH = /^[\p{L}\d_$-]+(?:\.[\p{L}\d_$-]+)*$/u;
const NUMBER = /^-?(?:\d+(?:\.\d+)?|\.\d+)$/;
const LITERALS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);
const MAX_CONDITION_LENGTH = 200;

/** A test of one element. @throws TemplateError `expression_type` if the text is not a condition. */
export function parseCondition(condition: unknown, evaluation: Evaluation): (element: unknown) => boolean {
  const problem = 'filter cannot take this condition';
  const expected = "a text such as 'total > 5' or 'status == open'; for other conditions write list[.total > limit]";
  if (typeof condition !== 'string' || condition.length > MAX_CONDITION_LENGTH) {
    throw wrongType(evaluation, problem, expected);
  }
  const at = condition.search(/[><=!]/);
  const written = (at < 0 ? condition : condition.slice(0, at)).trim().replace(/^\./, '');
  if (!PATH.test(written)) throw wrongType(evaluation, problem, expected);
  const path = written.split('.');
  if (at < 0) return (element) => truthy(readPath(element, path));
  const operator = OPERATORS.find((candidate) => condition.startsWith(candidate, at));
  const rest = condition.slice(at + (operator?.length ?? 0)).trim();
  if (operator === undefined || rest === '' || /^[><=!]/.test(rest)) throw wrongType(evaluation, problem, expected);
  const value = literal(rest);
  if (operator === '==') return (element) => looselyEqual(readPath(element, path), value, evaluation);
  if (operator === '!=') return (element) => !looselyEqual(readPath(element, path), value, evaluation);
  return (element) => compare(readPath(element, path), operator, value, evaluation);
}

/** A number, true, false, null, a quoted text, or any other text without quotes. */
function literal(text: string): string | number | boolean | null {
  if (NUMBER.test(text)) return Number(text);
  const word = LITERALS.get(text);
  if (word !== undefined) return word;
  const quote = text.charAt(0);
  const quoted = text.length >= 2 && (quote === '"' || quote === "'") && text.endsWith(quote);
  return quoted ? text.slice(1, -1) : text;
}
