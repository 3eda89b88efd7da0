/**
 * Starting a run. REST, webhooks, schedules, events, the public trigger, forks and debounced payloads call `startRun`.
 * Two starts are elsewhere: a step starts a child workflow (workflows/run/child-start.ts), and a retry begins a new
 * Temporal run under the id of the failed one (src/client/runs/retry.ts).
 *
 * A key starts one run, however often the request comes and whichever gateway takes it. The same request with the key
 * gets that run again, even when its workflow would refuse the start now. Other content with the key is refused.
 * - The id of the run is made of the key, so Temporal refuses a second run (start-prepared-run.ts).
 * - A debounced payload makes no run yet, so its key is claimed, and the claim stores the answer
 *   (idempotency-claims.ts).
 * - The key of an address and the bytes of a delivery are claimed as well, while the run starts.
 */

import { omitUndefined } from '../../json/omit-undefined.ts';
import { ClientError, hasCode, onCode } from '../errors.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { type Debounced, debounceOrBegin, isDebounced } from './debounce.ts';
import {
  type Claim,
  claimRequest,
  findAnswer,
  type KeyedRequest,
  releaseOrAbandon,
  type StoredAnswer,
} from './idempotency-claims.ts';
import { isInlineDefinition, type PreparedRun, prepareRun, type RunSource } from './prepare-run.ts';
import { findKeyedRun, type RunStart, type StartedRun, type StartKey, startPreparedRun } from './start-prepared-run.ts';

/**
 * The outcome of a request to start a run:
 * - `started`: a new run. A run over a limit has started too, and waits in the limiter's queue, with status `pending`.
 * - `repeated`: the key started this run before.
 * - `debounced`: the payload waits for later ones.
 *
 * Every other outcome is a ClientError, such as `limit_reached` from a limiter that refuses.
 */
export type StartResult = StartedRun | Debounced;

export interface StartRequest extends Pick<RunStart, 'trigger' | 'initiator' | 'notify' | 'origin'> {
  readonly run: RunSource | DeferredRun;
  /** Default: each request starts a run. */
  readonly key?: RequestKey;
  /** The payload waits where the definition debounces. Default: the run starts immediately. */
  readonly debounces?: true;
}

/** A run that is prepared after more was read. Its error refuses the start. */
interface DeferredRun {
  /** The workflows that the key may have started: the id of a keyed run names its workflow. */
  readonly workflows: readonly string[];
  readonly prepare: () => Promise<PreparedRun>;
}

/**
 * How a request is known again:
 * - `id`: by the id of a delivery or a tick. It is looked for after a refusal only, since most starts are the first
 *   with their key.
 * - `request`: by its key, which is looked for first, because preparing the run reads much.
 * - `address`: likewise, for all workflows that the address starts, although the id of a keyed run names one workflow.
 * - `content`: a delivery by its bytes, for a time.
 * - `unsigned`: by its id and by its bytes, since nobody signed the id: the same bytes with another id, or without one,
 *   start nothing.
 */
export type RequestKey =
  | (StartKey & { readonly as: 'id' | 'request' | 'address' })
  | (DeliveryContent & { readonly as: 'content' })
  | (DeliveryContent & { readonly as: 'unsigned'; readonly id: StartKey | undefined });

/** Bytes that count as one delivery of a webhook for a time. */
interface DeliveryContent {
  /** The webhook's. */
  readonly path: string;
  readonly hash: string;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly windowMs: number;
}

/** How long a request waits for a simultaneous one with the same claim. */
const CLAIM_WAIT_MS = 5_000;

/** A request while its run starts. */
interface Start extends Omit<StartRequest, 'run' | 'key'>, DeferredRun {
  readonly key: StartKey | undefined;
  readonly addressKey?: KeyedRequest;
}

/**
 * Starts a run once for each key.
 * @throws ClientError `idempotency_conflict` (the key was used with other content), `request_in_flight`,
 * `payload_too_large`, `limit_reached`, and those of prepareRun.
 */
export async function startRun(
  access: WriteAccess,
  org: string,
  request: StartRequest & { readonly debounces: true },
): Promise<StartResult>;
export async function startRun(access: WriteAccess, org: string, request: StartRequest): Promise<StartedRun>;
export async function startRun(
  access: WriteAccess,
  org: string,
  { run, key, ...rest }: StartRequest,
): Promise<StartResult> {
  const deferred = { ...rest, ...('prepare' in run ? run : await deferRun(access, org, run)) };
  if (key?.as === 'content' || key?.as === 'unsigned') return startDelivery(access, org, deferred, key);
  const start = { ...deferred, key };
  if (key === undefined || key.as === 'id') return startOrRepeat(access, org, start);
  const known = await findStart(access, org, start, key);
  if (known !== undefined || key.as === 'request') return known ?? startOrRepeat(access, org, start);
  const addressKey = { ...claimRequestOf(key), scope: `start ${key.scope}` };
  return startOrRepeat(access, org, { ...start, addressKey });
}

async function deferRun(access: WriteAccess, org: string, source: RunSource): Promise<DeferredRun> {
  const prepare = (): Promise<PreparedRun> => prepareRun(access, org, source);
  if (!isInlineDefinition(source.definitionRef)) return { workflows: [source.definitionRef.workflow], prepare };
  const prepared = await prepare();
  return { workflows: [prepared.definition.slug], prepare: async () => prepared };
}

