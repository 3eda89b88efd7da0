/**
 * Every call to Temporal goes through here. It has a deadline, is retried where that helps, and fails with a
 * ClientError. Writes to one workflow queue up, because a workflow takes only ten simultaneous updates (TEMPORAL.md
 * §2). All writes of this process queue up, and all reads: calls over the limit wait here, before anything is sent, and
 * the deadline of a call begins when it is sent. Calls queue up by lane: a flood of starts holds up no decision and no
 * change of a definition, and a flood from one organization, or from callers without keys, holds up no other. The
 * gateway limits the waiting calls (src/gateway/http/backpressure.ts).
 *
 * A retried write must be harmless, so it carries its own key (TEMPORAL.md §2).
 */

import { setTimeout as delay } from 'node:timers/promises';
import {
  isGrpcServiceError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, NamespaceNotFoundError, WorkflowNotFoundError } from '@temporalio/common';
import type { Json } from '../../json/json.ts';
import { Semaphore } from '../concurrency/semaphore.ts';
import { ClientError } from '../errors.ts';
import { BLOB_CODES, type BlobCode } from '../payloads/blob-store.ts';
import { UnreadablePayload } from '../payloads/codec.ts';
import type { Access, WriteAccess } from './access.ts';
import { GRPC } from './grpc.ts';
import { type GrpcStatus, SHORT_RETRY_MS, type TransientKind, transientKindOfStatus } from './transient-errors.ts';

/** After this time the outcome of a write is unknown (ARCHITECTURE.md §4). */
const WRITE_MS = 10_000;
const READ_MS = 5_000;
/** Writes to one workflow. */
const WORKFLOW_WRITE_CONCURRENCY = 5;
/** Writes of this process, and reads: a higher concurrency would answer none of them sooner. */
const WRITE_CONCURRENCY = 32;
const READ_CONCURRENCY = 64;
const INITIAL_BACKOFF_MS = 10;
const MAX_BACKOFF_MS = 500;

/** Where writes wait: starts of runs, what is sent to runs, and the rest, which is what actors and schedules store. */
export type Lane = 'starts' | 'runs' | 'rest';

/** By target. */
const workflowWrites = new Map<string, Semaphore>();
const writeSemaphore = new Semaphore(WRITE_CONCURRENCY);
const readSemaphore = new Semaphore(READ_CONCURRENCY);

/** Retries a read while Temporal is busy, for READ_MS at most. `act` must not call `read`: no slot might be left. */
export function read<T>(access: Pick<Access, 'client' | 'callsEnd' | 'caller'>, act: () => Promise<T>): Promise<T> {
  return withSlot(readSemaphore.acquire(access.caller), () => callWithRetries(access, READ_MS, false, act));
}

/** A write to the workflow `target`. It may wait for other writes of this process to the workflow. */
export async function write<T>(access: WriteAccess, lane: Lane, target: string, act: () => Promise<T>): Promise<T> {
  await access.beforeWrite();
  const queue = workflowWrites.get(target) ?? new Semaphore(WORKFLOW_WRITE_CONCURRENCY);
  workflowWrites.set(target, queue);
  try {
    return await withSlot(queue.acquire(), () =>
      withSlot(writeSemaphore.acquire(laneOf(lane, access)), () => callWithRetries(access, WRITE_MS, true, act)),
    );
  } finally {
    if (queue.isIdle) workflowWrites.delete(target);
  }
}

/** A flood from one caller holds up no other. */
const laneOf = (lane: Lane, { caller = '' }: Pick<Access, 'caller'>): string => `${lane} ${caller}`;

async function withSlot<T>(acquired: Promise<() => void>, act: () => Promise<T>): Promise<T> {
  const release = await acquired;
  try {
    return await act();
  } finally {
    release();
  }
}

/** A write that skips the queue of its workflow: a signal, which a workflow accepts in any number. */
export async function writeUnqueued<T>(
  access: Pick<WriteAccess, 'client' | 'callsEnd' | 'beforeWrite' | 'caller'>,
  lane: Lane,
  act: () => Promise<T>,
): Promise<T> {
  await access.beforeWrite();
  return withSlot(writeSemaphore.acquire(laneOf(lane, access)), () => callWithRetries(access, WRITE_MS, true, act));
}

async function callWithRetries<T>(
  { client, callsEnd }: Pick<Access, 'client' | 'callsEnd'>,
  timeoutMs: number,
  isWrite: boolean,
  act: () => Promise<T>,
): Promise<T> {
  const startedAt = Date.now();
  const deadline = startedAt + timeoutMs;
  for (let backoffMs = INITIAL_BACKOFF_MS; ; backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)) {
    try {
      return await raceShutdown(callsEnd, () => client.withDeadline(deadline, act));
    } catch (error) {
      if (callsEnd?.aborted === true && error === callsEnd.reason) throw shutdownError(isWrite, error);
      const transient = transientKindOf(error);
      const until = transient === 'moment' ? deadline : Math.min(deadline, startedAt + SHORT_RETRY_MS);
      if (transient === undefined || Date.now() + backoffMs >= until) throw toClientError(error, isWrite);
    }
    await delay(backoffMs);
  }
}

/** The answer, unless the process ends before: a call over a worker's connection cannot be aborted. */
async function raceShutdown<T>(callsEnd: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
  if (callsEnd === undefined) return act();
  callsEnd.throwIfAborted();
  let stop = (): void => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(callsEnd.reason);
  });
  callsEnd.addEventListener('abort', stop);
  try {
    return await Promise.race([act(), stopped]);
  } finally {
    callsEnd.removeEventListener('abort', stop);
  }
}

