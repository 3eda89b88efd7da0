/** Proposals to change a definition: makes, reviews and applies them. */

import { ulid } from 'ulid';
import type { DefinitionHead } from '../../contract/actors.ts';
import {
  type FailProposal,
  type Proposal,
  type ProposalAnswer,
  type Propose,
  type ReviewProposal,
  staleProposalMessage,
} from '../../contract/definitions/proposal.ts';
import { withCurrentTriggerSecrets } from '../../definition/document/trigger-secrets.ts';
import type { Definition } from '../../definition/document/types.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { ClientError, hasCode } from '../errors.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { updateActor } from '../temporal/actor-calls.ts';
import { definitionId } from '../temporal/ids.ts';
import { readDefinition } from '../versions/definition-head.ts';
import { readDefinitionHistory } from '../versions/definition-history.ts';
import { storeText, textReferenceOf, type WrittenText } from '../versions/texts.ts';
import { readProposed, storeProposed } from '../versions/versions.ts';
import { putDefinition, retryOnConflict } from './definitions.ts';

interface ProposalRequest {
  readonly baseHash: string;
  /** Checked, without secrets in clear text. */
  readonly definition: Definition;
  readonly hash: string;
  /** The proposed definition as its author wrote it, without clear secrets. */
  readonly text?: WrittenText;
  readonly notes?: string;
  readonly by?: string;
  readonly executionId?: string;
  /** The id of the new proposal. An existing proposal with this id is answered instead. */
  readonly id?: string;
}

/**
 * @throws ClientError `not_found`, `self_modification_not_allowed`, `proposal_stale`, `proposal_unchanged`, `too_many`.
 */
export async function createProposal(
  access: WriteAccess,
  org: string,
  slug: string,
  request: ProposalRequest,
): Promise<Proposal> {
  const { definition, hash, id, text, ...rest } = request;
  const known = id === undefined ? undefined : await findProposal(access, org, slug, id);
  if (known !== undefined) return known;
  demandModifiable(slug, await demandDefinition(access, org, slug));
  if (hash === request.baseHash)
    throw new ClientError(
      'proposal_unchanged',
      `The proposal is what workflow ${slug} is already: it changes nothing.`,
    );
  await storeProposed(access, org, hash, definition);
  if (text !== undefined) await storeText(access, org, slug, text);
  const { proposal } = await updateActor<Propose, ProposalAnswer>(access, definitionId(org, slug), 'propose', {
    ...rest,
    id: id ?? ulid(),
    hash,
    ...omitUndefined({ text: text && textReferenceOf(text) }),
  });
  return proposal;
}

export interface Review {
  readonly decision: 'approve' | 'reject';
  readonly notes?: string;
  readonly by?: string;
  /** A repeated key gets the same answer. */
  readonly key?: string;
}

/** @throws ClientError `not_found`, `proposal_not_found`, `proposal_closed`, `proposer_may_not_review`. */
export async function reviewProposal(
  access: WriteAccess,
  org: string,
  slug: string,
  id: string,
  { key, ...review }: Review,
): Promise<Proposal> {
  const { definition } = await demandDefinition(access, org, slug);
  const { proposal } = await updateActor<ReviewProposal, ProposalAnswer>(
    access,
    definitionId(org, slug),
    'review',
    { ...review, id, ownToo: definition.constraints?.proposerMayReview === true },
    key,
  );
  return proposal;
}

/**
 * Writes the proposed definition where the definition has not changed since the proposal. The earlier version stays
 * readable. A stale proposal is marked as failed.
 * @throws ClientError `not_found`, `self_modification_not_allowed`, `proposal_not_found`, `proposal_not_approved`,
 * `proposal_closed`, `proposal_stale`, and those of putDefinition.
 */
