/**
 * Starts the workflow `run`. A new run gets a new id. A run with a key gets an id made of the key, so that Temporal
 * refuses a second run with it. Callers use `startRun` of start.ts.
 */

import { type SearchAttributePair, TypedSearchAttributes } from '@temporalio/common';
import type { AppliedLimit } from '../../contract/limits/limiter.ts';
import {
  type ForkOrigin,
  RUN_WORKFLOW,
  type RunInput,
  type RunMemo,
  type RunOrigin,
  type RunStatus,
  type RunTrigger,
} from '../../contract/run/run.ts';
import { attributeValue, attributeValues } from '../../contract/search-attributes.ts';
import { lightActionsOf } from '../../definition/document/light-actions.ts';
import type { Definition } from '../../definition/document/types.ts';
import { carriedLimitOf } from '../../engine/state/limits.ts';
import { exactJsonBytes } from '../../json/bytes.ts';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { extendScope } from '../../observe/scope.ts';
import { ClientError, hasCode } from '../errors.ts';
import { limitersOf } from '../organization/limits.ts';
import { searchAttributes } from '../search-attributes/keys.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { describe, startUnlessTaken } from '../temporal/actor-calls.ts';
import { keyedRunId, namedRunId, newRunId } from '../temporal/ids.ts';
import { statusOf } from '../temporal/run-status.ts';
import { cacheEarlyReturns } from './early-returns.ts';
import { reserveSlots, shardOf } from './limiters.ts';

/** Temporal accepts 2 MB, and the rest of the request needs some of it. */
const MAX_START_BYTES = 1_900_000;

/** One key starts one run of a workflow. */
export interface StartKey {
  /** Keeps keys of different callers and addresses apart. */
  readonly scope: string;
  readonly key: string;
  /** Identifies the content of the request. The key with other content is refused. */
  readonly fingerprint: string;
  /** Replaces the hash in the id of the run. */
  readonly name?: string;
}

export interface RunStart {
  /** A snapshot: later changes of the workflow do not reach this run. */
  readonly definition: Definition;
  readonly hash?: string;
  readonly input: Json;
  readonly presets?: { readonly [slug: string]: Json };
  /** Initial values of declared state keys. */
  readonly state?: { readonly [key: string]: string | number | boolean };
  readonly trigger: RunTrigger;
  readonly inline?: boolean;
  /** As in RunInput. */
  readonly sealedSecrets?: RunInput['sealedSecrets'];
  readonly initiator?: string;
  /** As in RunInput. */
  readonly requesters?: readonly string[];
  /** The author of the trigger that starts the run. A run without an initiator counts to the author. */
  readonly owner?: string;
  readonly timeoutMs?: number;
  readonly key?: StartKey;
  /** A workflow that waits for this run to end. */
  readonly notify?: NonNullable<RunInput['notify']>;
  readonly origin?: RunOrigin;
  readonly forkOf?: ForkOrigin;
  /** Makes the carried state of a fork, which replaces its input, from the run's id and its limiters. */
  readonly carried?: (executionId: string, limiters: readonly AppliedLimit[]) => Json;
}

export interface StartedRun {
  /** `repeated`: the key started the run before. */
  readonly outcome: 'started' | 'repeated';
  readonly executionId: string;
  readonly status: RunStatus;
}

/** The member of the memo, besides those of RunMemo, that holds the fingerprint of the key's first request. */
export const FINGERPRINT_MEMO = 'fingerprint';

/**
 * Starts the run. A run over a limit waits in its limiter's queue by itself. Limiters that refuse instead are asked
 * here, before the run exists.
 * @throws ClientError `idempotency_conflict` (the key was used with another request), `payload_too_large`,
 * `limit_reached`.
 */
