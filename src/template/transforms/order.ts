/** The order that `sort` gives to values of any kind. */

type Direction = 'asc' | 'desc';

/**
 * Numbers come before texts, texts before booleans, booleans before other values. Numbers are ordered by size, texts by
 * their Unicode characters. Undefined and null come last in both directions. Equal values keep their order.
 */
export function compareForSort(a: unknown, b: unknown, direction: Direction): number {
  const [rankA, rankB] = [rank(a), rank(b)];
  if (rankA === MISSING || rankB === MISSING) return rankA - rankB;
  const order = rankA - rankB || compareAlike(a, b);
  return direction === 'asc' ? order : -order;
}

const MISSING = 4;

function rank(value: unknown): number {
  switch (typeof value) {
    case 'number':
      return Number.isNaN(value) ? MISSING : 0;
    case 'string':
      return 1;
    case 'boolean':
      return 2;
    default:
      return value === undefined || value === null ? MISSING : 3;
  }
}

function compareAlike(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : Number(a > b);
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : Number(a > b);
  return typeof a === 'boolean' ? Number(a) - Number(b) : 0;
}
