/** The key of a payload for debouncing: `debounce.key` (LANGUAGE.md §1). */

import { canonicalText } from '../../json/canonical-text.ts';
import { getOwn, type Json } from '../../json/json.ts';
import { walkPath } from '../../template/member-access.ts';
import { objectScope } from '../../template/scope.ts';
import { parseTemplate, render } from '../../template/template.ts';

/** Units of work (template/limits.ts), since other requests wait during the evaluation. */
const MAX_WORK = 100_000;

/**
 * The value of the key in the payload: at a dot path (`customer.id`, `items.0.id`), also through names with dots, or of
 * a template over `input`. Undefined if there is none.
 * @throws TemplateError if the template cannot be parsed.
 */
export function payloadKey(key: string, payload: Json): string | undefined {
  const value = key.includes('{{')
    ? // A key has no clock, since equal keys must stay equal.
      render(parseTemplate(key), objectScope({ input: payload }), { now: 0, maxWork: MAX_WORK, isLegacy: () => true })
        .value
    : readDotPath(key.split('.'), payload);
  if (value === undefined || value === null || value === '') return undefined;
  return typeof value === 'object' ? canonicalText(value) : String(value);
}

/** A member of the whole name is found even if the path leads through a null. */
function readDotPath(names: readonly string[], payload: Json): Json | undefined {
  const found = walkPath(payload, names, readName) as Json | undefined;
  return found ?? getOwn(payload, names.join('.'));
}

function readName(value: unknown, name: string): Json | undefined {
  const here = value as Json | undefined;
  return Array.isArray(here) && /^\d+$/.test(name) ? here[Number(name)] : getOwn(here, name);
}
