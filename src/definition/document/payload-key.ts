/** The key by which payloads count as one: `debounce.key` (document 004; LANGUAGE.md §1). */
import { getOwn, type Json } from '../../json/json.ts';
import { readAlong } from '../../template/read.ts';
import { objectScope } from '../../template/scope.ts';
import { parseTemplate, render } from '../../template/template.ts';
import { canonicalText } from './canonical-text.ts';

/** Units of work (template/limits.ts): a key is found while others wait. */
const MOST_WORK = 100_000;

/**
 * What stands in the payload at the key: a dot path (`customer.id`, `items.0.id`), also through names with dots, or what a
 * template over `input` gives. Undefined where there is nothing.
 * @throws TemplateError where the template cannot be read.
 */
export function payloadKey(key: string, payload: Json): string | undefined {
  const value = key.includes('{{')
    ? // The clock is no part of a key: payloads of one key would not count as one.
      render(parseTemplate(key), objectScope({ input: payload }), { now: 0, work: MOST_WORK }).value
    : along(key.split('.'), payload);
  if (value === undefined || value === null || value === '') return undefined;
  return typeof value === 'object' ? canonicalText(value) : String(value);
}

/** A member of the whole name is also found beside one that holds nothing. */
function along(names: readonly string[], payload: Json): Json | undefined {
  const found = readAlong(payload, names, readName) as Json | undefined;
  return found ?? getOwn(payload, names.join('.'));
}

function readName(value: unknown, name: string): Json | undefined {
  const here = value as Json | undefined;
  return Array.isArray(here) && /^\d+$/.test(name) ? here[Number(name)] : getOwn(here, name);
}
