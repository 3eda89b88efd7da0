/** Puts confirmed references into the inputs of recorded steps. */

import { wholeReference } from '../compat/mesh/references.ts';
import type { ConfirmReferences, RecordedStep } from '../contract/definitions/recording.ts';
import { sameJson } from '../json/equality.ts';
import { getOwn, isObject, type Json, type JsonObject, setOwn } from '../json/json.ts';
import { childPointer, pointerParts, valueAt } from '../json/pointer.ts';
import { resolve } from './references.ts';
import { withReference } from './suggestions.ts';

type Item = ConfirmReferences['items'][number];

interface RecordedInput {
  readonly input: Json;
  readonly steps: readonly RecordedStep[];
}

interface Confirmed extends RecordedInput {
  readonly changed: readonly RecordedStep[];
}

interface Refused {
  readonly problem: { readonly pointer: string; readonly code: string; readonly message: string };
}

/** A member of the input that a reference names. */
const NEW_INPUT = /^@input\.([A-Za-z_$][\w$-]*)$/;

/** All of them, or the problem of the first that cannot be confirmed. */
export function confirmReferences(recorded: RecordedInput, items: readonly Item[]): Confirmed | Refused {
  let { input, steps } = recorded;
  const changed = new Set<string>();
  for (const [index, item] of items.entries()) {
    const at = childPointer('/items', index);
    const outcome = confirmOne({ input, steps }, item, at);
    if ('problem' in outcome) return outcome;
    input = outcome.input;
    steps = outcome.steps;
    changed.add(item.step);
  }
  return { input, steps, changed: steps.filter(({ name }) => changed.has(name)) };
}

function confirmOne(
  recorded: RecordedInput,
  { step: name, pointer, reference }: Item,
  at: string,
): RecordedInput | Refused {
  const { steps } = recorded;
  const order = steps.findIndex((step) => step.name === name);
  const step = steps[order];
  if (step === undefined)
    return refusal(`${at}/step`, 'no_such_step', `The recording has no step "${name.slice(0, 80)}".`);
  const written = step.step['input'] ?? null;
  const literal = valueAt(written, pointer);
  if (literal === undefined)
    return refusal(`${at}/pointer`, 'entry_changed', `The input of "${name}" has nothing at ${pointer || '/'}.`);
  if (wholeReference(reference) === undefined)
    return refusal(`${at}/reference`, 'unknown_reference', 'Expected a reference, such as @input.name or @step.name.');
  const input = withMember(recorded.input, reference, literal);
  // A reference leads to an earlier step, so that no circle can come about.
  const known = { input, steps: steps.slice(0, order) };
  const resolved = resolve(reference, known);
  if ('problems' in resolved) {
    const [first] = resolved.problems;
    return refusal(`${at}/reference`, first?.code ?? 'unknown_reference', first?.message ?? 'The reference is wrong.');
  }
  // The text may hold references already.
  const before = resolve(literal, known);
  const value = 'value' in before ? before.value : literal;
  const replacement = replacementOf(literal, reference, resolved.value);
  const replaced = replacement === undefined ? undefined : resolve(replacement, known);
  if (replacement === undefined || replaced === undefined || !('value' in replaced) || !sameJson(replaced.value, value))
    return refusal(
      `${at}/reference`,
      'entry_changed',
      `"${reference.slice(0, 80)}" has another value than the input of "${name}" at ${pointer || '/'}.`,
    );
  const updated: RecordedStep = { ...step, step: { ...step.step, input: withValueAt(written, pointer, replacement) } };
  return { input, steps: steps.with(order, updated) };
}

/** The input of the recording, with the literal under the name of a reference that has no value yet. */
function withMember(input: Json, reference: string, literal: Json): Json {
  const [, member] = NEW_INPUT.exec(reference) ?? [];
  if (member === undefined || !isObject(input) || getOwn(input, member) !== undefined) return input;
  return { ...input, [member]: literal };
}

/** The reference itself, or the text with the reference in place of the value. */
function replacementOf(literal: Json, reference: string, value: Json): string | undefined {
  if (sameJson(literal, value)) return reference;
  if (typeof literal !== 'string' || (typeof value !== 'string' && typeof value !== 'number')) return undefined;
  return value === '' ? undefined : withReference(literal, String(value), reference);
}

/** A copy of the value with another one at the pointer. */
function withValueAt(value: Json, pointer: string, replacement: Json): Json {
  const [first, ...rest] = pointerParts(pointer);
  if (first === undefined) return replacement;
  const deeper = rest.reduce(childPointer, '');
  if (Array.isArray(value))
    return value.map((item, i) => (String(i) === first ? withValueAt(item, deeper, replacement) : item));
  const copy: JsonObject = {};
  for (const [key, member] of Object.entries(isObject(value) ? value : {}))
    setOwn(copy, key, key === first ? withValueAt(member, deeper, replacement) : member);
  return copy;
}

const refusal = (pointer: string, code: string, message: string): Refused => ({ problem: { pointer, code, message } });
