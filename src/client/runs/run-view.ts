/** A run as the API shows it, made of Temporal's description and the run's memo. */

import { ApplicationFailure } from '@temporalio/common';
import type { Cost } from '../../contract/organization/models.ts';
import {
  ABORTED_CODE,
  CANCELLED_CODE,
  type ForkOrigin,
  type RunError,
  type RunInput,
  type RunOrigin,
  type RunStatus,
  type ShownWaitingFor,
  type WaitingFor,
} from '../../contract/run/run.ts';
import type { Unreadable } from '../../history/events.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { CloseOutcome } from '../history/start-and-close-events.ts';
import { describeTermination, type TerminationReason } from '../history/termination-reason.ts';
import { searchAttributes } from '../search-attributes/keys.ts';
import type { Access } from '../temporal/access.ts';
import { isOpen, statusOf } from '../temporal/run-status.ts';
import { toUnreadable } from '../temporal/unreadable-data.ts';
import type { Row } from '../visibility/listing.ts';
import type { RetriedActivity } from './pending-activities.ts';
import type { validMemo } from './valid-memo.ts';

export interface ExecutionView {
  readonly id: string;
  readonly workflowId: string;
  /** The workflow's name. Present where one run is read. */
  readonly workflowName?: string;
  readonly workflowVersion?: string;
  readonly workflowHash?: string;
  readonly status: RunStatus;
  /** Retries, and the lack of a worker, where one run is read. */
  readonly waitingFor: readonly ShownWaitingFor[];
  /** Activities that are retried, or that were paused through Temporal. Present where one run is read. */
  readonly retrying?: readonly RetriedActivity[];
  /** The run starts nothing new until it receives the signal `resume`. */
  readonly paused?: true;
  readonly pausedSince?: string;
  /** Messages that the run dropped because its inbox was full. Absent where it dropped none. */
  readonly droppedMessages?: number;
  readonly startedAt: string;
  readonly completedAt?: string;
  readonly input?: Json;
  readonly output?: Json;
  readonly error?: RunError;
  /** Name and metadata are present where one run is read. */
  readonly trigger: {
    readonly type: string;
    readonly id?: string;
    readonly name?: string;
    readonly metadata?: JsonObject;
  };
  readonly parentId?: string;
  readonly inline?: boolean;
  readonly initiator?: string;
  readonly forkOf?: ForkOrigin;
  readonly origin?: RunOrigin;
  /** The model that was called last. */
  readonly model?: string;
  readonly costs?: readonly Cost[];
  /** Why most of the above is missing: Temporal's data of the run is unreadable here. */
  readonly unreadable?: Unreadable;
  readonly temporal: { readonly workflowId: string; readonly runId: string; readonly url?: string };
}

/** A listed or described run, with the valid part of its memo. */
export interface Execution extends Omit<Row, 'memo' | 'unreadable'> {
  readonly memo: ReturnType<typeof validMemo>;
  /** Why the memo is empty. */
  readonly unreadable?: Unreadable;
  /** Present where one run was described. */
  readonly historyLength?: number;
}

/** The waits of the run. Empty once it has ended. */
export function waitsOf(execution: Pick<Execution, 'status' | 'memo'>): readonly WaitingFor[] {
  return isOpen(execution.status) ? (execution.memo.waitingFor ?? []) : [];
}

/** The run as lists show it, without reading its history. */
export function executionView(access: Access, execution: Execution, started?: RunInput): ExecutionView {
  const { workflowId, runId, memo, attributes } = execution;
  const definition = started?.definition;
  const version = memo.version ?? definition?.version;
  // A run that was started by hand has written neither a memo nor attributes when it begins.
  const { hash, parentId, inline, initiator, forkOf } = { ...started, ...memo };
  const typeAttribute = attributes.get(searchAttributes.triggerType);
  const trigger = memo.trigger ?? shownTrigger(started) ?? { type: typeAttribute ?? 'temporal' };
  const slug = memo.workflow ?? definition?.slug ?? attributes.get(searchAttributes.workflow) ?? '';
  const beganAt = attributes.get(searchAttributes.started) ?? execution.startTime;
  return {
    id: workflowId,
    workflowId: slug,
    ...omitUndefined({ workflowName: definition?.name, workflowVersion: version, workflowHash: hash }),
    status: statusOf(execution.status, memo, execution.historyLength),
    waitingFor: waitsOf(execution),
    ...(typeof memo.paused === 'string' && isOpen(execution.status)
      ? { paused: true as const, pausedSince: memo.paused }
      : {}),
    ...omitUndefined({ droppedMessages: memo.dropped }),
    startedAt: memo.startedAt ?? beganAt.toISOString(),
    ...omitUndefined({ completedAt: memo.decided?.at ?? execution.closeTime?.toISOString() }),
    trigger: { ...trigger, ...triggerDetails(slug, trigger.id, started) },
    ...omitUndefined({ parentId, inline, initiator, forkOf, origin: originOf(execution), costs: memo.costs }),
    ...omitUndefined({ model: attributes.get(searchAttributes.model) }),
    ...(execution.unreadable === undefined ? {} : { unreadable: toUnreadable(execution.unreadable) }),
    temporal: { workflowId, runId, ...urlOf(access, workflowId, runId) },
  };
}

