/**
 * Persons (LANGUAGE.md §6). The gateway authenticates the caller and passes the identity (`by`, `as`). An organization
 * without keys has no persons, and these rules do not apply. A signal has no identity either, and has its own rule.
 */

import type { Decision } from '../../../contract/run.ts';
import type { OpenStepContext } from '../../kind.ts';
import type { ApprovalState } from './approval-state.ts';

/** The person of an event, if there is one. */
export function personOf({ by, as }: Pick<Decision, 'by' | 'as'>): Required<Pick<Decision, 'by' | 'as'>> | undefined {
  return by === undefined || as === undefined ? undefined : { by, as };
}

/** The names of the audience that include the person. */
export function standsFor(audience: readonly string[], { by, as }: NonNullable<ReturnType<typeof personOf>>): string[] {
  const names = new Set([
    `user:${by}`,
    ...as.roles.map((name) => `role:${name}`),
    ...as.groups.map((name) => `group:${name}`),
  ]);
  return audience.filter((name) => names.has(name));
}

/** The rules of an approval that depend on persons: its state, and who requested the run. */
export type Electorate = Pick<OpenStepContext<ApprovalState>, 'state' | 'execution'>;

/** The persons who started the run, or a run that it was forked from, and may not decide. */
export function excludedRequesters({ state, execution }: Electorate): readonly string[] {
  const { initiator, requesters = [] } = execution;
  if (state.requesterMayApprove) return [];
  return initiator === undefined ? requesters : [initiator, ...requesters];
}

/** The part of the audience whose votes count. */
export function electorsOf(approval: Electorate): string[] {
  const excluded = new Set(excludedRequesters(approval).map((person) => `user:${person}`));
  return approval.state.audience.filter((name) => !excluded.has(name));
}

/** Persons who may not decide: the requesters, and those who have voted. */
export function notByOf(approval: Electorate): string[] {
  const voters = approval.state.votes.flatMap(({ by, for: names }) => (by !== null && names !== undefined ? [by] : []));
  return [...new Set([...excludedRequesters(approval), ...voters])];
}
