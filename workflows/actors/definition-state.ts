import type { DefinitionHead, DefinitionStart, DefinitionState } from '../../src/contract/actors.ts';
import type { Proposal } from '../../src/contract/definitions/proposal.ts';

/** The state of a definition's actor. */
export interface DefinitionActorState extends Required<Omit<DefinitionState, 'answers'>> {
  readonly start: Pick<DefinitionStart, 'organizationId' | 'slug' | 'proposalMs'>;
  /** Null: the definition does not exist, or was deleted. */
  readonly head: DefinitionHead | null;
  /** Newest last. */
  readonly proposals: readonly Proposal[];
}
