/**
 * Counts the unread messages of a run and their bytes. The run updates the number in its memo only now and then. So
 * this process counts the messages that it sends since, and queries the run where the count is too low to decide.
 */

import type { WaitingFor } from '../../contract/run/run.ts';
import {
  INBOX_REFUSAL_FRACTION,
  MAX_INBOX_BYTES,
  MAX_INBOX_MESSAGES,
  MESSAGE_OVERHEAD,
} from '../../engine/state/limits.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { jsonBytes } from '../../json/bytes.ts';
import type { Json } from '../../json/json.ts';
import { ClientError } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { read } from '../temporal/rpc.ts';

/**
 * From this number on, messages are refused. The rest of the inbox is reserved for other processes that count
 * concurrently.
 */
const MAX_UNREAD_MESSAGES = INBOX_REFUSAL_FRACTION * MAX_INBOX_MESSAGES;
const MAX_UNREAD_BYTES = INBOX_REFUSAL_FRACTION * MAX_INBOX_BYTES;
/** Other processes send too: after this many own messages the run is queried again. */
const QUERY_AFTER_MESSAGES = 500;
const QUERY_AFTER_BYTES = 100_000;
const QUERY_RETRY_MS = 5_000;
const MAX_COUNTED_RUNS = 10_000;

interface InboxSize {
  messages: number;
  bytes: number;
}

interface UnreadCount {
  readonly org: string;
  /** The answer of the last query, or the number in the memo, which has no bytes. */
  known: InboxSize;
  isQueried: boolean;
  /** Names that the run waited for at the last query. */
  awaitedNames: ReadonlySet<string>;
  /** Messages that this process has sent since, including those in flight. */
  readonly sent: InboxSize;
  /** Messages that are not acknowledged yet: an answer of the run may not include them. */
  readonly inFlight: InboxSize;
  pendingQuery: Promise<void> | undefined;
  /** Epoch milliseconds. The run is not queried before this time, because it did not answer. */
  notBefore: number;
}

/** The part of the query `status` that is read here. */
interface StatusAnswer {
  readonly unread: number;
  /** Absent where an older worker answers. */
  readonly unreadBytes?: number;
  readonly waitingFor: readonly WaitingFor[];
}

const counts = new BoundedMap<string, UnreadCount>(MAX_COUNTED_RUNS);

/**
 * Sends one more message to the run, and counts it. `readMemo` is called the first time, and throws where the run does
 * not exist.
 * @throws ClientError `inbox_overflow`, and the errors of `readMemo` and `send`.
 */
export async function sendCounted(
  access: Access,
  org: string,
  executionId: string,
  message: { readonly name: string; readonly payload?: Json },
  readMemo: () => Promise<{ readonly [field: string]: unknown }>,
  send: () => Promise<void>,
): Promise<void> {
  const counted = counts.get(executionId);
  const count = counted?.org === org ? counted : await newCount(org, executionId, readMemo);
  counts.set(executionId, count);
  const bytes = jsonBytes(message.payload ?? null) + message.name.length + MESSAGE_OVERHEAD;
  if (isQueryDue(count, bytes)) {
    // One query at a time: a run refuses a second one while the first waits.
    count.pendingQuery ??= queryUnread(access, executionId, count).finally(() => {
      count.pendingQuery = undefined;
    });
    await count.pendingQuery;
  }
  demandInboxRoom(count, message.name, bytes);
  add(count.sent, 1, bytes);
  add(count.inFlight, 1, bytes);
  try {
    await send();
  } finally {
    add(count.inFlight, -1, -bytes);
  }
}

function demandInboxRoom(count: UnreadCount, name: string, bytes: number): void {
  const unread = unreadOf(count);
  if (isFull(unread))
    throw new ClientError(
      'inbox_overflow',
      `The run has about ${unread.messages} unread messages of ${unread.bytes} bytes, and takes no more until it ` +
        `has read some. From ${MAX_UNREAD_MESSAGES} messages or ${MAX_UNREAD_BYTES} bytes on, messages are refused.`,
    );
  if (unread.bytes + bytes > MAX_INBOX_BYTES && !count.awaitedNames.has(name))
    throw new ClientError(
      'inbox_overflow',
      `The message takes ${bytes} bytes, and the run does not listen to it now. At most ${MAX_INBOX_BYTES} bytes ` +
        `of unread messages are kept; about ${unread.bytes} are taken. Send it when the run listens, or send less.`,
    );
}

async function newCount(
  org: string,
  executionId: string,
  readMemo: () => Promise<{ readonly [field: string]: unknown }>,
): Promise<UnreadCount> {
  const memo = await readMemo();
  // Another message may have been faster.
  const counted = counts.get(executionId);
  return counted?.org === org
    ? counted
    : {
        org,
        known: { messages: Number(memo['unread'] ?? 0), bytes: 0 },
        isQueried: false,
        awaitedNames: new Set(),
        sent: { messages: 0, bytes: 0 },
        inFlight: { messages: 0, bytes: 0 },
        pendingQuery: undefined,
        notBefore: 0,
      };
}

const unreadOf = ({ known, sent }: UnreadCount): InboxSize => ({
  messages: known.messages + sent.messages,
  bytes: known.bytes + sent.bytes,
});

const isFull = ({ messages, bytes }: InboxSize): boolean =>
  messages >= MAX_UNREAD_MESSAGES || bytes >= MAX_UNREAD_BYTES;

function isQueryDue(count: UnreadCount, bytes: number): boolean {
  const { known, isQueried, sent, notBefore } = count;
  const unread = unreadOf(count);
  return (
    Date.now() >= notBefore &&
    (isFull(unread) ||
      unread.bytes + bytes > MAX_INBOX_BYTES ||
      (!isQueried && known.messages > 0) ||
      sent.messages >= QUERY_AFTER_MESSAGES ||
      sent.bytes >= QUERY_AFTER_BYTES)
  );
}

/** The count stays as it is while no worker answers. */
async function queryUnread(access: Access, executionId: string, count: UnreadCount): Promise<void> {
  const before = {
    messages: count.sent.messages - count.inFlight.messages,
    bytes: count.sent.bytes - count.inFlight.bytes,
  };
  try {
    const { unread, unreadBytes, waitingFor } = await read(access, () =>
      access.client.workflow.getHandle(executionId).query<StatusAnswer>('status'),
    );
    count.known = { messages: unread, bytes: unreadBytes ?? 0 };
    count.isQueried = true;
    count.awaitedNames = new Set(waitingFor.flatMap(({ name, names }) => names ?? name ?? []));
    add(count.sent, -before.messages, -before.bytes);
  } catch {
    // The count is unknown: a message is refused too early rather than too late.
    count.notBefore = Date.now() + QUERY_RETRY_MS;
  }
}

function add(amount: InboxSize, messages: number, bytes: number): void {
  amount.messages += messages;
  amount.bytes += bytes;
}
