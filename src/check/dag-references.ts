/** References that flow: dag cannot resolve: roots of a walk, and steps by computed names (LANGUAGE.md §3.6, §8). */
import type { Reading } from './readings.ts';
import type { Findings, Subject } from './subject.ts';

const ROOTS_OF_A_WALK: {
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

export function checkDagReferences({ isDag, steps, readings }: Subject, { problems, warnings }: Findings): void {
  if (!isDag) return;
  for (const reading of readings) {
    if (reading.only !== undefined) continue;
    const step = reading.slug === undefined ? undefined : steps.get(reading.slug);
    const namesOthers = (step?.written.dependsOn ?? []).length > 0;
    for (const { root, path, column, pointer } of reading.references) {
      if (reading.locals.includes(root)) continue;
      const at = `${reading.at}${pointer ?? ''}`;
      const refused = root === 'error' && isOfRollback(reading) ? undefined : ROOTS_OF_A_WALK[root];
      if (refused !== undefined) {
        const [code, words, hint] = refused;
        problems.add(at, code, `Column ${column}: ${words}`, hint);
      } else if (root === 'steps' && typeof path[0] !== 'string' && step !== undefined && !namesOthers) {
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
function isOfRollback({ at }: Reading): boolean {
  return at.split('/')[3] === 'rollback';
}
