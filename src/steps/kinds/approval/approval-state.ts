import type { JsonObject } from '../../../json/json.ts';
import type { StoredFormat } from '../../config/payload.ts';
import type { ApprovalSubject } from '../../kind.ts';
import type { Quorum, Verdict, Vote } from './approval-votes.ts';

/** How an approval ends: its port, or `cancel` with the run. */
export type Ending = { readonly port: Verdict | 'timeout' | 'cancel'; readonly data: JsonObject };

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
  /** When it was asked, in epoch milliseconds, where `notify` sends links for it. */
  asked?: number;
  /** How it ends, once the messages about that are sent. */
  ending?: Ending;
  /** How many of those messages have not ended. */
  unsent?: number;
  /** When `escalateTo` was asked, ISO 8601. */
  escalated?: string;
};
