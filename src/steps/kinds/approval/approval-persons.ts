/**
 * Persons (LANGUAGE.md §6). The gateway authenticates the caller and passes the identity (`by`, `as`). An organization
 * without keys has no persons, and these rules do not apply. A signal has no identity either, and has its own rule.
 */

import { isNamed } from '../../../contract/organization/people.ts';
import type { Decision } from '../../../contract/run/run.ts';
import type { OpenStepContext } from '../../kind.ts';
import type { ApprovalState } from './approval-state.ts';
import type { Vote } from './approval-votes.ts';

/** The person of an event, if there is one. */
export function personOf({ by, as }: Pick<Decision, 'by' | 'as'>): Required<Pick<Decision, 'by' | 'as'>> | undefined {
  return by === undefined || as === undefined ? undefined : { by, as };
}

export const USER = 'user:';

/** The names of the audience that include the person. */
export function matchingAudience(
  audience: readonly string[],
  { by, as }: NonNullable<ReturnType<typeof personOf>>,
): string[] {
  const names = new Set([...as.roles.map((name) => `role:${name}`), ...as.groups.map((name) => `group:${name}`)]);
  return audience.filter(
    (name) => names.has(name) || (name.startsWith(USER) && isNamed(by, as.names, name.slice(USER.length))),
  );
}

/** Whether the decision is by somebody of that name: its person, or the owner of the address of its link. */
export function isDecidedBy({ by, as, holder }: Pick<Decision, 'by' | 'as' | 'holder'>, name: string): boolean {
  return (
    (by !== undefined && isNamed(by, as?.names, name)) ||
    (holder !== undefined && isNamed(holder.id, holder.names, name))
  );
}

/** Whether somebody who makes the decision has voted. Without a person all callers are one. */
export function hasVoted(votes: readonly Vote[], decision: Pick<Decision, 'by' | 'as' | 'holder'>): boolean {
  if (decision.by === undefined) return votes.some(({ by }) => by === null);
  return votes.some(({ by, holder }) =>
    [by, holder].some((name) => typeof name === 'string' && isDecidedBy(decision, name)),
  );
}

/** The rules of an approval that depend on persons: its state, and who requested the run. */
type Electorate = Pick<OpenStepContext<ApprovalState>, 'state' | 'execution'>;

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
export function excludedVoters(approval: Electorate): string[] {
  const voters = approval.state.votes.flatMap(({ by, holder, for: names }) =>
    by !== null && names !== undefined ? [by, ...(holder === undefined ? [] : [holder])] : [],
  );
  return [...new Set([...excludedRequesters(approval), ...voters])];
}
