/** `inbox.{org}`: messages kept for people. Contract between src/client and workflows/actors/inbox.ts, as in actors.ts. */
import type { Json } from '../json/json.ts';
import type { ActorStart, RememberedAnswers } from './actors.ts';

export const INBOX_WORKFLOW = 'inbox';

/** Fields of the memo: this and the message's id. */
export const INBOX_PLACE = 'message/';

/** An inbox is no archive: beyond these the oldest messages go. Together they stand in one memo. */
export const INBOX_MESSAGES = 1_000;
export const INBOX_BYTES = 1_000_000;
/** Of one message, encoded. */
export const INBOX_MESSAGE_BYTES = 64_000;

export interface InboxMessage {
  /** The delivery id. */
  readonly id: string;
  /** Whom it is for (`ann`, `role:finance`); nobody named: everybody. */
  readonly to: readonly string[];
  readonly subject?: string;
  readonly text?: string;
  readonly data?: Json;
  /**
   * The visits, by the slugs of their steps, whose callback URLs belong where `callbackMark` stands: a URL ends a wait, so
   * it is made for those who read it, and not kept.
   */
  readonly callbacks?: { readonly [slug: string]: string };
  readonly executionId: string;
  readonly stepSlug: string;
  /** ISO 8601. */
  readonly receivedAt: string;
}

/** What stands in a kept message for the URL of a callback. */
export const callbackMark = (slug: string): string => `{{ callback('${slug}') }}`;

/** Update `deliver`. The same id again changes nothing. Refused with `payload_too_large`. */
export interface DeliverMessage {
  readonly key: string;
  readonly message: Omit<InboxMessage, 'receivedAt'>;
}

/** Update `remove`. Refused with `not_found`. */
export interface RemoveMessage {
  readonly key: string;
  readonly id: string;
}

export interface InboxState {
  /** Oldest first. */
  readonly messages: readonly InboxMessage[];
  /** Ids of messages that went lately: one that is delivered again does not come back. */
  readonly gone: readonly string[];
  readonly answers: RememberedAnswers;
}

export interface InboxStart extends ActorStart {
  readonly carried?: InboxState;
}
