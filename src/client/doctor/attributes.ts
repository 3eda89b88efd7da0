/** Whether the namespace has the search attributes of runs, or room for them. */
import { encodeSearchAttributeIndexedValueType } from '../../temporal-internals/sdk.ts';
import {
  findShortages,
  OWN_NAMESPACE_SETTING,
  type RegisteredAttributes,
  shortageRemedies,
} from '../search-attributes/capacity.ts';
import { cliTypeOf, searchAttributeKeys } from '../search-attributes/keys.ts';
import { registrationCommand } from '../temporal/bootstrap.ts';
import type { Finding } from './finding.ts';

/** `registered`: the custom search attributes of the namespace. `isSql`: lists come from a SQL database. */
export function attributesFinding(registered: RegisteredAttributes, isSql: boolean, namespace: string): Finding {
  const check = 'search attributes';
  const wrong = searchAttributeKeys.filter(({ name, type }) => {
    const has = registered[name];
    return has !== undefined && has !== null && has !== encodeSearchAttributeIndexedValueType(type);
  });
  if (wrong.length > 0) {
    const named = wrong.map(({ name, type }) => `${name} (needed: ${cliTypeOf(type)})`).join(', ');
    return { check, level: 'blocks', text: `These have another type: ${named}.`, lines: [OWN_NAMESPACE_SETTING] };
  }
  const missing = searchAttributeKeys.filter(({ name }) => registered[name] === undefined);
  if (missing.length === 0) return { check, level: 'ok', text: `All ${searchAttributeKeys.length} are registered.` };
  const found = isSql ? findShortages(registered, missing) : [];
  if (found.length === 0 && missing.length === searchAttributeKeys.length) {
    const text = `${missing.length} are not registered yet. Starting a gateway or a worker registers them.`;
    return { check, level: 'note', text };
  }
  // An installation that has been started: one was removed, or a newer version needs it.
  if (found.length === 0)
    return {
      check,
      level: 'blocks',
      text:
        `${missing.map(({ name }) => name).join(', ')} of ${searchAttributeKeys.length} are not registered: no run ` +
        'starts. Starting a gateway or a worker anew registers them, or:',
      lines: missing.map((key) => registrationCommand(namespace, key)),
    };
  const text = `Namespace ${namespace} has no room for them: ${found.map((one) => one.text).join('; ')}.`;
  return { check, level: 'blocks', text, lines: shortageRemedies(found, namespace) };
}
