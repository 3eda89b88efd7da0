/** What the channels of send_message share. Errors name only the member, because values may contain secrets. */
import type { Json, JsonObject } from '../../src/json/json.ts';
import { invalidConfig } from '../runtime/failure.ts';
import type { ActivityContext } from '../runtime/wrap-activity.ts';

export interface Delivery {
  /** The same for all attempts of a visit. */
  readonly id: string;
  /** The evaluated config. */
  readonly message: JsonObject;
  readonly context: ActivityContext;
}

/** Sends one message and returns members of `steps.x.output.data` beside id and channel. @throws ActivityError */
export type Channel = (delivery: Delivery) => Promise<JsonObject>;

export function optionalText(value: Json | undefined, member: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'object') throw invalidConfig(member, 'a text');
  return String(value);
}

export function requireText(value: Json | undefined, member: string): string {
  const found = optionalText(value, member);
  if (found === undefined) throw invalidConfig(member, 'a non-empty text');
  return found;
}

/** One text or a list of texts; empty if the value is absent. */
export function textList(value: Json | undefined, member: string): string[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map((one) => requireText(one, member));
}
