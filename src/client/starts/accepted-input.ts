/** Checks the input and state of a run against its definition before the run starts. */

import {
  presetMemberProblems,
  presetsErrorMessage,
  UNKNOWN_PRESET,
  unknownPresets,
} from '../../definition/document/presets.ts';
import type { Definition, Problem } from '../../definition/document/types.ts';
import { type coerceState, validatePayload, withDefaults } from '../../definition/payload/format.ts';
import { asJson, type Json, typeName } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { ClientError } from '../errors.ts';

/**
 * The input with the defaults of its format. `at` is its place in the request, so that the pointers of problems are
 * pointers into the request.
 * @throws ClientError `invalid_input` where the input does not fit the format; the details have `problems`.
 */
export function acceptedInput(definition: Definition, given: Json, at = ''): Json {
  if (definition.input === undefined) return given;
  const input = withDefaults(definition.input, given);
  const problems = validatePayload(definition.input, input).map((problem) => ({
    ...problem,
    pointer: `${at}${problem.pointer}`,
  }));
  const [first] = problems;
  if (first === undefined) return input;
  const message =
    `The input is not what workflow ${definition.slug} declares: ${first.message} ` + `(${first.pointer || '/'}).`;
  throw invalidInput(message, problems);
}

/**
 * @throws ClientError `unknown_preset` where presets name unknown steps, `invalid_preset` where a preset would lose
 * members, with `problems` below /presets.
 */
export function demandPresets(definition: Definition, presets: { readonly [slug: string]: Json }): void {
  const unknown = unknownPresets(definition, presets);
  const lost = presetMemberProblems(presets);
  const [first] = lost;
  if (unknown.length > 0) throw presetRefusal(UNKNOWN_PRESET, presetsErrorMessage(unknown), unknown);
  if (first !== undefined)
    throw presetRefusal('invalid_preset', `${first.message} (${first.pointer}) Nothing was run.`, lost);
}

const presetRefusal = (
  code: 'unknown_preset' | 'invalid_preset',
  message: string,
  problems: readonly Problem[],
): ClientError => new ClientError(code, message, { details: { problems: asJson(problems) } });

/** Reads a value into a declared field of the state. */
type StateReader = typeof coerceState;

/** Accepts only values of the declared type. */
const readStrictly: StateReader = (field, value) =>
  value === null || typeof value === field.type
    ? { value }
    : { problem: `expected ${field.type}, got ${typeName(value)}` };

/**
 * Given state, which must have its declared types; another reader lets more through.
 * @throws ClientError `invalid_input`, with `problems` below /state.
 */
export function acceptedState(
  definition: Definition,
  given: { readonly [key: string]: Json },
  read: StateReader = readStrictly,
): { [key: string]: string | number | boolean } {
  const state: { [key: string]: string | number | boolean } = {};
  const problems: Problem[] = [];
  for (const [key, value] of Object.entries(given)) {
    const field = Object.hasOwn(definition.state ?? {}, key) ? definition.state?.[key] : undefined;
    const pointer = childPointer('/state', key);
    if (field === undefined) {
      problems.push({ pointer, code: 'invalid_state', message: `The workflow declares no state ${key}.` });
      continue;
    }
    const coerced = read(field, value);
    if ('problem' in coerced)
      problems.push({ pointer, code: 'invalid_state', message: `The state ${key}: ${coerced.problem}.` });
    // Null clears a field. A field without an own value is clear.
    else if (isScalar(coerced.value)) state[key] = coerced.value;
  }
  if (problems.length === 0) return state;
  const message = `The state is not what workflow ${definition.slug} declares: ${problems[0]?.message}`;
  throw invalidInput(message, problems);
}

const invalidInput = (message: string, problems: readonly Problem[]): ClientError =>
  new ClientError('invalid_input', message, { details: { problems: asJson(problems) } });

const isScalar = (value: Json): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);