export async function startPreparedRun(access: WriteAccess, org: string, request: RunStart): Promise<StartedRun> {
  const { definition, key } = request;
  const executionId = key === undefined ? newRunId(org, definition.slug) : idFromKey(org, definition.slug, key);
  extendScope({ organizationId: org, executionId });
  const applied = await limitersOf(access, org, request);
  const wanted = applied.map((limiter) => shardOf(limiter, executionId));
  if (wanted.length > 0 && key !== undefined) {
    // A run that exists must not take another slot.
    const known = await findKeyedRun(access, org, definition.slug, key);
    if (known !== undefined) return known;
  }
  demandRunInputSize(runInput(access, org, request, executionId, wanted), access.dataBytes);
  const reserved = wanted.length === 0 ? wanted : await reserveSlots(access, org, executionId, wanted, request);
  const input = runInput(access, org, request, executionId, reserved);
  const status = reserved.every(({ taken }) => taken) ? 'running' : 'pending';
  const startedAt = new Date();
  const started = startUnlessTaken(access, 'starts', RUN_WORKFLOW, {
    workflowId: executionId,
    args: [input],
    workflowIdConflictPolicy: 'FAIL',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    memo: memoOf(org, request, status, startedAt),
    typedSearchAttributes: new TypedSearchAttributes(attributesOf(org, request, status, startedAt)),
    staticSummary: definition.name.slice(0, 190),
    ...consoleLink(access, executionId),
    requestEagerStart: access.startsEagerly === true,
  });
  const runId = await started.catch(async (error: unknown) => {
    // Only the answer may be lost: its id shows whether the run exists. The run may also start later.
    if (!hasCode(error, 'outcome_unknown', 'temporal_unreachable')) throw error;
    if ((await describe(access, executionId).catch(() => undefined)) === undefined) throw error;
    return undefined;
  });
  if (runId !== undefined) cacheEarlyReturns(access, executionId, definition);
  // An id without a key is unique, so an earlier attempt of this call took it.
  if (runId !== undefined || key === undefined) return { outcome: 'started', executionId, status: 'pending' };
  const found = await findKeyedRun(access, org, definition.slug, key);
  if (found === undefined)
    throw new ClientError('outcome_unknown', 'The run was started and cannot be read. Send the same request again.');
  return found;
}

/** The details of a run in Temporal's Web UI and CLI: where the console shows it. */
export function consoleLink({ publicUrl }: Pick<Access, 'publicUrl'>, executionId: string): { staticDetails?: string } {
  const url = publicUrl?.();
  if (url === undefined) return {};
  return { staticDetails: `[Open in Signalbox](${url}/console/runs/${encodeURIComponent(executionId)})` };
}

/**
 * The run that a key has started, if any. With `since` (epoch milliseconds) only a run that started later counts.
 * @throws ClientError `idempotency_conflict`.
 */
export async function findKeyedRun(
  access: Access,
  org: string,
  slug: string,
  key: StartKey,
  since = 0,
): Promise<StartedRun | undefined> {
  const executionId = idFromKey(org, slug, key);
  const description = await describe(access, executionId);
  if (description === undefined) return undefined;
  const memo = description.memo ?? {};
  const startedAt = Date.parse((memo['startedAt'] as string | undefined) ?? '') || description.startTime.getTime();
  if (startedAt < since) return undefined;
  if (memo[FINGERPRINT_MEMO] !== key.fingerprint) {
    throw new ClientError(
      'idempotency_conflict',
      'This request id was used for a run with another body. Take a new id, or send the same body.',
      { details: { executionId } },
    );
  }
  return { outcome: 'repeated', executionId, status: statusOf(description.status.name, memo) };
}

const idFromKey = (org: string, slug: string, { scope, key, name }: StartKey): string =>
  name === undefined ? keyedRunId(org, slug, scope, key) : namedRunId(org, slug, name);

function runInput(
  access: Access,
  org: string,
  request: RunStart,
  executionId: string,
  limiters: readonly AppliedLimit[],
): RunInput {
  const { definition, state, input, carried, trigger, presets, hash, inline, sealedSecrets } = request;
  const { initiator, requesters, timeoutMs, notify, forkOf } = request;
  const light = lightActionsOf(definition, access.lightActions);
  return {
    ...withState(definition, state),
    // A carried state contains its input.
    ...(carried === undefined ? { input } : { carried: carried(executionId, limiters) }),
    organizationId: org,
    trigger,
    shown: true,
    ...omitUndefined({ presets, hash, inline, sealedSecrets, initiator, requesters, timeoutMs, notify }),
    ...(limiters.length === 0 ? {} : { gates: limiters }),
    ...omitUndefined({ forkOf, light }),
  };
}

