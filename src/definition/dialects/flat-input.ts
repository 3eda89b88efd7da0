/** The keys of the input that a definition of document 000 declares: it reads them flat, as it reads its variables. */
import { isObject, type Json } from '../../json/json.ts';
import { declaredNames } from '../payload/format.ts';

/** `input`: the definition's format; `steps`: those whose triggers may say more of it, in canonical form. */
export function flatInput(input: Json | undefined, steps: Iterable<unknown>): Set<string> {
  const names = new Set(isObject(input) ? declaredNames(input) : []);
  for (const step of steps) {
    if (!isObject(step) || step['stepType'] !== 'trigger' || !isObject(step['config'])) continue;
    const { inputs } = step['config'];
    if (isObject(inputs)) for (const name of declaredNames(inputs)) names.add(name);
    // 000's list of fields.
    else if (Array.isArray(inputs)) {
      for (const field of inputs) if (isObject(field) && typeof field['name'] === 'string') names.add(field['name']);
    }
  }
  return names;
}
