import type { StoredFormat } from '../../config/payload.ts';
import type { ApprovalSubject } from '../../kind.ts';
import type { Quorum, Vote } from './approval-votes.ts';

/** The step state of an open approval. */
export type ApprovalState = StoredFormat<'form'> & {
  readonly message: string;
  /** Who is asked: the approvers, then `escalateTo`. */
  audience: string[];
  quorum: Quorum;
  readonly requesterMayApprove: boolean;
  votes: Vote[];
  readonly subject: ApprovalSubject;
  /** Epoch milliseconds. */
  until?: number;
  readonly timeoutMs?: number;
  /** Reminders that have passed. */
  reminded?: number;
  /** When `escalateTo` was asked, ISO 8601. */
  escalated?: string;
};
