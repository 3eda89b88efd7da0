/**
 * Wraps every activity: inserts secrets right before use, scrubs them from everything that comes back, enforces size
 * limits, and turns errors into typed failures (contract/run/activity.ts): type = code,
 * details = [{details?, retryable, attempts, retryAfterMs?}]. Failures and logs never contain the config.
 */

import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import { addUsage, type ModelUsage, usageIn } from '../../src/contract/organization/models.ts';
import {
  type ActivityInput,
  type ActivityOutput,
  ATTEMPT_LIMIT,
  type AttemptOwner,
  NOT_LIGHT_CODE,
  STORE_WAIT_MEMBER,
  TIMEOUT_CODE,
  timeoutText,
} from '../../src/contract/run/activity.ts';
import { MAX_TEMPORAL_BYTES } from '../../src/definition/document/limits.ts';
import { exactJsonBytes } from '../../src/json/bytes.ts';
import { isTooDeep, MAX_NESTING } from '../../src/json/depth.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { joinSecrets, type SecretPart } from '../../src/template/join-secrets.ts';
import { ActivityError, transientError } from './failure.ts';
import { growingScrub } from './growing-scrub.ts';
import { readSecret, readSecrets, type SecretReader, secretParts } from './read-secrets.ts';
import type { Scrub } from './scrub.ts';
import { ownerOf, type ResultStore, readStoredInput, storeResult } from './store-result.ts';
import { withinTimeLimit } from './time-limit.ts';

/** With a blob store a result may be as large as a run's state. */
export const RESULT_LIMIT_BYTES = MAX_TEMPORAL_BYTES;
/** The longest failure message. The server truncates a failure that is too large, and its code would be lost. */
const MAX_MESSAGE_CHARACTERS = 10_000;
const HEARTBEATS_PER_TIMEOUT = 3;

/** One attempt of an activity: Temporal's, or that of an effect within a segment. */
export interface Attempt {
  /** Aborted when it is cancelled. */
  readonly signal: AbortSignal;
  /** From 1. */
  readonly attempt: number;
  /** It delays other steps of its run: it is a local activity, or within a segment. */
  readonly isLocal: boolean;
  /** What the last heartbeat of the attempt before reported. */
  readonly lastHeartbeat: unknown;
  /** After this time without a heartbeat the attempt has failed. Absent where none is expected. */
  readonly heartbeatTimeoutMs?: number;
  heartbeat(details?: Json): void;
  /** The execution that gets its result from Temporal. Absent within a segment, whose list holds the result. */
  readonly owner?: AttemptOwner;
}

export interface ActivityContext {
  /** Aborted when the activity is cancelled. */
  readonly signal: AbortSignal;
  readonly input: ActivityInput;
  readonly attempt: number;
  /** It delays other steps of its run. */
  readonly isLocal: boolean;
  /** For texts that are cut: a secret that is cut in two can no longer be found. */
  readonly scrub: Scrub;
  /** Scrubs secrets but keeps callback URLs, for messages that carry them to their receiver. */
  readonly scrubSecrets: Pick<Scrub, 'json'>;
  /** The callback URLs in the config. */
  readonly callbacks: readonly CallbackInConfig[];
  /** Reads a secret outside of the config, such as a model's key, and scrubs it from then on. @throws ActivityError */
  secret(name: string, host: string): Promise<string>;
  /** Sets what heartbeats report as progress. It is called for each heartbeat and scrubbed; it must not throw. */
  progress(detail: () => Json): void;
}

/** The URL of a visit of a wait_callback step; undefined if this host does not know its own address. */
export type CallbackUrl = (visit: {
  readonly executionId: string;
  readonly path: string;
  readonly slug: string;
}) => string | undefined;

/** The link by which a person decides an approval; undefined if this host does not know its own address. */
export type ApprovalUrl = (question: {
  readonly executionId: string;
  readonly path: string;
  readonly person: string;
  /** When it was asked, ISO 8601. */
  readonly since: string;
  /** The address or channel that the link is sent to, where the person is named apart. */
  readonly to?: string;
}) => string | undefined;

export interface CallbackInConfig {
  /** The path of the visit, and the slug of its step. */
  readonly path: string;
  readonly slug: string;
  readonly url: string;
}

