import { sameJson } from '../json/equality.ts';
import type { Json } from '../json/json.ts';
import { truthy } from '../template/expression.ts';
import type { Condition } from './program-types.ts';

/** Document 001's structured condition, once its ref is read: at most one operator; truthy without one. */
export function compared(value: Json | undefined, compare: Condition['compare']): boolean {
  if (compare === undefined) return truthy(value);
  const { op } = compare;
  if (op === 'eq' || op === 'neq') return sameJson(value ?? null, compare.value) === (op === 'eq');
  if (typeof value !== 'number' || typeof compare.value !== 'number') return false;
  return op === 'gt' ? value > compare.value : value < compare.value;
}
