/** Presets of a run (LANGUAGE.md §7): results given by hand, by the slug of the step that is then not run. */

import { defined } from '../../json/defined.ts';
import { isObject } from '../../json/json.ts';
import { didYouMean } from './names.ts';
import { below } from './pointer.ts';
import type { Definition, Problem } from './types.ts';

/** Problems that are told: whoever sends thousands of names reads the first. */
const MOST_TOLD = 20;
const LONGEST_NAME = 80;

/** The code of a run, and of a request, with presets for steps that the definition does not have. */
export const UNKNOWN_PRESET = 'unknown_preset';

/**
 * Presets that no step would take: with one of these the step that was meant would really run. A run that is started by hand
 * may hold anything in their place.
 */
export function unknownPresets({ steps }: Pick<Definition, 'steps'>, presets: unknown): Problem[] {
  if (!isObject(presets)) {
    const message = 'Expected an object: the slug of a step → what it ends with.';
    return [{ pointer: '/presets', code: 'wrong_type', message }];
  }
  const known = Object.keys(steps);
  return Object.keys(presets)
    .filter((slug) => !Object.hasOwn(steps, slug))
    .slice(0, MOST_TOLD)
    .map((slug) => {
      const name = slug.slice(0, LONGEST_NAME);
      const hint = didYouMean(slug, known);
      return {
        pointer: below('/presets', name),
        code: 'unknown_step',
        message: `There is a preset for '${name}', which is no step of this definition.`,
        ...defined({ hint }),
      };
    });
}

/** One sentence of them all, for an error. */
export function presetsRefused(problems: readonly Problem[]): string {
  const [first] = problems;
  const more = problems.length > 1 ? ` ${problems.length - 1} more of its presets name no step.` : '';
  return `${first?.message ?? ''}${first?.hint === undefined ? '' : ` ${first.hint}`}${more} Nothing was run.`;
}
