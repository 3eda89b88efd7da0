/**
 * Every call to Temporal goes through here. It has a deadline, is repeated where that helps, and fails with a
 * ClientError. Writes to one workflow queue up, because a workflow takes only ten simultaneous updates (TEMPORAL.md
 * §2). All writes of this process queue up, and all reads: a crowd waits here, before anything is sent, and the
 * deadline of a call begins when it is sent. Calls queue up by lane: a crowd of starts holds up no decision and no
 * change of a definition, and a crowd of one organization, or of callers without keys, holds up no other. The gateway
 * bounds the crowd (src/gateway/http/crowd.ts).
 *
 * A repeated write must be harmless, so it carries its own key (TEMPORAL.md §2).
 */

import { setTimeout as delay } from 'node:timers/promises';
import {
  isGrpcServiceError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, NamespaceNotFoundError, WorkflowNotFoundError } from '@temporalio/common';
import type { Json } from '../../json/json.ts';
import { ClientError } from '../errors.ts';
import { BLOB_CODES, type BlobCode } from '../payloads/blob-store.ts';
import { UnreadablePayload } from '../payloads/codec.ts';
import type { Access, WriteAccess } from './access.ts';
import { GRPC } from './grpc.ts';
import { type GrpcStatus, IMPATIENT_MS, type Passing, passingOf } from './passing.ts';
import { Places } from './places.ts';

/** After this time the outcome of a write is unknown (ARCHITECTURE.md §4). */
const WRITE_MS = 10_000;
const READ_MS = 5_000;
/** Writes to one workflow. */
const AT_ONCE = 5;
/** Writes of this process, and reads: more at once would answer none of them sooner. */
const WRITES_AT_ONCE = 32;
const READS_AT_ONCE = 64;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

/** Where writes wait: starts of runs, what is sent to runs, and the rest, which is what actors and schedules store. */
export type Lane = 'starts' | 'runs' | 'rest';

/** By target. */
const queues = new Map<string, Places>();
const writes = new Places(WRITES_AT_ONCE);
const reads = new Places(READS_AT_ONCE);

/** Reads once more while Temporal is busy, at most READ_MS. `act` must not read by itself: its place could be taken. */
export function read<T>(access: Pick<Access, 'client' | 'callsEnd' | 'caller'>, act: () => Promise<T>): Promise<T> {
  return within(reads.enter(access.caller), () => attempt(access, READ_MS, false, act));
}

/** A write to the workflow `target`. It may wait for other writes of this process to the workflow. */
export async function write<T>(access: WriteAccess, lane: Lane, target: string, act: () => Promise<T>): Promise<T> {
  await access.beforeWrite();
  const queue = queues.get(target) ?? new Places(AT_ONCE);
  queues.set(target, queue);
  try {
    return await within(queue.enter(), () =>
      within(writes.enter(laneOf(lane, access)), () => attempt(access, WRITE_MS, true, act)),
    );
  } finally {
    if (queue.isEmpty) queues.delete(target);
  }
}

/** A crowd of one caller holds up no other. */
const laneOf = (lane: Lane, { caller = '' }: Pick<Access, 'caller'>): string => `${lane} ${caller}`;

async function within<T>(entered: Promise<() => void>, act: () => Promise<T>): Promise<T> {
  const leave = await entered;
  try {
    return await act();
  } finally {
    leave();
  }
}

/** Writes that need no place in the queue: signals, which a workflow accepts in any number. */
export async function writeAlong<T>(
  access: Pick<WriteAccess, 'client' | 'callsEnd' | 'beforeWrite' | 'caller'>,
  lane: Lane,
  act: () => Promise<T>,
): Promise<T> {
  await access.beforeWrite();
  return within(writes.enter(laneOf(lane, access)), () => attempt(access, WRITE_MS, true, act));
}

async function attempt<T>(
  { client, callsEnd }: Pick<Access, 'client' | 'callsEnd'>,
  withinMs: number,
  isWrite: boolean,
  act: () => Promise<T>,
): Promise<T> {
  const begun = Date.now();
  const deadline = begun + withinMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await unlessCallsEnd(callsEnd, () => client.withDeadline(deadline, act));
    } catch (error) {
      if (callsEnd?.aborted === true && error === callsEnd.reason) throw ended(isWrite, error);
      const passing = kindOf(error);
      const until = passing === 'moment' ? deadline : Math.min(deadline, begun + IMPATIENT_MS);
      if (passing === undefined || Date.now() + pauseMs >= until) throw translated(error, isWrite);
    }
    await delay(pauseMs);
  }
}