const shutdownError = (isWrite: boolean, cause: unknown): ClientError =>
  isWrite
    ? new ClientError(
        'outcome_unknown',
        'The process ends before Temporal has answered, so it is not known whether this was done. Send it again.',
        { cause },
      )
    : new ClientError('temporal_unreachable', 'The process ends before Temporal has answered. Send it again.', {
        cause,
      });

/** The kind of an error that a retry may resolve. Undefined for other errors. */
function transientKindOf(error: unknown): TransientKind | undefined {
  if (updateFailureOf(error)?.type === 'AcceptedUpdateCompletedWorkflow') return 'moment';
  const grpc = grpcOf(error);
  if (grpc === undefined) return undefined;
  // An update with start has the reason in its message. Its details only say that it could not be executed.
  if (grpc.code === GRPC.FAILED_PRECONDITION && /workflow task/i.test(`${grpc.details} ${messagesOf(error)}`))
    return 'moment';
  return transientKindOfStatus(grpc);
}

const messagesOf = (error: unknown): string => [...chainOf(error)].map(({ message }) => message).join(' ');

/** The ClientError for an error of the SDK. Other errors are answered as they are. */
export function toClientError(error: unknown, isWrite: boolean): unknown {
  if (error instanceof ClientError) return error;
  if (error instanceof UnreadablePayload) return new ClientError('payload_unreadable', error.message, { cause: error });
  const failure = updateFailureOf(error);
  if (failure !== undefined) {
    const [details] = failure.details ?? [];
    return new ClientError(
      failure.type ?? 'refused',
      failure.message,
      details === undefined ? {} : { details: details as Json },
    );
  }
  if (error instanceof WorkflowNotFoundError) {
    return new ClientError('not_found', 'There is nothing with that id, or it has ended.', { cause: error });
  }
  const blob = blobFailureOf(error);
  if (blob !== undefined) return new ClientError(blob.type, blob.message, { cause: error });
  const grpc = grpcOf(error);
  const isTimeout =
    error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
    grpc?.code === GRPC.DEADLINE_EXCEEDED ||
    grpc?.code === GRPC.CANCELLED;
  if (isTimeout && isWrite) {
    return new ClientError(
      'outcome_unknown',
      'No answer came within 10 seconds, so it is not known whether this was done. Look at its state, or send ' +
        'the same request again.',
      { cause: error },
    );
  }
  const transient = transientKindOf(error);
  if (transient === 'rate') {
    return new ClientError(
      'temporal_busy',
      'Temporal refuses further calls for a moment, because there are too many. Send it again shortly, and fewer at ' +
        'once.',
      { cause: error },
    );
  }
  const unavailable = [...chainOf(error)].some((at) => at instanceof NamespaceNotFoundError)
    ? NO_NAMESPACE
    : unavailableText(grpc, isTimeout ? 'moment' : transient);
  if (unavailable !== undefined) return new ClientError('temporal_unreachable', unavailable, { cause: error });
  if (grpc?.code === GRPC.NOT_FOUND || (grpc?.code === GRPC.INVALID_ARGUMENT && HISTORY_NOT_FOUND.test(grpc.details)))
    return new ClientError('not_found', 'There is nothing with that id.', { cause: error });
  return error;
}

const LATER = 'Try again shortly.';
const NO_NAMESPACE = "Temporal does not have this gateway's namespace. Its operator has to create it.";

/**
 * Why Temporal cannot answer now, as a sentence for callers: it says which part is unavailable, but quotes nothing of
 * the server's. Undefined for a failure that has another cause. The gateway's log has the server's own words.
 */
function unavailableText(status: GrpcStatus | undefined, transient: 'moment' | 'away' | undefined): string | undefined {
  const { code, details = '' } = status ?? {};
  if (code === GRPC.UNAUTHENTICATED || code === GRPC.PERMISSION_DENIED)
    return "Temporal refuses this gateway's credentials. Its operator has to renew them.";
  if (code === GRPC.INVALID_ARGUMENT && /no mapping defined for search attribute Signalbox/i.test(details))
    return 'Temporal lacks a search attribute of Signalbox. Its operator has to start a gateway anew to register it.';
  if (transient === 'away') return `Temporal cannot be connected to at the moment. ${LATER}`;
  if (code === GRPC.FAILED_PRECONDITION && transient === 'moment')
    return `The worker cannot take this at the moment. ${LATER}`;
  if (transient === 'moment' && /database|persistence/i.test(details))
    return `Temporal answers, but its database does not at the moment. ${LATER}`;
  return transient === undefined ? undefined : `Temporal does not answer at the moment. ${LATER}`;
}

/** How a server that reads archives says that a history is past its retention. */
const HISTORY_NOT_FOUND = /history not found/i;

/** An error and its causes. */
function* chainOf(error: unknown): Generator<Error> {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) yield at;
}

/** The gRPC error in the chain of causes. */
export function grpcOf(error: unknown): GrpcStatus | undefined {
  for (const at of chainOf(error))
    if (isGrpcServiceError(at)) return { code: at.code, details: at.details ?? '', metadata: at.metadata };
  return undefined;
}

/** The data converter's own failure (external-storage.ts). */
function blobFailureOf(error: unknown): { readonly type: BlobCode; readonly message: string } | undefined {
  for (const at of chainOf(error)) {
    if (!(at instanceof ApplicationFailure)) continue;
    const type = BLOB_CODES.find((code) => code === at.type);
    if (type !== undefined) return { type, message: at.message };
  }
  return undefined;
}

export const isInvalidArgument = (error: unknown): boolean => grpcOf(error)?.code === GRPC.INVALID_ARGUMENT;

/** The refusal of an update. */
function updateFailureOf(error: unknown): ApplicationFailure | undefined {
  if (!(error instanceof WorkflowUpdateFailedError)) return undefined;
  return error.cause instanceof ApplicationFailure ? error.cause : undefined;
}
