/**
 * Sends the outcomes of firings to the triggers' actors (`lastRunAt`, counts), in the background. Equal outcomes within
 * a moment are sent together, so many deliveries cause few signals.
 */

import { FIRED_SIGNAL, type Firing } from '../../contract/triggers/trigger.ts';
import { ClientError, hasCode } from '../errors.ts';
import type { StartResult } from '../starts/start.ts';
import { type Access, unaudited } from '../temporal/access.ts';
import { triggerActorId } from '../temporal/ids.ts';
import { perClient } from '../temporal/per-client.ts';
import { writeUnqueued } from '../temporal/rpc.ts';

const BATCH_DELAY_MS = 200;
const MAX_MESSAGE_LENGTH = 500;

interface PendingFiring {
  readonly org: string;
  readonly triggerId: string;
  readonly latest: Firing;
  readonly count: number;
  readonly timer: NodeJS.Timeout;
}

/** Firings to send, by trigger and outcome, and firings that are being sent. */
interface FiringQueue {
  readonly pending: Map<string, PendingFiring>;
  readonly inFlight: Set<Promise<void>>;
}

const firingQueueOf = perClient((): FiringQueue => ({ pending: new Map(), inFlight: new Set() }));

/** Sends the firing soon. Never fails. */
export function recordFiring(access: Access, org: string, triggerId: string, firing: Firing): void {
  const { pending } = firingQueueOf(access);
  const key = JSON.stringify([org, triggerId, firing.outcome]);
  const before = pending.get(key);
  const timer = before?.timer ?? setTimeout(() => sendPending(access, key), BATCH_DELAY_MS).unref();
  pending.set(key, { org, triggerId, latest: firing, count: (before?.count ?? 0) + 1, timer });
}

/** Sends all firings now, and resolves when they are sent. Never fails. */
export async function flushFirings(access: Access): Promise<void> {
  const { pending, inFlight } = firingQueueOf(access);
  for (const key of [...pending.keys()]) sendPending(access, key);
  await Promise.all(inFlight);
}

function sendPending(access: Access, key: string): void {
  const { pending, inFlight } = firingQueueOf(access);
  const firing = pending.get(key);
  if (firing === undefined) return;
  pending.delete(key);
  const { org, triggerId, latest, count, timer } = firing;
  clearTimeout(timer);
  const sending = sendFiring(access, org, triggerId, { ...latest, count });
  inFlight.add(sending);
  void sending.finally(() => inFlight.delete(sending));
}

/** Sends the firing immediately. Never fails, because the run does not depend on it. */
export async function sendFiring(access: Access, org: string, triggerId: string, firing: Firing): Promise<void> {
  try {
    const handle = access.client.workflow.getHandle(triggerActorId(org, triggerId));
    await writeUnqueued(unaudited(access), 'rest', () => handle.signal(FIRED_SIGNAL, firing));
  } catch {
    // The trigger was deleted in the meantime, or Temporal is unreachable.
  }
}

export function firingOf(result: StartResult): Firing {
  const at = new Date().toISOString();
  if (result.outcome === 'debounced') return { at, outcome: result.isRepeated ? 'repeated' : 'debounced' };
  return { at, outcome: result.outcome, executionId: result.executionId };
}

type RefusedFiring = Firing & { readonly outcome: 'refused'; readonly code: string; readonly message: string };

/**
 * Starts the run of a firing that only this project can repeat, and sends the outcome to the trigger, if there is one:
 * also a refusal that stays. Where `start` answers nothing, nothing is sent. Throws what may pass.
 */
export async function startAndRecord<Result extends StartResult | undefined>(
  access: Access,
  org: string,
  triggerId: string | undefined,
  start: () => Promise<Result>,
): Promise<Result | RefusedFiring> {
  const outcome = await start().catch((error: unknown) => {
    const refused = finalFiringRefusalOf(error);
    if (refused === undefined) throw error;
    return refused;
  });
  if (triggerId !== undefined && outcome !== undefined)
    await sendFiring(access, org, triggerId, outcome.outcome === 'refused' ? outcome : firingOf(outcome));
  return outcome;
}

/** The refusal of a firing. Undefined for a failure that may pass. */
export function firingRefusalOf(error: unknown): RefusedFiring | undefined {
  if (!(error instanceof ClientError) || TRANSIENT_ERRORS.has(error.code)) return undefined;
  const message = error.message.slice(0, MAX_MESSAGE_LENGTH);
  return { at: new Date().toISOString(), outcome: 'refused', code: error.code, message };
}

/**
 * As firingRefusalOf, for a firing that only this project can repeat: a published event, the tick of a schedule.
 * Undefined also for a refusal that is transient. `limit_reached` is not, because the definition asks for the refusal.
 */
export function finalFiringRefusalOf(error: unknown): RefusedFiring | undefined {
  return hasCode(error, ...TRANSIENT_REFUSALS) ? undefined : firingRefusalOf(error);
}

const TRANSIENT_ERRORS: ReadonlySet<string> = new Set(['temporal_unreachable', 'temporal_busy', 'outcome_unknown']);
const TRANSIENT_REFUSALS = ['queue_full', 'blob_unavailable', 'blob_denied', 'request_in_flight'];
