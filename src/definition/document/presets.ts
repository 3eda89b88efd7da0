/** Presets of a run (LANGUAGE.md §7): results by slug, for steps that are then not run. */

import { defined } from '../../json/defined.ts';
import { isObject } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { didYouMean } from './names.ts';
import type { Definition, Problem } from './types.ts';

/** The most problems that are reported. */
const MOST_TOLD = 20;
const LONGEST_NAME = 80;

/** The error code of runs and requests with presets for unknown steps. */
export const UNKNOWN_PRESET = 'unknown_preset';

/**
 * Presets that name no step. Without this problem the step that the author meant would really run. The value can be
 * anything, since runs can be started by hand.
 */
export function unknownPresets({ steps }: Pick<Definition, 'steps'>, presets: unknown): Problem[] {
  if (!isObject(presets)) {
    const message = 'Expected an object: the slug of a step → its result.';
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
        pointer: childPointer('/presets', name),
        code: 'unknown_step',
        message: `The preset '${name}' names no step of this definition.`,
        ...defined({ hint }),
      };
    });
}

/** One sentence about all of them, for an error. */
export function presetsRefused(problems: readonly Problem[]): string {
  const [first] = problems;
  const more = problems.length > 1 ? ` ${problems.length - 1} more of its presets name no step.` : '';
  return `${first?.message ?? ''}${first?.hint === undefined ? '' : ` ${first.hint}`}${more} Nothing was run.`;
}