/** `config` contains its secrets. @throws ActivityError; any other error becomes `effect_failed` */
export type ActivityHandler = (config: Json, context: ActivityContext) => Promise<ActivityOutput>;

interface WrapOptions {
  /** Without it a config that needs a secret fails with `secrets_unavailable`. */
  readonly secrets?: SecretReader;
  /** The host that receives the secrets of this config; undefined if it is not known before they are read. */
  readonly hostOf?: (input: ActivityInput) => string | undefined | Promise<string | undefined>;
  /** Without it a config that needs a callback URL fails with `callback_unavailable`. */
  readonly callbackUrl?: CallbackUrl;
  /** Without it a config that needs the link of an approval fails with `link_unavailable`. */
  readonly approvalUrl?: ApprovalUrl;
  /** The largest result; RESULT_LIMIT_BYTES if absent. */
  readonly resultBytes?: number;
  /** Where large results are stored. Without it they are returned as they are. */
  readonly results?: ResultStore;
}

/** `attempt`: default is the attempt that Temporal has begun. */
export type Activity = (input: ActivityInput, attempt?: Attempt) => Promise<ActivityOutput>;

export function wrapActivity(run: ActivityHandler, parts: WrapOptions = {}): Activity {
  return async (argument, given = currentAttempt(parts.results)) => {
    const { signal: cancellation, heartbeatTimeoutMs, isLocal } = given;
    const input = await readInput(argument, given, parts.results);
    const attempt = given.attempt + (input.earlierAttempts ?? 0);
    const { scrub, scrubSecrets, infallible, hide, hideSecrets } = growingScrub(input.execution.organizationId);
    const before = usageIn(given.lastHeartbeat);
    let detail: (() => Json) | undefined;
    const sendHeartbeat = (): void => {
      let reported: Json | undefined = withUsage(undefined, before);
      try {
        const progressDetail = withUsage(detail?.(), before);
        if (progressDetail !== undefined && !isTooDeep(progressDetail)) reported = scrub.json(progressDetail);
      } catch {
        // An error in a timer would end the process. The heartbeat is sent without details.
      }
      given.heartbeat(reported);
    };
    const heartbeatTimer = startHeartbeats(heartbeatTimeoutMs, sendHeartbeat);
    const effect = async (signal: AbortSignal) => {
      const secrets = await readSecrets(input, parts.secrets, await parts.hostOf?.(input));
      const callbacks = callbacksOf(input, parts.callbackUrl);
      // A callback token in the trace would let its readers answer the callback.
      const links = linksOf(input, parts.approvalUrl);
      const urls = [...callbacks.map(({ url }) => url), ...links.values()];
      const tokens = urls.map((url) => url.slice(url.lastIndexOf('/') + 1));
      await hideSecrets(...secrets.values());
      await hide(...urls, ...tokens);
      const config = joinSecrets(input.config, input.secrets, (part) => secretText(part, secrets, callbacks, links));
      const context: ActivityContext = {
        signal,
        input,
        attempt,
        isLocal,
        scrub,
        scrubSecrets,
        callbacks,
        async secret(name, host) {
          const value = await readSecret(input, parts.secrets, name, host);
          await hideSecrets(value);
          return value;
        },
        progress(progressDetail) {
          detail = progressDetail;
        },
      };
      const { data, meta: reported } = await run(config, context);
      const meta = withUsage(reported, before);
      checkNesting(data);
      checkNesting(meta ?? null);
      const output: ActivityOutput = {
        data: await scrub.jsonInSlices(data),
        ...(meta === undefined
          ? {}
          : { meta: (await scrub.jsonInSlices(meta)) as NonNullable<ActivityOutput['meta']> }),
      };
      return {
        output,
        bytes: checkSize(output, parts.resultBytes ?? RESULT_LIMIT_BYTES),
        used: usageDetails(reported),
      };
    };
    /** The attempt took too long. What it has used so far is paid for. */
    const timeoutError = (): ActivityError =>
      new ActivityError(TIMEOUT_CODE, timeoutText(ATTEMPT_LIMIT), { retryable: true, ...usageDetails(detail?.()) });
    try {
      const { timeoutMs } = input;
      const { output, bytes, used } =
        timeoutMs === undefined
          ? await effect(cancellation)
          : await withinTimeLimit(cancellation, timeoutMs, timeoutError, effect);
      const { results } = parts;
      const { owner } = given;
      if (results === undefined || owner === undefined) return output;
      const since = new Date().toISOString();
      detail = () => ({ ...used.details, [STORE_WAIT_MEMBER]: since });
      return await storeResult(results, {
        output,
        bytes,
        owner,
        signal: cancellation,
        isLocal,
        input,
        ...used,
        waits: sendHeartbeat,
      });
    } catch (error) {
      if (cancellation.aborted) throw cancelled();
      const known = asActivityError(error);
      const reported = withUsage(known.details, before);
      const used = usageIn(reported);
      const details = limitDetails(reported, used);
      if (used !== undefined && known.retryable) given.heartbeat({ usage: { ...used } });
      throw await failureOf(known, details, attempt, infallible);
    } finally {
      clearInterval(heartbeatTimer);
    }
  };
}

