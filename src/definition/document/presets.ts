/** Presets of a run (LANGUAGE.md §7): results by slug, for steps that are then not run. */

import { isObject, type Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { childPointer } from '../../json/pointer.ts';
import { didYouMean } from './names.ts';
import type { Definition, Problem } from './types.ts';

/** The most problems that are reported. */
const MAX_REPORTED = 20;
const MAX_NAME_CHARACTERS = 80;

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
    .slice(0, MAX_REPORTED)
    .map((slug) => {
      const name = slug.slice(0, MAX_NAME_CHARACTERS);
      const hint = didYouMean(slug, known);
      return {
        pointer: childPointer('/presets', name),
        code: 'unknown_step',
        message: `The preset '${name}' names no step of this definition.`,
        ...omitUndefined({ hint }),
      };
    });
}

/** The members of an output as traces show it. */
const OUTPUT_MEMBERS: ReadonlySet<string> = new Set(['data', 'port', 'meta', 'type']);

/** What a preset with `data` holds besides, and would lose: members that no output has, and members of another type. */
export function presetProblems(preset: Json, at: string): Problem[] {
  if (!isObject(preset) || !Object.hasOwn(preset, 'data')) return [];
  const { port = null, meta = null } = preset;
  const unknownMembers = Object.keys(preset)
    .filter((name) => !OUTPUT_MEMBERS.has(name))
    .slice(0, MAX_REPORTED)
    .map((written): Problem => {
      const name = written.slice(0, MAX_NAME_CHARACTERS);
      return {
        pointer: childPointer(at, name),
        code: 'unknown_member',
        message: `A preset with "data" is an output {data, port?, meta?}: "${name}" would be lost.`,
        hint: 'If it belongs to the data, write the whole object as `data`: {data: {data: …, …}}.',
      };
    });
  const wrong = (member: string, expected: string): Problem => ({
    pointer: childPointer(at, member),
    code: 'wrong_type',
    message: `Expected ${expected}.`,
  });
  return [
    ...unknownMembers,
    ...(port === null || typeof port === 'string' ? [] : [wrong('port', 'the name of a port')]),
    ...(meta === null || isObject(meta) ? [] : [wrong('meta', 'an object')]),
  ];
}

/** As presetProblems, of all presets of a run. */
export const presetMemberProblems = (presets: { readonly [slug: string]: Json }): Problem[] =>
  Object.entries(presets).flatMap(([slug, preset]) => presetProblems(preset, childPointer('/presets', slug)));

/** One sentence about all of them, for an error. */
export function presetsErrorMessage(problems: readonly Problem[]): string {
  const [first] = problems;
  const more = problems.length > 1 ? ` ${problems.length - 1} more of its presets name no step.` : '';
  return `${first?.message ?? ''}${first?.hint === undefined ? '' : ` ${first.hint}`}${more} Nothing was run.`;
}
