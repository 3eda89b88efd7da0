/**
 * Persons (LANGUAGE.md §6). The gateway knows who asks and vouches for it (`by`, `as`); while an organization has no keys
 * there are no persons, and these rules do not apply. A signal has an identity as little: it has its own rule.
 */

import type { Decision } from '../../../contract/run.ts';
import type { JsonObject } from '../../../json/json.ts';
import type { StepContext } from '../../kind.ts';

/** The person of an event, if there is one. */
export function personOf({ by, as }: Pick<Decision, 'by' | 'as'>): Required<Pick<Decision, 'by' | 'as'>> | undefined {
  return by === undefined || as === undefined ? undefined : { by, as };
}

/** The names among those who are asked that the person answers to. */
export function standsFor(audience: readonly string[], { by, as }: NonNullable<ReturnType<typeof personOf>>): string[] {
  const names = new Set([
    `user:${by}`,
    ...as.roles.map((name) => `role:${name}`),
    ...as.groups.map((name) => `group:${name}`),
  ]);
  return audience.filter((name) => names.has(name));
}

/** The person who started the run and may not decide, if there is one. */
export function excludedRequester({ hold, execution }: Pick<StepContext, 'hold' | 'execution'>): string | undefined {
  return hold['requesterMayApprove'] === true ? undefined : execution.initiator;
}

/** Those of the audience whose votes count. */
export function electorsOf(visit: Pick<StepContext, 'hold' | 'execution'>): string[] {
  const requester = excludedRequester(visit);
  return (visit.hold['audience'] as string[]).filter((name) => name !== `user:${requester}`);
}

/** Who cannot answer any more, or never could. */
export function notByOf(visit: Pick<StepContext, 'hold' | 'execution'>): string[] {
  const requester = excludedRequester(visit);
  const voters = (visit.hold['votes'] as JsonObject[]).flatMap(({ by, for: names }) =>
    typeof by === 'string' && names !== undefined ? [by] : [],
  );
  return [...new Set([...(requester === undefined ? [] : [requester]), ...voters])];
}
