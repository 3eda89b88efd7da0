/** Templates and expressions that are evaluated before a run exists: mappings, filters and keys have few roots. */
import { didYouMean } from '../definition/document/names.ts';
import type { Problem } from '../definition/document/types.ts';
import type { Reference } from '../template/types.ts';
import { problem } from './analysis.ts';

/** The clock of the evaluator. */
const CLOCK_ROOTS = ['now', 'nowMs'] as const;

/**
 * The roots of a trigger's mapping, and of an event's filter (LANGUAGE.md §10, src/client/triggers/event-fanout.ts).
 */
export const MAPPING_ROOTS: readonly string[] = ['body', 'query', 'headers', 'params', ...CLOCK_ROOTS];
export const FILTER_ROOTS: readonly string[] = ['event', 'name', 'key', 'data', 'id', ...CLOCK_ROOTS];

export function unavailableRootProblems(
  references: readonly Reference[],
  roots: readonly string[],
  at: string,
): Problem[] {
  return references
    .filter(({ root }) => !roots.includes(root))
    .map(({ root, column, pointer }) => unavailableRoot(at + (pointer ?? ''), column, root, roots));
}

export function unavailableRoot(at: string, column: number, root: string, roots: readonly string[]): Problem {
  const message = `Column ${column}: "${root.slice(0, 80)}" cannot be read here, before the run has begun.`;
  return problem(at, 'unknown_root', message, didYouMean(root, roots));
}
