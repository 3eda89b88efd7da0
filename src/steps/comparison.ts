import { sameJson } from '../json/equality.ts';
import type { Json } from '../json/json.ts';
import { truthy } from '../template/operators.ts';
import type { Condition } from './program-types.ts';

/**
 * Evaluates mesh's structured condition on the value of its ref. Without an operator, the value must be
 * truthy.
 */
export function matchesComparison(value: Json | undefined, compare: Condition['compare']): boolean {
  if (compare === undefined) return truthy(value);
  const { op } = compare;
  if (op === 'eq' || op === 'neq') return sameJson(value ?? null, compare.value) === (op === 'eq');
  if (typeof value !== 'number' || typeof compare.value !== 'number') return false;
  return op === 'gt' ? value > compare.value : value < compare.value;
}
