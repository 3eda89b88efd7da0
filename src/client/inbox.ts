/**
 * How many messages a run has not read. Its memo says so only as often as it shows itself, so what was sent since is
 * counted here, and before anything is refused the run itself is asked.
 */
import type { Access } from './access.ts';
import { read } from './calls.ts';
import { ClientError } from './errors.ts';

/** From so many unread messages on a run takes no further ones (design.md §5). */
export const MOST_UNREAD = 5_000;
/** Other processes send too: after so many of our own the run is asked again. */
const ASK_AFTER = 1_000;
const ASK_AGAIN_MS = 5_000;
const RUNS_COUNTED = 10_000;

interface Count {
  /** As the run said, by its memo or when asked. */
  known: number;
  /** Sent by this process since. */
  sent: number;
  asking: Promise<void> | undefined;
  /** Epoch milliseconds: while nobody answers, the run is not asked for each message. */
  notBefore: number;
}

const counts = new Map<string, Count>();

/**
 * Counts one more message to the run.
 * @throws ClientError `too_many_unread`.
 */
export async function admitMessage(access: Access, executionId: string, unreadInMemo: number): Promise<void> {
  const count = counts.get(executionId) ?? { known: unreadInMemo, sent: 0, asking: undefined, notBefore: 0 };
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
}

const isDue = ({ known, sent, notBefore }: Count): boolean =>
  Date.now() >= notBefore && (known + sent >= MOST_UNREAD || sent >= ASK_AFTER);

/** While no worker answers, what was counted stands. */
async function ask(access: Access, executionId: string, count: Count): Promise<void> {
  const before = count.sent;
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
