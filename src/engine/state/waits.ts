/** The waits of a visit: its own, and those of its asks (an agent's calls, LANGUAGE.md §5). */
import { commandId } from './paths.ts';
import type { OpenVisit } from './state.ts';

export interface Wait {
  /** Of the visit, or of the ask. */
  readonly path: string;
  /** Which of the visit's asks; absent for the visit's own wait. */
  readonly ask?: string;
  readonly waiting: NonNullable<OpenVisit['waiting']>;
}

/** The visit's own wait first. */
export function waitsOf(visit: OpenVisit): Wait[] {
  const own = visit.waiting === undefined ? [] : [{ path: visit.path, waiting: visit.waiting }];
  const asks = Object.entries(visit.asks ?? {});
  return [...own, ...asks.map(([ask, waiting]) => ({ path: commandId(visit.path, ask), ask, waiting }))];
}