/** The time slides: keys belong to fixed time spans of its length, and that of the span before is looked up first. */
async function startDelivery(
  access: WriteAccess,
  org: string,
  run: Omit<Start, 'key'>,
  content: Extract<RequestKey, DeliveryContent>,
): Promise<StartResult> {
  const { path, hash, now, windowMs } = content;
  const span = Math.floor(now / windowMs);
  const since = now - windowMs;
  const keyAt = (at: number): StartKey => {
    const key = `body ${at} ${hash}`;
    return { scope: `webhook ${path}`, key, fingerprint: key };
  };
  const claimAt = (at: number): KeyedRequest => {
    return { scope: `webhook bytes ${path}`, key: `${windowMs} ${at} ${hash}`, content: hash };
  };
  const id = content.as === 'unsigned' ? content.id : undefined;
  const key = id ?? keyAt(span);
  const start = () => startOrRepeat(access, org, { ...run, key });
  let known = id === undefined ? await findStart(access, org, run, keyAt(span - 1), since) : undefined;
  if (content.as === 'content') return known ?? start();
  known ??= await findStart(access, org, run, key);
  known ??= await findClaimed(access, org, claimAt(span - 1), since);
  return known ?? underClaim(access, org, claimAt(span), start);
}

async function startOrRepeat(access: WriteAccess, org: string, start: Start): Promise<StartResult> {
  const { key, prepare } = start;
  try {
    return await startPrepared(access, org, start, await prepare());
  } catch (error) {
    // Neither an unknown outcome nor a silent Temporal refuses the start: the caller sends it again with the key.
    const isRefusal =
      error instanceof ClientError && !hasCode(error, 'outcome_unknown', 'temporal_unreachable', 'temporal_busy');
    const known = key && isRefusal ? await findStart(access, org, start, key) : undefined;
    if (known === undefined) throw error;
    return known;
  }
}

async function startPrepared(
  access: WriteAccess,
  org: string,
  { trigger, key, initiator, notify, origin, debounces, addressKey }: Start,
  prepared: PreparedRun,
): Promise<StartResult> {
  const run: RunStart = { ...prepared, trigger, ...omitUndefined({ key, initiator, notify, origin }) };
  if (debounces === undefined) {
    const begin = () => startPreparedRun(access, org, run);
    return addressKey === undefined ? begin() : underAddressKey(access, org, addressKey, begin);
  }
  const { definition } = run;
  if (key === undefined || !isDebounced(definition)) return debounceOrBegin(access, org, run);
  // The definition may have debounced only later, and a payload without the debounce key is not held.
  const known = await findKeyedRun(access, org, definition.slug, key);
  return known ?? underClaim(access, org, claimRequestOf(key), (id) => debounceOrBegin(access, org, run, id));
}

/** The start or held payload of the key. With `since` (epoch milliseconds) only a later one counts. */
async function findStart(
  access: Access,
  org: string,
  { workflows, debounces }: Omit<Start, 'key'>,
  key: StartKey,
  since?: number,
): Promise<StartResult | undefined> {
  const [run, held] = await Promise.all([
    findKeyedRunOf(access, org, workflows, key, since),
    debounces && findClaimed(access, org, claimRequestOf(key), since),
  ]);
  return run ?? held;
}

async function findClaimed(
  access: Access,
  org: string,
  request: KeyedRequest,
  since?: number,
): Promise<StartResult | undefined> {
  const answer = await findAnswer(access, org, request, since);
  return answer && asRepeated(answer);
}

async function findKeyedRunOf(
  access: Access,
  org: string,
  workflows: readonly string[],
  key: StartKey,
  since?: number,
): Promise<StartedRun | undefined> {
  for (const slug of workflows) {
    const run = await findKeyedRun(access, org, slug, key, since);
    if (run !== undefined) return run;
  }
  return undefined;
}

/** Starts under a claim. An earlier request with the claim is answered for this one too. */
async function underClaim(
  access: WriteAccess,
  org: string,
  request: KeyedRequest,
  start: (id: string) => Promise<StartResult>,
): Promise<StartResult> {
  const claimed = await claimRequest(access, org, request, CLAIM_WAIT_MS);
  return 'status' in claimed ? asRepeated(claimed) : concludeClaim(claimed, () => start(claimed.id));
}

/** Simultaneous requests with the claim all start, since they have one content and so one key. */
async function underAddressKey(
  access: WriteAccess,
  org: string,
  request: KeyedRequest,
  start: () => Promise<StartedRun>,
): Promise<StartedRun> {
  const claimed = await claimRequest(access, org, request, 0).catch(onCode('request_in_flight', () => undefined));
  return claimed === undefined || 'status' in claimed ? start() : concludeClaim(claimed, start);
}

/** A refusal leaves the claim free. */
async function concludeClaim<Result extends StartResult>(claim: Claim, start: () => Promise<Result>): Promise<Result> {
  try {
    const result = await start();
    await claim.answer({ status: 202, headers: {}, body: JSON.stringify(result) });
    return result;
  } catch (error) {
    await releaseOrAbandon(claim, error);
    throw error;
  }
}

function asRepeated({ body }: StoredAnswer): StartResult {
  const result = JSON.parse(body) as StartResult;
  return result.outcome === 'debounced' ? { ...result, isRepeated: true } : { ...result, outcome: 'repeated' };
}

const claimRequestOf = ({ scope, key, fingerprint }: StartKey): KeyedRequest => ({ scope, key, content: fingerprint });
