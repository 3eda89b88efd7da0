import type { Config } from '../src/config.ts';

/** Every activity that the worker offers, by the name under which workflows call it. */
export function createActivities(_config: Config): Record<string, (...args: never[]) => Promise<unknown>> {
  return {};
}