/** The answer, unless the process ends before: a call over a worker's connection cannot be aborted. */
async function unlessCallsEnd<T>(callsEnd: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
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

const ended = (isWrite: boolean, cause: unknown): ClientError =>
  isWrite
    ? new ClientError(
        'outcome_unknown',
        'The process ends before Temporal has answered, so it is not known whether this was done. Send it again.',
        { cause },
      )
    : new ClientError('temporal_unreachable', 'The process ends before Temporal has answered. Send it again.', {
        cause,
      });

/** Of errors that a retry may resolve. */
function kindOf(error: unknown): Passing | undefined {
  if (failureOf(error)?.type === 'AcceptedUpdateCompletedWorkflow') return 'moment';
  const grpc = grpcOf(error);
  if (grpc === undefined) return undefined;
  // An update with start has the reason in its message. Its details only say that it could not be executed.
  if (grpc.code === GRPC.FAILED_PRECONDITION && /workflow task/i.test(`${grpc.details} ${messagesOf(error)}`))
    return 'moment';
  return passingOf(grpc);
}

const messagesOf = (error: unknown): string => [...chainOf(error)].map(({ message }) => message).join(' ');

/** The ClientError for an error of the SDK. Other errors are answered as they are. */
export function translated(error: unknown, isWrite: boolean): unknown {
  if (error instanceof ClientError) return error;
  if (error instanceof UnreadablePayload) return new ClientError('payload_unreadable', error.message, { cause: error });
  const failure = failureOf(error);
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
  const isLate =
    error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
    grpc?.code === GRPC.DEADLINE_EXCEEDED ||
    grpc?.code === GRPC.CANCELLED;
  if (isLate && isWrite) {
    return new ClientError(
      'outcome_unknown',
      'No answer came within 10 seconds, so it is not known whether this was done. Look at its state, or send ' +
        'the same request again.',
      { cause: error },
    );
  }
  const passing = kindOf(error);
  if (passing === 'rate') {
    return new ClientError(
      'temporal_busy',
      'Temporal refuses further calls for a moment, because there are too many. Send it again shortly, and fewer at ' +
        'once.',
      { cause: error },
    );
  }
  const away = [...chainOf(error)].some((at) => at instanceof NamespaceNotFoundError)
    ? NO_NAMESPACE
    : awayText(grpc, isLate ? 'moment' : passing);
  if (away !== undefined) return new ClientError('temporal_unreachable', away, { cause: error });
  if (grpc?.code === GRPC.NOT_FOUND || (grpc?.code === GRPC.INVALID_ARGUMENT && NO_HISTORY.test(grpc.details)))
    return new ClientError('not_found', 'There is nothing with that id.', { cause: error });
  return error;
}

const LATER = 'Try again shortly.';
const NO_NAMESPACE = "Temporal does not have this gateway's namespace. Its operator has to create it.";

/**
 * Why Temporal cannot answer now, as a sentence for callers: it says which part is away, but quotes nothing of the
 * server's. Undefined for a failure that has another cause. The gateway's log has the server's own words.
 */
function awayText(status: GrpcStatus | undefined, passing: 'moment' | 'away' | undefined): string | undefined {
  const { code, details = '' } = status ?? {};
  if (code === GRPC.UNAUTHENTICATED || code === GRPC.PERMISSION_DENIED)
    return "Temporal refuses this gateway's credentials. Its operator has to renew them.";
  if (code === GRPC.INVALID_ARGUMENT && /no mapping defined for search attribute Signalbox/i.test(details))
    return 'Temporal lacks a search attribute of Signalbox. Its operator has to start a gateway anew to register it.';
  if (passing === 'away') return `Temporal cannot be connected to at the moment. ${LATER}`;
  if (code === GRPC.FAILED_PRECONDITION && passing === 'moment')
    return `The worker cannot take this at the moment. ${LATER}`;
  if (passing === 'moment' && /database|persistence/i.test(details))
    return `Temporal answers, but its database does not at the moment. ${LATER}`;
  return passing === undefined ? undefined : `Temporal does not answer at the moment. ${LATER}`;
}

/** How a server that reads archives says that a history is past its retention. */
const NO_HISTORY = /history not found/i;

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

/** The data converter's own failure (blobs.ts). */
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
function failureOf(error: unknown): ApplicationFailure | undefined {
  if (!(error instanceof WorkflowUpdateFailedError)) return undefined;
  return error.cause instanceof ApplicationFailure ? error.cause : undefined;
}
