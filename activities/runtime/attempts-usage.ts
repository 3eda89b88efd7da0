/**
 * Model usage of all attempts is paid for, even if they fail. History keeps only the end of the last attempt, so each
 * attempt passes its usage to the next one in its heartbeat details.
 */

import { addUsage, type ModelUsage, usageIn } from '../../src/contract/models.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';

/** Adds the usage `before`, of earlier attempts, to a result's meta or a failure's details. */
export function withUsage(told: Json | undefined, before: ModelUsage | undefined): Json | undefined {
  if (before === undefined) return told;
  const own = usageIn(told);
  const usage: JsonObject = { ...(own === undefined ? before : { ...own, ...addUsage(own, before) }) };
  return { ...(isObject(told) ? told : told === undefined ? {} : { told }), usage };
}