/** Heartbeats say that it waits, and what earlier attempts have used. */
async function readInput(
  argument: ActivityInput,
  { signal, isLocal, lastHeartbeat, heartbeatTimeoutMs, heartbeat }: Attempt,
  results: ResultStore | undefined,
): Promise<ActivityInput> {
  if (results?.late(argument) === undefined) return argument;
  const since = new Date().toISOString();
  const waits = (): void => heartbeat({ ...usageDetails(lastHeartbeat).details, [STORE_WAIT_MEMBER]: since });
  const heartbeatTimer = startHeartbeats(heartbeatTimeoutMs, waits);
  try {
    return await readStoredInput(results, argument, { signal, isLocal, waits });
  } catch (error) {
    if (signal.aborted) throw cancelled();
    throw error;
  } finally {
    clearInterval(heartbeatTimer);
  }
}

const startHeartbeats = (
  heartbeatTimeoutMs: number | undefined,
  sendHeartbeat: () => void,
): NodeJS.Timeout | undefined =>
  heartbeatTimeoutMs === undefined
    ? undefined
    : setInterval(sendHeartbeat, heartbeatTimeoutMs / HEARTBEATS_PER_TIMEOUT);

const cancelled = (): CancelledFailure => new CancelledFailure('The activity was cancelled.');

/**
 * Adds the usage `before`, of earlier attempts, to a result's meta or a failure's details. All attempts are paid for,
 * even if they fail. History keeps only the end of the last one, so each passes its usage to the next one in its
 * heartbeats.
 */
function withUsage(reported: Json | undefined, before: ModelUsage | undefined): Json | undefined {
  if (before === undefined) return reported;
  const own = usageIn(reported);
  const usage: JsonObject = { ...(own === undefined ? before : { ...own, ...addUsage(own, before) }) };
  return { ...(isObject(reported) ? reported : reported === undefined ? {} : { told: reported }), usage };
}

/** The model usage as details of a failure or a heartbeat. */
function usageDetails(reported: unknown): { readonly details: JsonObject } {
  const usage = usageIn(reported);
  return { details: usage === undefined ? {} : { usage: { ...usage } } };
}

function currentAttempt(results: ResultStore | undefined): Attempt {
  const { cancellationSignal: signal, info, heartbeat } = Context.current();
  return {
    signal,
    attempt: info.attempt,
    isLocal: info.isLocal,
    lastHeartbeat: info.heartbeatDetails,
    ...omitUndefined({ heartbeatTimeoutMs: info.heartbeatTimeoutMs }),
    heartbeat: (details) => {
      if (details === undefined) heartbeat();
      else heartbeat(results === undefined ? details : results.reported(details));
    },
    ...omitUndefined({ owner: ownerOf(info) }),
  };
}

/** @throws ActivityError `callback_unavailable`. */
function callbacksOf(input: ActivityInput, urlOf: CallbackUrl | undefined): CallbackInConfig[] {
  const found = new Map<string, CallbackInConfig>();
  for (const part of secretParts(input)) {
    if (!('callback' in part)) continue;
    const { callback: path, slug = path } = part;
    const url = urlOf?.({ executionId: input.execution.id, path, slug });
    if (url === undefined)
      throw new ActivityError(
        'callback_unavailable',
        `The callback URL of '${slug}' is unknown, because this worker does not know the address of the gateway. ` +
          'Set SIGNALBOX_PUBLIC_URL.',
      );
    found.set(path, { path, slug, url });
  }
  return [...found.values()];
}

