import { attributeValue } from '../../contract/search-attributes.ts';
import {
  EVENT_WORKFLOW,
  type EventReceivers,
  type EventStart,
  FANOUT_UPDATE,
  type PublishedEvent,
} from '../../contract/triggers/event.ts';
import { canonicalText } from '../../json/canonical-text.ts';
import { ClientError } from '../errors.ts';
import { readCloseOutcome } from '../history/start-and-close-events.ts';
import { searchAttributes } from '../search-attributes/keys.ts';
import { FINGERPRINT_MEMO } from '../starts/start-prepared-run.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { ACTOR_PRIORITY, describe, startUnlessTaken } from '../temporal/actor-calls.ts';
import { eventId, sha256Hex } from '../temporal/ids.ts';
import { actorAttributes } from '../temporal/namespace-division.ts';
import { write } from '../temporal/rpc.ts';

interface Published {
  /** False where the id was published before. */
  readonly created: boolean;
  /** Undefined where no worker has delivered it in time. It will be delivered later. */
  readonly spread: EventReceivers | undefined;
}

/**
 * Publishes an event. It reaches its triggers and listeners despite restarts in between.
 * @throws ClientError `idempotency_conflict` (the id was used for another event).
 */
export async function publishEvent(access: WriteAccess, org: string, event: PublishedEvent): Promise<Published> {
  const workflowId = eventId(org, event.id);
  const { name, data, key } = event;
  const fingerprint = sha256Hex(canonicalText(key === undefined ? [name, data] : [name, data, key]));
  const start: EventStart = { organizationId: org, event };
  const started = await startUnlessTaken(access, 'rest', EVENT_WORKFLOW, {
    workflowId,
    args: [start],
    workflowIdConflictPolicy: 'FAIL',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    memo: { [FINGERPRINT_MEMO]: fingerprint, name },
    ...(await actorAttributes(access, { key: searchAttributes.org, value: attributeValue(org) })),
    priority: ACTOR_PRIORITY,
    staticSummary: name.slice(0, 190),
  });
  if (started !== undefined) return { created: true, spread: await awaitReceivers(access, workflowId) };
  const description = await describe(access, workflowId);
  if (description !== undefined && description.memo?.[FINGERPRINT_MEMO] !== fingerprint)
    throw new ClientError(
      'idempotency_conflict',
      'The id was used for another event. Take a new id, or send the same event.',
    );
  const isOpen = description?.status.name === 'RUNNING';
  return {
    created: false,
    spread: isOpen
      ? await awaitReceivers(access, workflowId)
      : await closedReceivers(access, workflowId, description?.runId),
  };
}

/** The result of the first round, which needs a worker. */
async function awaitReceivers(access: WriteAccess, workflowId: string): Promise<EventReceivers | undefined> {
  try {
    return await write(access, 'rest', workflowId, () =>
      access.client.workflow.getHandle(workflowId).executeUpdate<EventReceivers, []>(FANOUT_UPDATE),
    );
  } catch {
    return undefined;
  }
}

async function closedReceivers(
  access: Access,
  workflowId: string,
  runId: string | undefined,
): Promise<EventReceivers | undefined> {
  if (runId === undefined) return undefined;
  const closing = await readCloseOutcome(access, workflowId, runId);
  return closing?.how === 'completed' ? (closing.output as EventReceivers) : undefined;
}
