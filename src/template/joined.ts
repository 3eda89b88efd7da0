/** Secrets and callbacks put into a rendered value, by the activity that needs them, right before it uses them (E7). */
import { isObject, type Json, setOwn } from '../json/json.ts';
import { type SecretString, TemplateError } from './types.ts';

export type SecretPart = Exclude<SecretString['parts'][number], string>;

/**
 * A copy of the value with the strings of `secrets` in place of their placeholders; what is not on the way to one is shared with
 * the value, which stays as it is. `lookup` gives the text of a secret or callback, and throws where there is none.
 * Throws TemplateError `unresolved_reference` if the value has nothing at the path of a secret.
 */
export function joinSecrets(value: Json, secrets: readonly SecretString[], lookup: (part: SecretPart) => string): Json {
  return secrets.reduce((joined, { path, parts }) => {
    const text = parts.map((part) => (typeof part === 'string' ? part : lookup(part))).join('');
    return replaceAt(joined, path, 0, text);
  }, value);
}

function replaceAt(value: Json, path: readonly (string | number)[], depth: number, text: string): Json {
  const key = path[depth];
  if (key === undefined) return text;
  if (Array.isArray(value) && typeof key === 'number' && key in value) {
    const copy = [...value];
    copy[key] = replaceAt(value[key] ?? null, path, depth + 1, text);
    return copy;
  }
  if (isObject(value) && Object.hasOwn(value, key)) {
    const copy: { [key: string]: Json } = {};
    for (const [name, member] of Object.entries(value)) {
      setOwn(copy, name, name === String(key) ? replaceAt(member, path, depth + 1, text) : member);
    }
    return copy;
  }
  const message = `The value has no member ${JSON.stringify(path.join('.'))} for a secret to stand in.`;
  throw new TemplateError('unresolved_reference', message);
}