/** The links of approvals, by their place in the config. @throws ActivityError `link_unavailable`. */
function linksOf(input: ActivityInput, urlOf: ApprovalUrl | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const part of secretParts(input)) {
    if (!('approval' in part)) continue;
    const { approval: path, ...asked } = part;
    const url = urlOf?.({ executionId: input.execution.id, path, ...asked });
    if (url === undefined)
      throw new ActivityError(
        'link_unavailable',
        `The link to decide '${path}' is unknown, because this worker does not know the address of the gateway. ` +
          'Set SIGNALBOX_PUBLIC_URL.',
      );
    found.set(linkKey(part), url);
  }
  return found;
}

const linkKey = ({ approval, person }: Extract<SecretPart, { approval: string }>): string =>
  JSON.stringify([approval, person]);

function secretText(
  part: SecretPart,
  secrets: ReadonlyMap<string, string>,
  callbacks: readonly CallbackInConfig[],
  links: ReadonlyMap<string, string>,
): string {
  if ('approval' in part) return links.get(linkKey(part)) ?? '';
  const isCallback = 'callback' in part;
  const value = isCallback ? callbacks.find(({ path }) => path === part.callback)?.url : secrets.get(part.secret);
  if (value === undefined) {
    const name = isCallback ? part.callback : part.secret;
    throw new ActivityError('secret_not_found', `There is no secret '${name}'.`);
  }
  return value;
}

function asActivityError(error: unknown): ActivityError {
  if (error instanceof ActivityError) return error;
  const message = error instanceof Error ? error.message : 'The activity failed.';
  return transientError('effect_failed', message);
}

async function failureOf(
  known: ActivityError,
  details: Json | undefined,
  attempt: number,
  scrub: Pick<Scrub, 'text' | 'jsonInSlices'>,
): Promise<ApplicationFailure> {
  const { code, retryable, retryAfterMs } = known;
  const failure = ApplicationFailure.create({
    type: code,
    message: truncate(scrub.text(known.message)),
    nonRetryable: !retryable,
    details: [
      {
        retryable,
        attempts: attempt,
        ...(details === undefined ? {} : { details: await scrub.jsonInSlices(details) }),
        // The SDK passes nextRetryDelay only to the server, and the workflow needs it for local activities.
        ...omitUndefined({ retryAfterMs }),
      },
    ],
    ...omitUndefined({ nextRetryDelay: retryAfterMs }),
    // This is not an error and must not be logged as one.
    ...(code === NOT_LIGHT_CODE ? { category: ApplicationFailureCategory.BENIGN } : {}),
  });
  // History stores stacks, and a typed failure does not need one.
  failure.stack = `${failure.name}: ${failure.message}`;
  return failure;
}

/** Its size. */
function checkSize(output: ActivityOutput, limit: number): number {
  const bytes = exactJsonBytes(output);
  if (bytes <= limit) return bytes;
  throw new ActivityError(
    'result_too_large',
    `The result has ${bytes} bytes; the limit is ${limit}. Request less data, or split the request.`,
    { details: { bytes, limit } },
  );
}

/** Runs before any recursive function sees the value. */
function checkNesting(value: Json): void {
  if (isTooDeep(value))
    throw new ActivityError('result_too_deep', `The result nests deeper than ${MAX_NESTING} levels.`, {
      details: { limit: MAX_NESTING },
    });
}

/** A failure's details within the limits: details that are too deep or too large are omitted, model usage never is. */
function limitDetails(details: Json | undefined, used: ModelUsage | undefined): Json | undefined {
  if (details === undefined) return undefined;
  const usage = used === undefined ? {} : { usage: { ...used } };
  if (isTooDeep(details)) return { omitted: 'too deep', limit: MAX_NESTING, ...usage };
  const bytes = exactJsonBytes(details);
  return bytes <= RESULT_LIMIT_BYTES ? details : { omitted: 'too large', bytes, ...usage };
}

const truncate = (message: string): string =>
  message.length <= MAX_MESSAGE_CHARACTERS ? message : `${message.slice(0, MAX_MESSAGE_CHARACTERS)}…`;
