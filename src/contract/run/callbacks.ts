/** What a wait_callback step shares with the gateway's route for its URL. */
import type { JsonObject } from '../../json/json.ts';

export const CALLBACK_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type CallbackMethod = (typeof CALLBACK_METHODS)[number];
const DEFAULT_METHODS: readonly CallbackMethod[] = ['POST', 'PUT'];

const PREFIX = 'callback:';

/** The message name of a callback for the visit of that path. */
export function callbackName(path: string): string {
  return `${PREFIX}${path}`;
}

/** Whether the name is reserved for callbacks: only the gateway's route sends these messages. */
export function isCallbackName(name: string): boolean {
  return name.startsWith(PREFIX);
}

/** The methods that a step's written config accepts. Undefined where the value is not a list of methods. */
export function callbackMethods(config: JsonObject | undefined): readonly CallbackMethod[] | undefined {
  const written = config?.['methods'];
  if (written === undefined || written === null) return DEFAULT_METHODS;
  if (!Array.isArray(written) || written.length === 0) return undefined;
  const known = CALLBACK_METHODS.filter((method) => written.includes(method));
  return written.every((method) => known.some((one) => one === method)) ? known : undefined;
}
