/** The key by which payloads count as one: `debounce.key` (document 004; language.md §1). */
import { objectScope } from '../template/scope.ts';
import { parseTemplate, render } from '../template/template.ts';
import type { Json } from '../template/types.ts';
import { canonicalText } from './canonical-text.ts';
import { own } from './json.ts';

/**
 * What stands in the payload at the key: a dot path (`customer.id`, `items.0.id`), else a member of that very name, or what a
 * template over `input` gives. Undefined where there is nothing.
 * @throws TemplateError where the template cannot be read.
 */
export function payloadKey(key: string, payload: Json): string | undefined {
  const value = key.includes('{{')
    ? // The clock is no part of a key: payloads of one key would not count as one.
      render(parseTemplate(key), objectScope({ input: payload }), { now: 0 }).value
    : (along(key.split('.'), payload) ?? own(payload, key));
  if (value === undefined || value === null || value === '') return undefined;
  return typeof value === 'object' ? canonicalText(value) : String(value);
}

function along(names: readonly string[], value: Json | undefined): Json | undefined {
  let at = value;
  for (const name of names) at = Array.isArray(at) && /^\d+$/.test(name) ? at[Number(name)] : own(at, name);
  return at;
}
