/**
 * What the attempts of an effect have used of models is paid, whatever becomes of it. History keeps only the last attempt's
 * end, so each attempt tells the next one with its heartbeats.
 */

import { addUsage, type ModelUsage, usageIn } from '../../src/contract/models.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';

/** `told`, a result's meta or a failure's details, with the usage of the attempts `before` added to its own. */
export function withUsage(told: Json | undefined, before: ModelUsage | undefined): Json | undefined {
  if (before === undefined) return told;
  const own = usageIn(told);
  const usage: JsonObject = { ...(own === undefined ? before : { ...own, ...addUsage(own, before) }) };
  return { ...(isObject(told) ? told : told === undefined ? {} : { told }), usage };
}
