/** The declared keys of the input in tale, which are readable without a prefix, like variables. */

import { declaredNames } from '../../definition/payload/format.ts';
import { isObject, type Json } from '../../json/json.ts';

/** `input`: the format of the definition. `steps`: canonical steps, whose triggers can declare more keys. */
export function flatInput(input: Json | undefined, steps: Iterable<unknown>): Set<string> {
  const names = new Set(isObject(input) ? declaredNames(input) : []);
  for (const step of steps) {
    if (!isObject(step) || step['stepType'] !== 'trigger' || !isObject(step['config'])) continue;
    const { inputs } = step['config'];
    if (isObject(inputs)) for (const name of declaredNames(inputs)) names.add(name);
    // The list of fields in tale.
    else if (Array.isArray(inputs)) {
      for (const field of inputs) if (isObject(field) && typeof field['name'] === 'string') names.add(field['name']);
    }
  }
  return names;
}
