/** References that flow: dag cannot resolve: roots of a walk, and steps by computed names (LANGUAGE.md §3.6, §8). */

import type { Analysis, Findings } from './analysis.ts';
import type { ExpressionSite } from './expression-sites.ts';

const ROOTS_UNAVAILABLE_IN_DAG: {
  readonly [root: string]: readonly [code: 'not_in_dag' | 'outside_loop', words: string, hint: string];
} = {
  lastOutput: [
    'not_in_dag',
    'lastOutput has no value in flow: dag, where steps run concurrently.',
    'Read steps.NAME.output.',
  ],
  // Each step is a frame of its own, and an error belongs to one frame.
  error: [
    'not_in_dag',
    'error has no value in flow: dag, where steps run concurrently.',
    'Read steps.NAME.output.meta.error.',
  ],
  loop: [
    'outside_loop',
    'loop has no value in flow: dag, which has no loops.',
    'Use the modifier forEach and read item or index.',
  ],
};

export function checkDagReferences(
  { isDag, steps, expressionSites }: Analysis,
  { problems, warnings }: Findings,
): void {
  if (!isDag) return;
  for (const site of expressionSites) {
    if (site.allowedRoots !== undefined) continue;
    const step = site.slug === undefined ? undefined : steps.get(site.slug);
    const hasDependsOn = (step?.written.dependsOn ?? []).length > 0;
    for (const { root, path, column, pointer } of site.references) {
      if (site.locals.includes(root)) continue;
      const at = `${site.at}${pointer ?? ''}`;
      const unavailable = root === 'error' && isInRollback(site) ? undefined : ROOTS_UNAVAILABLE_IN_DAG[root];
      if (unavailable !== undefined) {
        const [code, words, hint] = unavailable;
        problems.add(at, code, `Column ${column}: ${words}`, hint);
      } else if (root === 'steps' && typeof path[0] !== 'string' && step !== undefined && !hasDependsOn) {
        warnings.add(
          at,
          'unnamed_dependency',
          `Column ${column}: "${step.slug}" reads a step by a computed name, and so does not wait for it.`,
          'List the steps that it can read in dependsOn.',
        );
      }
    }
  }
}

/** In a rollback `error` is the run's error. */
function isInRollback({ at }: ExpressionSite): boolean {
  return at.split('/')[3] === 'rollback';
}
