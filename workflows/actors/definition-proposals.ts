/** The proposals of a definition's actor: made, reviewed, applied or failed. A timer expires them. */
import {
  type FailProposal,
  isOpenProposal,
  MAX_OPEN_PROPOSALS,
  MAX_PROPOSALS,
  PROPOSAL_TTL_MS,
  type Proposal,
  type ProposalAnswer,
  type Propose,
  proposalAt,
  type ReviewProposal,
  staleProposalMessage,
} from '../../src/contract/definitions/proposal.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { type AnsweredChange, isRefusal, type Operation, type Refusal, refuse } from './actor.ts';
import type { DefinitionActorState as State } from './definition-state.ts';

export const propose: Operation<State, Propose, ProposalAnswer> = (state, { key: _key, ...request }, now) => {
  const { slug, proposalMs = PROPOSAL_TTL_MS } = state.start;
  const known = state.proposals.find(({ id }) => id === request.id);
  if (known !== undefined) return { state, answer: { proposal: proposalAt(known, now) } };
  if (state.head === null) return refuse('not_found', `There is no workflow called ${slug}.`);
  if (state.head.hash !== request.baseHash) return staleRefusal(state, request.baseHash);
  if (state.proposals.filter((one) => isOpenProposal(proposalAt(one, now))).length >= MAX_OPEN_PROPOSALS)
    return refuse('too_many', `${MAX_OPEN_PROPOSALS} proposals of workflow ${slug} are open. Review some first.`);
  const proposal: Proposal = {
    ...request,
    status: 'pending',
    createdAt: new Date(now).toISOString(),
    expiresAt: new Date(now + proposalMs).toISOString(),
  };
  return { state: { ...state, proposals: evictOldestClosed([...state.proposals, proposal]) }, answer: { proposal } };
};

export const review: Operation<State, ReviewProposal, ProposalAnswer> = (state, request, now) => {
  const { id, decision, notes, by, ownToo } = request;
  const proposal = findProposal(state, id, now);
  if (isRefusal(proposal)) return proposal;
  if (proposal.status !== 'pending') return closedRefusal(proposal);
  if (!ownToo && by !== undefined && by === proposal.by)
    return refuse(
      'proposer_may_not_review',
      'Somebody else has to review what you proposed, unless constraints.proposerMayReview of the workflow allows it.',
    );
  return replaceProposal(state, {
    ...proposal,
    status: decision === 'approve' ? 'approved' : 'rejected',
    review: { decision, at: new Date(now).toISOString(), ...omitUndefined({ by, notes }) },
  });
};

/** A closed proposal stays as it is. */
export const failProposal: Operation<State, FailProposal, ProposalAnswer> = (state, { id, error }, now) => {
  const proposal = findProposal(state, id, now);
  if (isRefusal(proposal)) return proposal;
  return isOpenProposal(proposal)
    ? replaceProposal(state, { ...proposal, status: 'failed', error })
    : { state, answer: { proposal } };
};

/** Marks the proposal as applied by a write of the definition with that hash. */
export function applyProposal(
  state: State,
  id: string,
  write: { readonly hash: string; readonly by?: string },
  now: number,
): AnsweredChange<State, ProposalAnswer> | Refusal {
  const proposal = findProposal(state, id, now);
  if (isRefusal(proposal)) return proposal;
  if (proposal.status === 'pending')
    return refuse('proposal_not_approved', `The proposal ${id} has not been approved. Have it reviewed first.`);
  if (proposal.status !== 'approved') return closedRefusal(proposal);
  if (proposal.baseHash !== state.head?.hash) return staleRefusal(state, proposal.baseHash);
  if (proposal.hash !== write.hash) return refuse('invalid_request', `The proposal ${id} proposes another definition.`);
  const appliedAt = new Date(now).toISOString();
  return replaceProposal(state, {
    ...proposal,
    status: 'applied',
    appliedAt,
    ...omitUndefined({ appliedBy: write.by }),
  });
}

/** When the next open proposal expires. Undefined where none is open. */
export function nextExpiry(proposals: readonly Proposal[]): number | undefined {
  const open = proposals.filter(isOpenProposal).map(({ expiresAt }) => Date.parse(expiresAt));
  return open.length === 0 ? undefined : Math.min(...open);
}

export const expireProposals = (state: State, now: number): State => ({
  ...state,
  proposals: state.proposals.map((proposal) => proposalAt(proposal, now)),
});

function replaceProposal(state: State, proposal: Proposal): AnsweredChange<State, ProposalAnswer> {
  const proposals = state.proposals.map((one) => (one.id === proposal.id ? proposal : one));
  return { state: { ...state, proposals }, answer: { proposal } };
}

function findProposal({ start, proposals }: State, id: string, now: number): Proposal | Refusal {
  const proposal = proposals.find((one) => one.id === id);
  return proposal === undefined
    ? refuse('proposal_not_found', `Workflow ${start.slug} has no proposal ${id}.`)
    : proposalAt(proposal, now);
}

/** Without the oldest closed proposal where there are too many. */
function evictOldestClosed(proposals: readonly Proposal[]): readonly Proposal[] {
  const oldest = proposals.length > MAX_PROPOSALS ? proposals.find((one) => !isOpenProposal(one)) : undefined;
  return oldest === undefined ? proposals : proposals.filter((one) => one !== oldest);
}

const staleRefusal = ({ start, head }: State, baseHash: string): Refusal =>
  refuse('proposal_stale', staleProposalMessage(start.slug, baseHash, head?.hash));

const closedRefusal = ({ id, status }: Proposal): Refusal =>
  refuse('proposal_closed', `The proposal ${id} is ${status}: nothing more can be done about it.`);
