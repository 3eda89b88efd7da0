/** The proposals of a definition's actor (document 002): made, reviewed, applied or failed, and expired by a timer. */

import { patched } from '@temporalio/workflow';
import type { DefinitionStart } from '../../src/contract/actors.ts';
import {
  type FailProposal,
  isOpenProposal,
  MOST_OPEN_PROPOSALS,
  MOST_PROPOSALS,
  PROPOSAL_MS,
  type Proposal,
  type ProposalAnswer,
  type Propose,
  proposalAt,
  type ReviewProposal,
  staleProposal,
} from '../../src/contract/proposal.ts';
import { defined } from '../../src/json/defined.ts';
import { refuse, type Writes } from './actor.ts';

/** The patch by which proposals end with their definition: their timer ends with them. */
const PROPOSALS_END = 'proposals-end';

export interface Proposals {
  /** Newest last. */
  all(): readonly Proposal[];
  /** When the next one expires, in epoch milliseconds; undefined where none is open. */
  nextExpiry(): number | undefined;
  /** Closes those whose time has passed. */
  expire(): void;
  /** Refuses unless the proposal may be applied to this definition now. */
  demandApplicable(id: string, headHash: string | undefined, hash: string): void;
  applied(id: string, by: string | undefined): Proposal;
  /** Forgets all of them, since their definition is deleted. Answers how many there were. */
  end(): number;
}

/** `headHash`: of the definition as it is; undefined where it is deleted. `lifetimeMs`: of the proposals that are made. */
export function proposalsOf(
  taken: Writes,
  { slug, carried, proposalMs: lifetimeMs = PROPOSAL_MS }: DefinitionStart,
  headHash: () => string | undefined,
): Proposals {
  let all = carried?.proposals ?? [];
  const now = () => Date.now();
  const found = (id: string): Proposal =>
    all.map((proposal) => proposalAt(proposal, now())).find((proposal) => proposal.id === id) ??
    refuse('proposal_not_found', `Workflow ${slug} has no proposal ${id}.`);
  const become = (next: Proposal): Proposal => {
    all = all.map((proposal) => (proposal.id === next.id ? next : proposal));
    return next;
  };
  const stale = (baseHash: string): never => refuse('proposal_stale', staleProposal(slug, baseHash, headHash()));
  const closed = ({ id, status }: Proposal): never =>
    refuse('proposal_closed', `The proposal ${id} is ${status}: nothing more can be done about it.`);

  taken.on<Propose, ProposalAnswer>(
    'propose',
    ({ id, baseHash }) => {
      if (all.some((one) => one.id === id)) return;
      if (headHash() === undefined) refuse('not_found', `There is no workflow called ${slug}.`);
      if (headHash() !== baseHash) stale(baseHash);
      if (all.filter((one) => isOpenProposal(proposalAt(one, now()))).length >= MOST_OPEN_PROPOSALS)
        refuse('too_many', `${MOST_OPEN_PROPOSALS} proposals of workflow ${slug} are open. Review some first.`);
    },
    ({ key: _key, ...request }) => {
      const known = all.find((one) => one.id === request.id);
      if (known !== undefined) return { proposal: proposalAt(known, now()) };
      const proposal: Proposal = {
        ...request,
        status: 'pending',
        createdAt: new Date(now()).toISOString(),
        expiresAt: new Date(now() + lifetimeMs).toISOString(),
      };
      all = [...all, proposal];
      const oldest = all.length > MOST_PROPOSALS ? all.find((one) => !isOpenProposal(one)) : undefined;
      if (oldest !== undefined) all = all.filter((one) => one !== oldest);
      return { proposal };
    },
  );

  taken.on<ReviewProposal, ProposalAnswer>(
    'review',
    ({ id, by, ownToo }) => {
      const proposal = found(id);
      if (proposal.status !== 'pending') closed(proposal);
      if (!ownToo && by !== undefined && by === proposal.by)
        refuse(
          'proposer_may_not_review',
          'Somebody else has to review what you proposed, unless constraints.proposerMayReview of the workflow allows it.',
        );
    },
    ({ id, decision, notes, by }) => {
      const review = {
        decision,
        at: new Date(now()).toISOString(),
        ...defined({ by, notes }),
      };
      return { proposal: become({ ...found(id), status: decision === 'approve' ? 'approved' : 'rejected', review }) };
    },
  );

  taken.on<FailProposal, ProposalAnswer>(
    'failProposal',
    ({ id }) => void found(id),
    ({ id, error }) => {
      const proposal = found(id);
      return { proposal: isOpenProposal(proposal) ? become({ ...proposal, status: 'failed', error }) : proposal };
    },
  );

  return {
    all: () => all,
    nextExpiry: () => {
      const open = all.filter(isOpenProposal).map(({ expiresAt }) => Date.parse(expiresAt));
      return open.length === 0 ? undefined : Math.min(...open);
    },
    expire: () => {
      all = all.map((proposal) => proposalAt(proposal, now()));
    },
    demandApplicable: (id, headHash, hash) => {
      const proposal = found(id);
      if (proposal.status === 'pending')
        refuse('proposal_not_approved', `The proposal ${id} has not been approved. Have it reviewed first.`);
      if (proposal.status !== 'approved') closed(proposal);
      if (proposal.baseHash !== headHash) stale(proposal.baseHash);
      if (proposal.hash !== hash) refuse('invalid_request', `The proposal ${id} proposes something else.`);
    },
    end: () => {
      const count = all.length;
      if (count === 0 || !patched(PROPOSALS_END)) return 0;
      all = [];
      return count;
    },
    applied: (id, by) =>
      become({
        ...found(id),
        status: 'applied',
        appliedAt: new Date(now()).toISOString(),
        ...defined({ appliedBy: by }),
      }),
  };
}
