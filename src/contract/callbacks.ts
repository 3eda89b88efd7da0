/** What a wait_callback step and the gateway's route for its URL agree on. */
import type { JsonObject } from '../json/json.ts';

export const CALLBACK_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type CallbackMethod = (typeof CALLBACK_METHODS)[number];
const DEFAULT_METHODS: readonly CallbackMethod[] = ['POST', 'PUT'];

const PREFIX = 'callback:';

/** The name of the message that a callback for the visit of that path becomes. */
export function callbackName(path: string): string {
  return `${PREFIX}${path}`;
}

/** Whether a message of that name would pass for a callback: only the gateway's route sends any. */
export function isCallbackName(name: string): boolean {
  return name.startsWith(PREFIX);
}

/** The methods that a step's written config takes; undefined where it says something that is no list of methods. */
export function callbackMethods(config: JsonObject | undefined): readonly CallbackMethod[] | undefined {
  const written = config?.['methods'];
  if (written === undefined || written === null) return DEFAULT_METHODS;
  if (!Array.isArray(written) || written.length === 0) return undefined;
  const known = CALLBACK_METHODS.filter((method) => written.includes(method));
  return written.every((method) => known.some((one) => one === method)) ? known : undefined;
}
