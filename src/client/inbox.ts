/**
 * How many messages a run has not read. Its memo says so only as often as it shows itself, so what was sent since is
 * counted here, and before anything is refused the run itself is asked.
 */
import type { Access } from './access.ts';
import { read } from './calls.ts';
import { ClientError } from './errors.ts';

/** From so many unread messages on a run takes no further ones (design.md §5). */
const MOST_UNREAD = 5_000;
/** Other processes send too: after so many of our own the run is asked again. */
const ASK_AFTER = 1_000;
const ASK_AGAIN_MS = 5_000;
const RUNS_COUNTED = 10_000;

interface Count {
  readonly org: string;
  /** As the run said, by its memo or when asked. */
  known: number;
  /** Sent by this process since, those that are under way among them. */
  sent: number;
  /** Not acknowledged yet: a run that is asked now may not know of them. */
  underway: number;
  asking: Promise<void> | undefined;
  /** Epoch milliseconds: while nobody answers, the run is not asked for each message. */
  notBefore: number;
}

const counts = new Map<string, Count>();

/**
 * Sends one more message to the run, and counts it. `readMemo` is asked the first time, and finds out whether there is such
 * a run at all.
 * @throws ClientError `too_many_unread`, and what `readMemo` and `send` throw.
 */
export async function sendCounted(
  access: Access,
  org: string,
  executionId: string,
  readMemo: () => Promise<{ readonly [field: string]: unknown }>,
  send: () => Promise<void>,
): Promise<void> {
  const counted = counts.get(executionId);
  const count = counted?.org === org ? counted : await newCount(org, executionId, readMemo);
  counts.delete(executionId);
  counts.set(executionId, count);
  const [oldest] = counts.keys();
  if (counts.size > RUNS_COUNTED && oldest !== undefined) counts.delete(oldest);
  if (isDue(count)) {
    // One query at a time: a run refuses a second one while the first waits.
    count.asking ??= ask(access, executionId, count).finally(() => {
      count.asking = undefined;
    });
    await count.asking;
  }
  const unread = count.known + count.sent;
  if (unread >= MOST_UNREAD) {
    throw new ClientError(
      'too_many_unread',
      `The run has about ${unread} unread messages, and takes no more until it has read some.`,
    );
  }
  count.sent += 1;
  count.underway += 1;
  try {
    await send();
  } finally {
    count.underway -= 1;
  }
}

async function newCount(
  org: string,
  executionId: string,
  readMemo: () => Promise<{ readonly [field: string]: unknown }>,
): Promise<Count> {
  const memo = await readMemo();
  // Another message may have been first meanwhile.
  const counted = counts.get(executionId);
  return counted?.org === org
    ? counted
    : { org, known: Number(memo['unread'] ?? 0), sent: 0, underway: 0, asking: undefined, notBefore: 0 };
}

const isDue = ({ known, sent, notBefore }: Count): boolean =>
  Date.now() >= notBefore && (known + sent >= MOST_UNREAD || sent >= ASK_AFTER);

/** While no worker answers, what was counted stands. */
async function ask(access: Access, executionId: string, count: Count): Promise<void> {
  const before = count.sent - count.underway;
  try {
    const { unread } = await read(access, () =>
      access.client.workflow.getHandle(executionId).query<{ unread: number }>('status'),
    );
    count.known = unread;
    count.sent -= before;
  } catch {
    // Not known: refused sooner rather than too late.
    count.notBefore = Date.now() + ASK_AGAIN_MS;
  }
}
