/**
 * The actor `inbox.{org}`: messages for people. The contract between src/client and workflows/actors/inbox.ts. JSON
 * only.
 */
import type { Json } from '../../json/json.ts';
import type { ActorStart, Keyed, RememberedAnswers } from '../actors.ts';

export const INBOX_WORKFLOW = 'inbox';

/** Fields of the memo: this and the message's id. */
export const INBOX_MEMO_PREFIX = 'message/';

/** Limits of an inbox, whose messages share one memo. The oldest messages are removed beyond them. */
export const MAX_ORGANIZATION_INBOX_MESSAGES = 1_000;
export const INBOX_BYTES = 1_000_000;
/** Of one message, encoded. */
export const INBOX_MESSAGE_BYTES = 64_000;

export interface InboxMessage {
  /** The delivery id. */
  readonly id: string;
  /** The recipients (`ann`, `role:finance`). An empty list means everybody. */
  readonly to: readonly string[];
  readonly subject?: string;
  readonly text?: string;
  readonly data?: Json;
  /**
   * The visits whose callback URLs replace a `callbackMark`, by the slugs of their steps. A callback URL ends a wait,
   * so it is made when the message is read, and not stored.
   */
  readonly callbacks?: { readonly [slug: string]: string };
  readonly executionId: string;
  readonly stepSlug: string;
  /** ISO 8601. */
  readonly receivedAt: string;
}

/** Marks the place of a callback's URL in a stored message. */
export const callbackMark = (slug: string): string => `{{ callback('${slug}') }}`;

/** Update `deliver`. The same id again changes nothing. Refused with `payload_too_large`. */
export interface DeliverMessage extends Keyed {
  readonly message: Omit<InboxMessage, 'receivedAt'>;
}

/** Update `remove`. Refused with `not_found`. */
export interface RemoveMessage extends Keyed {
  readonly id: string;
}

interface InboxState {
  /** Oldest first. */
  readonly messages: readonly InboxMessage[];
  /** Ids of messages that were removed lately. A repeated delivery does not restore them. */
  readonly gone: readonly string[];
  readonly answers: RememberedAnswers;
}

export interface InboxStart extends ActorStart {
  readonly carried?: InboxState;
}
