/**
 * Starting a run. REST, webhooks, schedules, events, the public trigger, forks and debounced payloads call `startRun`.
 * Two starts are elsewhere: a step starts a child workflow (workflows/run/child-start.ts), and a retry begins a new
 * Temporal run under the id of the failed one (src/client/runs/retry.ts).
 *
 * A key starts one run, however often the request comes and whichever gateway takes it:
 * - The id of the run is made of the key, so Temporal refuses a second run (begin-run.ts).
 * - A debounced payload makes no run yet, so its key is claimed, and the claim keeps the answer (claims.ts).
 * - An address key and the content of a delivery are claimed as well, while the run starts.
 */

import { defined } from '../../json/defined.ts';
import { ClientError, hasCode } from '../errors.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { beginRun, findKeyedRun, type RunStart, type StartedRun, type StartKey } from './begin-run.ts';
import { type Claim, claimRequest, findAnswer, giveUp, type KeptAnswer, type KeyedRequest } from './claims.ts';
import { type Debounced, holdOrBegin, isDebounced } from './debounce.ts';
import type { PreparedRun } from './prepare-run.ts';

/**
 * The outcome of a request to start a run:
 * - `started`: a new run. A run over a limit has started too, and waits in the limiter's queue, with status `pending`.
 * - `repeated`: the key started this run before.
 * - `debounced`: the payload waits for later ones.
 *
 * Every other outcome is a ClientError, such as `limit_reached` from a limiter that refuses.
 */
export type StartResult = StartedRun | Debounced;

export interface StartRequest extends Pick<RunStart, 'trigger' | 'key' | 'initiator' | 'notify' | 'origin'> {
  /** The workflows that the key may have started: the id of a keyed run names its workflow. */
  readonly workflows: readonly string[];
  /** Reads the definition and checks the input. Its error refuses the start. */
  readonly prepare: () => Promise<PreparedRun>;
  /** The payload waits where the definition debounces. Default: the run starts immediately. */
  readonly debounces?: true;
  /**
   * Looks for an earlier start with the key before `prepare`, because `prepare` writes or reads much. By default the
   * look-up follows a refusal only, since most starts are the first with their key.
   */
  readonly looksFirst?: true;
  /** The key that the same content had in the time span before this one. */
  readonly previous?: { readonly key: StartKey; readonly since: number };
  /** The key counts for all workflows that the address starts, although the id of a keyed run names one workflow. */
  readonly addressKey?: KeyedRequest;
  /** The bytes of a delivery whose key is not signed: the same bytes with another key start nothing. */
  readonly content?: KeyedContent;
}

/** Content that counts as one delivery within a time: its claim in this time span, and in the span before. */
export interface KeyedContent {
  readonly now: KeyedRequest;
  readonly before: KeyedRequest;
  /** Epoch milliseconds. Earlier deliveries do not count. */
  readonly since: number;
}

/** How long a request waits for a simultaneous one with the same claim. */
const CLAIM_WAIT_MS = 5_000;

/**
 * Starts a run once for each key.
 * @throws ClientError `idempotency_conflict` (the key was used with other content), `request_in_flight`,
 * `payload_too_large`, `limit_reached`, and those of `prepare`.
 */
export async function startRun(
  access: WriteAccess,
  org: string,
  request: StartRequest & { readonly debounces: true },
): Promise<StartResult>;
export async function startRun(access: WriteAccess, org: string, request: StartRequest): Promise<StartedRun>;
export async function startRun(access: WriteAccess, org: string, request: StartRequest): Promise<StartResult> {
  const { key, previous, content } = request;
  const known =
    (previous && (await findStart(access, org, request, previous.key, previous.since))) ??
    (key && request.looksFirst && (await findStart(access, org, request, key)));
  if (known !== undefined) return known;
  if (content === undefined) return startOrRepeat(access, org, request);
  const earlier = await findAnswer(access, org, content.before, content.since);
  if (earlier !== undefined) return repeated(earlier);
  return underClaim(access, org, content.now, () => startOrRepeat(access, org, request));
}

/** A key that started a run before gets that run again, even when the workflow would refuse the start now. */
async function startOrRepeat(access: WriteAccess, org: string, request: StartRequest): Promise<StartResult> {
  const { key, prepare } = request;
  try {
    return await startPrepared(access, org, request, await prepare());
  } catch (error) {
    // Neither an unknown outcome nor a silent Temporal refuses the start: the caller sends it again with the key.
    const isRefusal =
      error instanceof ClientError && !hasCode(error, 'outcome_unknown', 'temporal_unreachable', 'temporal_busy');
    const known = key && isRefusal ? await findStart(access, org, request, key) : undefined;
    if (known === undefined) throw error;
    return known;
  }
}

async function startPrepared(
  access: WriteAccess,
  org: string,
  { trigger, key, initiator, notify, origin, debounces, addressKey }: StartRequest,
  prepared: PreparedRun,
): Promise<StartResult> {
  const run: RunStart = { ...prepared, trigger, ...defined({ key, initiator, notify, origin }) };
  if (debounces === undefined) {
    const begin = () => beginRun(access, org, run);
    return addressKey === undefined ? begin() : underAddressKey(access, org, addressKey, begin);
  }
  const { definition } = run;
  if (key === undefined || !isDebounced(definition)) return holdOrBegin(access, org, run);
  // The definition may have debounced only later, and a payload without the debounce key is not held.
  const known = await findKeyedRun(access, org, definition.slug, key);
  return known ?? underClaim(access, org, requestOf(key), (id) => holdOrBegin(access, org, run, id));
}

/** The start or held payload of the key. With `since` (epoch milliseconds) only a later one counts. */
async function findStart(
  access: Access,
  org: string,
  { workflows, debounces }: StartRequest,
  key: StartKey,
  since?: number,
): Promise<StartResult | undefined> {
  const [run, held] = await Promise.all([
    findKeyedRunOf(access, org, workflows, key, since),
    debounces && findAnswer(access, org, requestOf(key), since),
  ]);
  return run ?? (held && repeated(held));
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
  return 'status' in claimed ? repeated(claimed) : concluded(claimed, () => start(claimed.id));
}

/** Simultaneous requests with the claim all start, since they have one content and so one key. */
async function underAddressKey(
  access: WriteAccess,
  org: string,
  request: KeyedRequest,
  start: () => Promise<StartedRun>,
): Promise<StartedRun> {
  const claimed = await claimRequest(access, org, request, 0).catch((error: unknown) => {
    if (hasCode(error, 'request_in_flight')) return undefined;
    throw error;
  });
  return claimed === undefined || 'status' in claimed ? start() : concluded(claimed, start);
}

/** A refusal leaves the claim free. */
async function concluded<Result extends StartResult>(claim: Claim, start: () => Promise<Result>): Promise<Result> {
  try {
    const result = await start();
    await claim.answer({ status: 202, headers: {}, body: JSON.stringify(result) });
    return result;
  } catch (error) {
    await giveUp(claim, error);
    throw error;
  }
}

function repeated({ body }: KeptAnswer): StartResult {
  const result = JSON.parse(body) as StartResult;
  return result.outcome === 'debounced' ? { ...result, isRepeated: true } : { ...result, outcome: 'repeated' };
}

const requestOf = ({ scope, key, fingerprint }: StartKey): KeyedRequest => ({ scope, key, content: fingerprint });