/** The searchable members also stand in the attributes. Child runs have them there only. */
function originOf({ memo, attributes }: Execution): RunOrigin | undefined {
  const origin = omitUndefined({
    conversationId: attributes.get(searchAttributes.conversation),
    channel: attributes.get(searchAttributes.channel),
    employeeId: attributes.get(searchAttributes.employee),
    ...memo.origin,
  });
  return memo.origin === undefined && Object.keys(origin).length === 0 ? undefined : origin;
}

/** The end of a run as answers show it. */
export function outcomeOf(closing: CloseOutcome): { status: RunStatus; output?: Json; error?: RunError } {
  switch (closing.how) {
    case 'completed':
      return { status: 'completed', output: closing.output as Json };
    case 'failed': {
      const error = runErrorOf(closing.error);
      return { status: error.code === ABORTED_CODE ? 'aborted' : 'failed', error };
    }
    case 'cancelled':
      return {
        status: 'cancelled',
        error: {
          code: CANCELLED_CODE,
          message: describeTermination('The run was cancelled', closing.words),
          ...decidingStepOf(closing.words),
          ...NOT_RETRYABLE,
          ...detailsOf(closing.words),
        },
      };
    case 'terminated':
      return {
        status: 'aborted',
        error: {
          code: 'terminated',
          message: describeTermination(
            'The run was terminated',
            closing.words,
            'It ended at once, and nothing was rolled back.',
          ),
          ...NOT_RETRYABLE,
          ...detailsOf(closing.words),
        },
      };
    case 'timedOut':
      return {
        status: 'failed',
        error: {
          code: 'run_timeout',
          message: 'The run took longer than Temporal was told to allow.',
          retryable: false,
        },
      };
    case 'continued':
      return { status: 'running' };
  }
}

function runErrorOf(error: Error | undefined): RunError {
  if (error instanceof ApplicationFailure) {
    const [detail] = error.details ?? [];
    if (isRunError(detail)) return detail;
    return { code: error.type ?? 'failed', message: error.message, retryable: false };
  }
  return { code: 'failed', message: error?.message ?? 'The run failed.', retryable: false };
}

const NOT_RETRYABLE = { retryable: false } as const;

const detailsOf = ({ details, ...words }: TerminationReason): { details?: Json } => {
  const { path: _path, stepSlug: _slug, ...known } = details ?? {};
  const all = { ...words, ...known };
  return Object.keys(all).length === 0 ? {} : { details: all };
};

/** The step of the run that decided its end. */
const decidingStepOf = ({ details }: TerminationReason): Pick<RunError, 'path' | 'stepSlug'> => {
  const { path, stepSlug } = details ?? {};
  return typeof path === 'string' && typeof stepSlug === 'string' ? { path, stepSlug } : {};
};

const isRunError = (value: unknown): value is RunError =>
  typeof value === 'object' &&
  value !== null &&
  'code' in value &&
  typeof value.code === 'string' &&
  'message' in value;

/**
 * The name of the trigger is the part of its id after the slug of its workflow. A child run has its parent's id
 * instead.
 */
function triggerDetails(slug: string, id: string | undefined, started: RunInput | undefined) {
  if (started === undefined) return {};
  const name = id?.startsWith(`${slug}.`) === true ? id.slice(slug.length + 1) : undefined;
  const metadata = started.trigger?.metadata;
  return omitUndefined({ name, metadata });
}

/** A run that was started by hand may name any value as its trigger. */
function shownTrigger(started: RunInput | undefined): { type: string; id?: string } | undefined {
  const { type, id } = (started?.trigger ?? {}) as { type?: unknown; id?: unknown };
  if (typeof type !== 'string') return undefined;
  return typeof id === 'string' ? { type, id } : { type };
}

/** The event of a run's history in Temporal's Web UI; undefined without a UI, and where the event is not known. */
export function eventUrlOf(
  access: Pick<Access, 'webUrl' | 'namespace'>,
  workflowId: string,
  runId: string | undefined,
  eventId: number | undefined,
): string | undefined {
  if (runId === undefined || eventId === undefined) return undefined;
  const { url } = urlOf(access, workflowId, runId);
  return url === undefined ? undefined : `${url}/events/${eventId}`;
}

function urlOf(access: Pick<Access, 'webUrl' | 'namespace'>, workflowId: string, runId: string): { url?: string } {
  if (access.webUrl === undefined) return {};
  const place = [access.namespace, 'workflows', workflowId, runId].map(encodeURIComponent);
  return { url: `${access.webUrl}/namespaces/${place.join('/')}/history` };
}
