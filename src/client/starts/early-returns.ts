/**
 * Which runs may show their output before they close: those with a `return` or `finish` that drains. Readers of their
 * results look at the memo again and again; results of all other runs are one long poll.
 */

import type { Definition, StepDefinition } from '../../definition/document/types.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { isObject } from '../../json/json.ts';
import type { Access } from '../temporal/access.ts';

type NamespaceAccess = Pick<Access, 'namespace'>;

const MAX_CACHED_RUNS = 20_000;
/** By namespace and id, the oldest first. The definition of an execution never changes. */
const earlyReturnCache = new BoundedMap<string, boolean>(MAX_CACHED_RUNS);

/** Whether the run may return early. Undefined where this process has not seen its definition. */
export const cachedEarlyReturns = ({ namespace }: NamespaceAccess, executionId: string): boolean | undefined =>
  earlyReturnCache.get(`${namespace} ${executionId}`);

/** Remembers whether a run of that definition may return early, and answers it. */
export function cacheEarlyReturns(
  { namespace }: NamespaceAccess,
  executionId: string,
  definition: Definition,
): boolean {
  const returnsEarly = mayDrain(definition);
  earlyReturnCache.set(`${namespace} ${executionId}`, returnsEarly);
  return returnsEarly;
}

function mayDrain(definition: Definition): boolean {
  if (definition.output !== undefined) return false;
  // A run that was started by hand may have any values in place of steps.
  return Object.values(definition.steps).some((step) => {
    const { stepType, config } = isObject(step) ? (step as unknown as StepDefinition) : ({} as Partial<StepDefinition>);
    return stepType === 'return' ? config?.['drain'] !== false : stepType === 'finish' && config?.['drain'] === true;
  });
}
