/** Puts secrets and callbacks into a rendered value. An activity does this right before it uses the value (E7). */
import { isObject, type Json, setOwn } from '../json/json.ts';
import { type SecretString, TemplateError } from './types.ts';

export type SecretPart = Exclude<SecretString['parts'][number], string>;

/**
 * A copy of the value in which the strings of `secrets` replace their placeholders. The copy shares the other parts
 * with the value. `lookup` returns the text of a secret or callback, and throws if there is none.
 * @throws TemplateError `unresolved_reference` if the value has no member at the path of a secret.
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
  const message = `The value has no member ${JSON.stringify(path.join('.'))}, where a secret belongs.`;
  throw new TemplateError('unresolved_reference', message);
}
