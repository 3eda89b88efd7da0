/**
 * Reads the argument of a run into the values that it starts with. The shell and the fold both call this (E6).
 */

import type { AppliedLimit } from '../../contract/limits/limiter.ts';
import { DEFAULT_ORGANIZATION } from '../../contract/organization/organization.ts';
import type { RunInput } from '../../contract/run/run.ts';
import { isPlainObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { definitionLimits } from './definition-limits.ts';
import type { Genesis } from './protocol.ts';

/**
 * The argument of the workflow `run`: `{definition, input?, …}`, or a bare definition (ARCHITECTURE.md §3). Undefined
 * for anything else. The definition is not compiled here.
 */
export function runInputOf(argument: unknown): RunInput | undefined {
  if (!isPlainObject(argument)) return undefined;
  if (isPlainObject(argument['definition'])) return argument as unknown as RunInput;
  return isPlainObject(argument['steps']) ? ({ definition: argument } as unknown as RunInput) : undefined;
}

/**
 * `startedAt`: when the workflow was started, in epoch milliseconds (workflowInfo().startTime; the first event's
 * time).
 */
export function genesisOf(input: RunInput, workflowId: string, startedAt: number): Genesis {
  return {
    executionId: workflowId,
    organizationId: input.organizationId ?? DEFAULT_ORGANIZATION,
    input: input.input === undefined ? {} : input.input,
    presets: input.presets ?? {},
    trigger: input.trigger ?? { type: 'temporal' },
    ...omitUndefined({
      hash: input.hash,
      initiator: input.initiator,
      requesters: input.requesters,
      parentId: input.parentId,
    }),
    depth: input.depth ?? 0,
    startedAt,
    ...omitUndefined({ timeoutMs: input.timeoutMs, light: input.light }),
    ...limitersOf(input),
  };
}

/** The limiters in the argument. A run that was started by hand or as a child has the limiters of its definition. */
function limitersOf({ gates, within = [], definition, input, organizationId }: RunInput): {
  gates?: readonly AppliedLimit[];
} {
  const { concurrency, mode } = definition.config ?? {};
  const isLimited = gates !== undefined || concurrency !== undefined || mode === 'restart';
  if (!isLimited) return {};
  const subject = {
    definition,
    input: input === undefined ? {} : input,
    organizationId: organizationId ?? DEFAULT_ORGANIZATION,
  };
  const own = gates ?? definitionLimits(subject).filter(({ gate }) => !within.includes(gate));
  return own.length === 0 ? {} : { gates: own };
}
