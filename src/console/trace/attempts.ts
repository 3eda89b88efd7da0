/** The attempts of a visit, out of the rows of its path. */
import type { StepRow } from '../data/types.ts';

/** What `attempts=true` answers of one visit: its attempts, the last with its end. */
export function attemptsOf(rows: readonly StepRow[], startedAt: number): readonly StepRow[] {
  const groups: StepRow[][] = [];
  for (const row of rows) {
    if (groups.length === 0 || (row.attempt ?? 1) <= (groups.at(-1)!.at(-1)!.attempt ?? 1)) groups.push([]);
    groups.at(-1)!.push(row);
  }
  return groups.find((group) => Date.parse(group.at(-1)!.startedAt) === startedAt) ?? groups.at(-1) ?? [];
}