export const applyProposal = (
  access: WriteAccess,
  org: string,
  slug: string,
  id: string,
  author: Pick<Review, 'by' | 'key'>,
): Promise<{ head: DefinitionHead; proposal: Proposal }> =>
  retryOnConflict(() => applyOnce(access, org, slug, id, author));

async function applyOnce(
  access: WriteAccess,
  org: string,
  slug: string,
  id: string,
  { by, key }: Pick<Review, 'by' | 'key'>,
): Promise<{ head: DefinitionHead; proposal: Proposal }> {
  const found = await demandDefinition(access, org, slug);
  const { head } = found;
  const proposal = await readProposal(access, org, slug, id);
  // A stale proposal fails, whatever the newer version allows. For other proposals the actor decides.
  if (proposal.status === 'approved' && proposal.baseHash !== head.hash) {
    const stale = new ClientError('proposal_stale', staleProposalMessage(slug, proposal.baseHash, head.hash));
    await markFailed(access, org, slug, id, stale);
    throw stale;
  }
  // The actor refuses a proposal that was applied, except to the request that applied it.
  if (proposal.status !== 'applied') demandModifiable(slug, found);
  const proposed = await readProposed(access, org, slug, proposal.hash);
  if (proposed === undefined)
    throw new ClientError(
      'version_missing',
      `The definition of proposal ${id} is gone from Temporal. Propose it again.`,
    );
  const { version: _version, ...definition } = proposed;
  try {
    const answer = await putDefinition(access, org, {
      definition: { ...withCurrentTriggerSecrets(definition, head.triggerSecrets), enabled: head.enabled },
      hash: proposal.hash,
      source: 'proposal_apply',
      proposalId: id,
      ifRevision: head.revision,
      ...omitUndefined({ key, by, notes: proposal.notes, text: proposal.text }),
    });
    return { head: answer.head, proposal: answer.proposal ?? proposal };
  } catch (error) {
    if (hasCode(error, 'proposal_stale')) await markFailed(access, org, slug, id, error);
    throw error;
  }
}

/** Newest first. Also works for a deleted definition. @throws ClientError `not_found`. */
export async function listProposals(access: Access, org: string, slug: string): Promise<readonly Proposal[]> {
  const history = await readDefinitionHistory(access, org, slug);
  if (history === undefined) throw workflowNotFound(slug);
  return [...history.proposals].reverse();
}

/** @throws ClientError `not_found`, `proposal_not_found`. */
export async function readProposal(access: Access, org: string, slug: string, id: string): Promise<Proposal> {
  const found = (await listProposals(access, org, slug)).find((proposal) => proposal.id === id);
  if (found === undefined) throw new ClientError('proposal_not_found', `Workflow ${slug} has no proposal ${id}.`);
  return found;
}

async function findProposal(access: Access, org: string, slug: string, id: string): Promise<Proposal | undefined> {
  const history = await readDefinitionHistory(access, org, slug);
  return history?.proposals.find((proposal) => proposal.id === id);
}

type CurrentDefinition = NonNullable<Awaited<ReturnType<typeof readDefinition>>>;

async function demandDefinition(access: Access, org: string, slug: string): Promise<CurrentDefinition> {
  const found = await readDefinition(access, org, slug);
  if (found === undefined) throw workflowNotFound(slug);
  return found;
}

function demandModifiable(slug: string, { definition }: CurrentDefinition): void {
  if (definition.constraints?.allowSelfModification === true) return;
  throw new ClientError(
    'self_modification_not_allowed',
    `Workflow ${slug} takes no proposals. Store it with constraints.allowSelfModification: true to let it.`,
  );
}

async function markFailed(
  access: WriteAccess,
  org: string,
  slug: string,
  id: string,
  { message }: Error,
): Promise<void> {
  await updateActor<FailProposal, ProposalAnswer>(access, definitionId(org, slug), 'failProposal', {
    id,
    error: message,
  });
}

const workflowNotFound = (slug: string): ClientError =>
  new ClientError('not_found', `There is no workflow called ${slug}.`);
