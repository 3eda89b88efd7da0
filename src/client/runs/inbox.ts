/**
 * Counts the unread messages of a run and their bytes. The run updates the number in its memo only now and then. So
 * this process counts the messages that it sends since, and queries the run where the count is too low to decide.
 */

import type { WaitingFor } from '../../contract/run.ts';
import { INBOX_OPEN_PART, MAX_INBOX_BYTES, MAX_INBOX_MESSAGES, MESSAGE_OVERHEAD } from '../../engine/state/limits.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { jsonBytes } from '../../json/bytes.ts';
import type { Json } from '../../json/json.ts';
import { ClientError } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { read } from '../temporal/rpc.ts';

/**
 * From this number on, messages are refused. The rest of the inbox is reserved for other processes that count
 * concurrently (ARCHITECTURE.md §5).
 */
const MOST_UNREAD = INBOX_OPEN_PART * MAX_INBOX_MESSAGES;
const MOST_BYTES = INBOX_OPEN_PART * MAX_INBOX_BYTES;
/** Other processes send too: after this many own messages the run is queried again. */
const ASK_AFTER = 500;
const ASK_AFTER_BYTES = 100_000;
const ASK_AGAIN_MS = 5_000;
const RUNS_COUNTED = 10_000;

interface Amount {
  messages: number;
  bytes: number;
}

interface Count {
  readonly org: string;
  /** The answer of the last query, or the number in the memo, which has no bytes. */
  known: Amount;
  isAsked: boolean;
  /** Names that the run waited for at the last query. */
  heard: ReadonlySet<string>;
  /** Messages that this process has sent since, including those in flight. */
  readonly sent: Amount;
  /** Messages that are not acknowledged yet: an answer of the run may not include them. */
  readonly underway: Amount;
  asking: Promise<void> | undefined;
  /** Epoch milliseconds. The run is not queried before this time, because it did not answer. */
  notBefore: number;
}

/** The part of the query `status` that is read here. */
interface Asked {
  readonly unread: number;
  /** Absent where an older worker answers. */
  readonly unreadBytes?: number;
  readonly waitingFor: readonly WaitingFor[];
}

const counts = new BoundedMap<string, Count>(RUNS_COUNTED);

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
  if (isDue(count, bytes)) {
    // One query at a time: a run refuses a second one while the first waits.
    count.asking ??= ask(access, executionId, count).finally(() => {
      count.asking = undefined;
    });
    await count.asking;
  }
  demandRoom(count, message.name, bytes);
  add(count.sent, 1, bytes);
  add(count.underway, 1, bytes);
  try {
    await send();
  } finally {
    add(count.underway, -1, -bytes);
  }
}

function demandRoom(count: Count, name: string, bytes: number): void {
  const unread = unreadOf(count);
  if (isFull(unread))
    throw new ClientError(
      'inbox_overflow',
      `The run has about ${unread.messages} unread messages of ${unread.bytes} bytes, and takes no more until it ` +
        `has read some. From ${MOST_UNREAD} messages or ${MOST_BYTES} bytes on, messages are refused.`,
    );
  if (unread.bytes + bytes > MAX_INBOX_BYTES && !count.heard.has(name))
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
): Promise<Count> {
  const memo = await readMemo();
  // Another message may have been faster.
  const counted = counts.get(executionId);
  return counted?.org === org
    ? counted
    : {
        org,
        known: { messages: Number(memo['unread'] ?? 0), bytes: 0 },
        isAsked: false,
        heard: new Set(),
        sent: { messages: 0, bytes: 0 },
        underway: { messages: 0, bytes: 0 },
        asking: undefined,
        notBefore: 0,
      };
}

const unreadOf = ({ known, sent }: Count): Amount => ({
  messages: known.messages + sent.messages,
  bytes: known.bytes + sent.bytes,
});

const isFull = ({ messages, bytes }: Amount): boolean => messages >= MOST_UNREAD || bytes >= MOST_BYTES;

function isDue(count: Count, bytes: number): boolean {
  const { known, isAsked, sent, notBefore } = count;
  const unread = unreadOf(count);
  return (
    Date.now() >= notBefore &&
    (isFull(unread) ||
      unread.bytes + bytes > MAX_INBOX_BYTES ||
      (!isAsked && known.messages > 0) ||
      sent.messages >= ASK_AFTER ||
      sent.bytes >= ASK_AFTER_BYTES)
  );
}

/** The count stays as it is while no worker answers. */
async function ask(access: Access, executionId: string, count: Count): Promise<void> {
  const before = {
    messages: count.sent.messages - count.underway.messages,
    bytes: count.sent.bytes - count.underway.bytes,
  };
  try {
    const { unread, unreadBytes, waitingFor } = await read(access, () =>
      access.client.workflow.getHandle(executionId).query<Asked>('status'),
    );
    count.known = { messages: unread, bytes: unreadBytes ?? 0 };
    count.isAsked = true;
    count.heard = new Set(waitingFor.flatMap(({ name, names }) => names ?? name ?? []));
    add(count.sent, -before.messages, -before.bytes);
  } catch {
    // The count is unknown: a message is refused too early rather than too late.
    count.notBefore = Date.now() + ASK_AGAIN_MS;
  }
}

function add(amount: Amount, messages: number, bytes: number): void {
  amount.messages += messages;
  amount.bytes += bytes;
}