/** A run's initial state is what its snapshot declares as defaults, so given values become the snapshot's defaults. */
function withState(definition: Definition, given: RunStart['state']): Pick<RunInput, 'definition' | 'declaredState'> {
  const declared = definition.state;
  if (declared === undefined || given === undefined || Object.keys(given).length === 0) return { definition };
  const state = { ...declared };
  for (const [key, value] of Object.entries(given)) {
    const field = declared[key];
    if (field !== undefined) state[key] = { ...field, default: value };
  }
  return { definition: { ...definition, state }, declaredState: declared };
}

/** The definition of a run without the values of its start: that of its hash. */
export const definitionOf = ({ definition, declaredState: state }: RunInput): Definition =>
  state === undefined ? definition : { ...definition, state };

/** `dataBytes`: the most data that a run, a retry or a fork may carry. @throws ClientError `payload_too_large`. */
export function demandRunInputSize(input: RunInput, dataBytes?: number): void {
  const bytes = exactJsonBytes(input);
  const limit = input.carried === undefined ? MAX_START_BYTES : carriedLimitOf(dataBytes);
  if (bytes <= limit) return;
  throw new ClientError(
    'payload_too_large',
    `Definition and input take ${bytes} bytes together; the limit is ${limit}. Pass a reference to large data ` +
      'instead of the data.',
    {
      details: { size: bytes, limit },
    },
  );
}

function memoOf(org: string, request: RunStart, status: RunStatus, startedAt: Date): Record<string, unknown> {
  const { definition, trigger, hash, inline, initiator, owner, forkOf, origin, key } = request;
  // The attributes that the run would write in its first task. Each later change is an event and a write to Visibility.
  const memo: RunMemo = {
    workflow: definition.slug,
    ...omitUndefined({ version: definition.version, hash }),
    organizationId: org,
    status,
    waitingFor: [],
    unread: 0,
    trigger: trigger.id === undefined ? { type: trigger.type } : { type: trigger.type, id: trigger.id },
    startedAt: startedAt.toISOString(),
    ...omitUndefined({ inline, initiator, owner, forkOf, origin }),
  };
  return key === undefined ? { ...memo } : { ...memo, [FINGERPRINT_MEMO]: key.fingerprint };
}

function attributesOf(org: string, request: RunStart, status: RunStatus, startedAt: Date): SearchAttributePair[] {
  const { definition, trigger } = request;
  const pairs: SearchAttributePair[] = [
    { key: searchAttributes.org, value: attributeValue(org) },
    { key: searchAttributes.workflow, value: attributeValue(definition.slug) },
    { key: searchAttributes.status, value: status },
    { key: searchAttributes.triggerType, value: attributeValue(trigger.type) },
    { key: searchAttributes.started, value: startedAt },
  ];
  if (trigger.id !== undefined) pairs.push({ key: searchAttributes.trigger, value: attributeValue(trigger.id) });
  const { conversationId, channel, employeeId = employeeOf(definition) } = request.origin ?? {};
  const originAttributes = [
    [searchAttributes.conversation, conversationId],
    [searchAttributes.channel, channel],
    [searchAttributes.employee, employeeId],
  ] as const;
  for (const [key, value] of originAttributes)
    if (value !== undefined) pairs.push({ key, value: attributeValue(value) });
  const tags = attributeValues(definition.tags ?? []);
  if (tags.length > 0) pairs.push({ key: searchAttributes.tags, value: tags });
  return pairs;
}

/** The workflow of an employee runs in the employee's name. */
const employeeOf = ({ type, slug }: Definition): string | undefined => (type === 'employee' ? slug : undefined);
