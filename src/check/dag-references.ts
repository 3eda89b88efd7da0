/** Reads that flow: dag cannot give: what belongs to a walk, and steps that are not named (LANGUAGE.md §3.6, §8). */
import type { Reading } from './readings.ts';
import { type Findings, problem, type Subject } from './subject.ts';

const MEANINGLESS: {
  readonly [root: string]: readonly [code: 'not_in_dag' | 'outside_loop', words: string, hint: string];
} = {
  lastOutput: ['not_in_dag', 'lastOutput has no meaning where steps run side by side.', 'Read steps.NAME.output.'],
  // Each step is a frame of its own: what one of them caught is not for the others.
  error: ['not_in_dag', 'error has no value where steps run side by side.', 'Read steps.NAME.output.meta.error.'],
  loop: [
    'outside_loop',
    'a graph has no loops, so that loop has no value.',
    'With the modifier forEach read item and index.',
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
      const meaningless = root === 'error' && isOfRollback(reading) ? undefined : MEANINGLESS[root];
      if (meaningless !== undefined) {
        const [code, words, hint] = meaningless;
        problems.push(problem(at, code, `Column ${column}: ${words}`, hint));
      } else if (root === 'steps' && typeof path[0] !== 'string' && step !== undefined && !namesOthers) {
        warnings.push(
          problem(
            at,
            'unnamed_dependency',
            `Column ${column}: "${step.slug}" does not name the step that it reads here, and so waits for none.`,
            'Name those that may be meant in dependsOn.',
          ),
        );
      }
    }
  }
}

/** There it is the run's error. */
function isOfRollback({ at }: Reading): boolean {
  return at.split('/')[3] === 'rollback';
}
