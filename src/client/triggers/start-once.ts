/**
 * Starts that may be put off, once for each key. What is put off makes no run whose id would tell that it came before, so its
 * key is claimed as that of a request is (requests.ts).
 */

import { findKeyedRun, findRecentRun, type RunStart, type StartedRun } from '../runs/run-start.ts';
import type { Access } from '../temporal/access.ts';
import { type Debounced, isDebounced, startOrHold } from './debounce.ts';
import type { Prepared, Start } from './firing.ts';
import { claimRequest, findAnswer, type KeptAnswer, type KeyedRequest, letGo } from './requests.ts';

type StartKey = NonNullable<RunStart['key']>;

/** How long a start that is put off waits for the same one that just comes. */
const HELD_WAIT_MS = 5_000;

/** As startOrHold, once for each key. @throws ClientError as that, `idempotency_conflict`, `request_in_flight`. */
export async function startOrHoldOnce(
  access: Access,
  org: string,
  prepared: Prepared,
  start: Start,
): Promise<StartedRun | Debounced> {
  const { definition } = prepared;
  const { key } = start;
  if (key === undefined || !isDebounced(definition)) return startOrHold(access, org, prepared, start);
  // The definition may not have debounced when it came first, and a payload without the debounce key is not put off.
  const known = await findKeyedRun(access, org, definition.slug, key);
  if (known !== undefined) return known;
  const claimed = await claimRequest(access, org, requestOf(key), HELD_WAIT_MS);
  if ('status' in claimed) return answeredBefore(claimed.body);
  try {
    const fired = await startOrHold(access, org, prepared, start, claimed.id);
    const again = 'debounced' in fired ? fired : { ...fired, created: false };
    await claimed.answer({ status: 202, headers: {}, body: JSON.stringify(again) });
    return fired;
  } catch (error) {
    await letGo(claimed, error);
    throw error;
  }
}

/** Bytes that are one delivery while they come within a time: what they are claimed as now, and in the span of time before. */
export interface KeyedBytes {
  readonly now: KeyedRequest;
  readonly before: KeyedRequest;
  /** Epoch milliseconds: what came earlier counts no more. */
  readonly since: number;
}

/**
 * Does `start` once for the bytes; what it had made for them before is answered as made before.
 * @throws ClientError `request_in_flight`, and what `start` throws, after which the bytes are free.
 */
export async function startForBytes(
  access: Access,
  org: string,
  { now, before, since }: KeyedBytes,
  start: () => Promise<StartedRun | Debounced>,
): Promise<StartedRun | Debounced> {
  const earlier = await findAnswer(access, org, before, since);
  if (earlier !== undefined) return asBefore(earlier);
  const claimed = await claimRequest(access, org, now, HELD_WAIT_MS);
  if ('status' in claimed) return asBefore(claimed);
  try {
    const started = await start();
    await claimed.answer({ status: 202, headers: {}, body: JSON.stringify(started) });
    return started;
  } catch (error) {
    await letGo(claimed, error);
    throw error;
  }
}

function asBefore({ body }: KeptAnswer): StartedRun | Debounced {
  const started = answeredBefore(body);
  return 'debounced' in started ? started : { ...started, created: false };
}

/**
 * What a key has started or put off; with `since` (epoch milliseconds) only if that was later.
 * @throws ClientError `idempotency_conflict`.
 */
export async function findStarted(
  access: Access,
  org: string,
  slug: string,
  key: StartKey,
  since?: number,
): Promise<StartedRun | Debounced | undefined> {
  const [run, held] = await Promise.all([
    since === undefined ? findKeyedRun(access, org, slug, key) : findRecentRun(access, org, slug, key, since),
    findAnswer(access, org, requestOf(key), since),
  ]);
  return run ?? (held && answeredBefore(held.body));
}

function answeredBefore(body: string): StartedRun | Debounced {
  const answer = JSON.parse(body) as StartedRun | Debounced;
  return 'debounced' in answer ? { ...answer, again: true } : answer;
}

const requestOf = ({ scope, key, fingerprint }: StartKey): KeyedRequest => ({ scope, key, content: fingerprint });
