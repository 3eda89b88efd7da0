/**
 * Proposals to change a definition. The definition's actor keeps them, and a person
 * reviews them. An approved proposal can be applied while the definition is unchanged since the proposal. The proposed
 * definition is stored as a version. JSON only.
 */

import type { TextReference } from './text-reference.ts';

export const PROPOSAL_STATUSES = ['pending', 'approved', 'rejected', 'applied', 'failed', 'expired'] as const;
type ProposalStatus = (typeof PROPOSAL_STATUSES)[number];

export interface Proposal {
  readonly id: string;
  readonly status: ProposalStatus;
  /** The slug of the definition to change. */
  readonly baseHash: string;
  /** The hash of the proposed version. */
  readonly hash: string;
  /** The text of the proposed version, where its author gave one. */
  readonly text?: TextReference;
  readonly notes?: string;
  readonly by?: string;
  /** The run that proposes it. */
  readonly executionId?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly review?: ProposalReview;
  readonly appliedAt?: string;
  readonly appliedBy?: string;
  /** Why it could not be applied. */
  readonly error?: string;
}

interface ProposalReview {
  readonly decision: 'approve' | 'reject';
  readonly at: string;
  readonly by?: string;
  readonly notes?: string;
}

/**
 * Update `propose`. An id that exists is answered with its proposal. Refused with `not_found`, `proposal_stale`,
 * `too_many`.
 */
export interface Propose {
  readonly key: string;
  readonly id: string;
  readonly baseHash: string;
  readonly hash: string;
  readonly text?: TextReference;
  readonly notes?: string;
  readonly by?: string;
  readonly executionId?: string;
}

/** Update `review`. Refused with `proposal_not_found`, `proposal_closed`, `proposer_may_not_review`. */
export interface ReviewProposal {
  readonly key: string;
  readonly id: string;
  readonly decision: 'approve' | 'reject';
  readonly notes?: string;
  readonly by?: string;
  /** Whether the author may review the proposal. */
  readonly ownToo: boolean;
}

/** Update `failProposal`: an approved proposal cannot be applied. A closed proposal does not change. */
export interface FailProposal {
  readonly key: string;
  readonly id: string;
  readonly error: string;
}

/** The answer of these updates. An update that applies a proposal has it among other members. */
export interface ProposalAnswer {
  readonly proposal: Proposal;
}

/** How long a proposal can be reviewed and applied. */
export const PROPOSAL_TTL_MS = 14 * 24 * 60 * 60 * 1000;
/** Limits for one definition: open proposals, and all stored proposals. */
export const MAX_OPEN_PROPOSALS = 50;
export const MAX_PROPOSALS = 100;

/** Open: it can still be reviewed or applied. */
export const isOpenProposal = ({ status }: Pick<Proposal, 'status'>): boolean =>
  status === 'pending' || status === 'approved';

/** Why it can no longer be applied. `now`: the definition's hash; undefined where the definition is deleted. */
export const staleProposalMessage = (slug: string, baseHash: string, now: string | undefined): string =>
  `The proposal changes ${baseHash}, and workflow ${slug} is ${now ?? 'deleted'} by now. Propose the change ` +
  'anew, on that.';

/** The proposal as it is at that time (epoch milliseconds): the timer that closes it may be late. */
export function proposalAt(proposal: Proposal, now: number): Proposal {
  return isOpenProposal(proposal) && Date.parse(proposal.expiresAt) <= now
    ? { ...proposal, status: 'expired' }
    : proposal;
}
