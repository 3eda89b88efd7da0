/**
 * Sends the outcomes of firings to the triggers' actors (`lastRunAt`, counts), in the background. Equal outcomes within
 * a moment are sent together, so many deliveries cause few signals.
 */

import { FIRED_SIGNAL, type Firing } from '../../contract/trigger.ts';
import { ClientError, hasCode } from '../errors.ts';
import type { StartResult } from '../starts/start.ts';
import { type Access, unaudited } from '../temporal/access.ts';
import { triggerActorId } from '../temporal/ids.ts';
import { perClient } from '../temporal/per-client.ts';
import { writeAlong } from '../temporal/rpc.ts';

const GATHER_MS = 200;
const LONGEST_MESSAGE = 500;

interface Gathered {
  readonly org: string;
  readonly triggerId: string;
  readonly latest: Firing;
  readonly count: number;
  readonly timer: NodeJS.Timeout;
}

/** Firings to send, by trigger and outcome, and firings that are being sent. */
interface Records {
  readonly waiting: Map<string, Gathered>;
  readonly underWay: Set<Promise<void>>;
}

const recordsOf = perClient((): Records => ({ waiting: new Map(), underWay: new Set() }));

/** Sends the firing soon. Never fails. */
export function recordFiring(access: Access, org: string, triggerId: string, firing: Firing): void {
  const { waiting } = recordsOf(access);
  const key = JSON.stringify([org, triggerId, firing.outcome]);
  const before = waiting.get(key);
  const timer = before?.timer ?? setTimeout(() => tellGathered(access, key), GATHER_MS).unref();
  waiting.set(key, { org, triggerId, latest: firing, count: (before?.count ?? 0) + 1, timer });
}

/** Sends all firings now, and resolves when they are sent. Never fails. */
export async function flushFirings(access: Access): Promise<void> {
  const { waiting, underWay } = recordsOf(access);
  for (const key of [...waiting.keys()]) tellGathered(access, key);
  await Promise.all(underWay);
}

function tellGathered(access: Access, key: string): void {
  const { waiting, underWay } = recordsOf(access);
  const gathered = waiting.get(key);
  if (gathered === undefined) return;
  waiting.delete(key);
  const { org, triggerId, latest, count, timer } = gathered;
  clearTimeout(timer);
  const telling = sendFiring(access, org, triggerId, { ...latest, count });
  underWay.add(telling);
  void telling.finally(() => underWay.delete(telling));
}

/** Sends the firing immediately. Never fails, because the run does not depend on it. */
export async function sendFiring(access: Access, org: string, triggerId: string, firing: Firing): Promise<void> {
  try {
    const handle = access.client.workflow.getHandle(triggerActorId(org, triggerId));
    await writeAlong(unaudited(access), 'rest', () => handle.signal(FIRED_SIGNAL, firing));
  } catch {
    // The trigger was deleted in the meantime, or Temporal is unreachable.
  }
}

export function firingOf(result: StartResult): Firing {
  const at = new Date().toISOString();
  if (result.outcome === 'debounced') return { at, outcome: result.isRepeated ? 'repeated' : 'debounced' };
  return { at, outcome: result.outcome, executionId: result.executionId };
}

type Refused = Firing & { readonly outcome: 'refused'; readonly code: string; readonly message: string };

/**
 * Starts the run of a firing that only this project can repeat, and sends the outcome to the trigger, if there is one:
 * also a refusal that stays. Where `start` answers nothing, nothing is sent. Throws what may pass.
 */
export async function startRecorded<Result extends StartResult | undefined>(
  access: Access,
  org: string,
  triggerId: string | undefined,
  start: () => Promise<Result>,
): Promise<Result | Refused> {
  const outcome = await start().catch((error: unknown) => {
    const refused = finalRefusalOf(error);
    if (refused === undefined) throw error;
    return refused;
  });
  if (triggerId !== undefined && outcome !== undefined)
    await sendFiring(access, org, triggerId, outcome.outcome === 'refused' ? outcome : firingOf(outcome));
  return outcome;
}

/** The refusal of a firing. Undefined for a failure that may pass. */
export function refusalOf(error: unknown): Refused | undefined {
  if (!(error instanceof ClientError) || FAULTS.has(error.code)) return undefined;
  const message = error.message.slice(0, LONGEST_MESSAGE);
  return { at: new Date().toISOString(), outcome: 'refused', code: error.code, message };
}

/**
 * As refusalOf, for a firing that only this project can repeat: a published event, the tick of a schedule. Undefined
 * also for a refusal that may pass. `limit_reached` does not pass, because the definition asks for the refusal.
 */
export function finalRefusalOf(error: unknown): Refused | undefined {
  return hasCode(error, ...FOR_NOW) ? undefined : refusalOf(error);
}

const FAULTS: ReadonlySet<string> = new Set(['temporal_unreachable', 'temporal_busy', 'outcome_unknown']);
const FOR_NOW = ['queue_full', 'blob_unavailable', 'blob_denied', 'request_in_flight'];
