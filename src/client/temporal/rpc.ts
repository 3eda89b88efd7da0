/**
 * Every call to Temporal goes through here. It has a deadline, is repeated where that helps, and fails with a
 * ClientError. Writes to one workflow queue up, because a workflow takes only ten simultaneous updates (TEMPORAL.md
 * §2).
 *
 * A repeated write must be harmless, so it carries its own key (TEMPORAL.md §2).
 */

import { setTimeout as delay } from 'node:timers/promises';
import {
  isGrpcServiceError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import type { Json } from '../../json/json.ts';
import { ClientError } from '../errors.ts';
import { BLOB_UNAVAILABLE } from '../payloads/blobs.ts';
import { UnreadablePayload } from '../payloads/codec.ts';
import type { Access, WriteAccess } from './access.ts';
import { GRPC } from './grpc.ts';

/** After this time the outcome of a write is unknown (ARCHITECTURE.md §4). */
const WRITE_MS = 10_000;
const READ_MS = 5_000;
const AT_ONCE = 5;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

/** Reads once more while Temporal is busy or away, at most READ_MS. */
export function read<T>(access: Pick<Access, 'client'>, act: () => Promise<T>): Promise<T> {
  return attempt(access, READ_MS, false, act);
}

/** A write to the workflow `target`. It may wait for other writes of this process to the workflow. */
export async function write<T>(access: WriteAccess, target: string, act: () => Promise<T>): Promise<T> {
  await access.beforeWrite();
  const leave = await enter(target);
  try {
    return await attempt(access, WRITE_MS, true, act);
  } finally {
    leave();
  }
}

/** Writes that need no place in the queue: signals, which a workflow accepts in any number. */
export async function writeAlong<T>(
  access: Pick<WriteAccess, 'client' | 'beforeWrite'>,
  act: () => Promise<T>,
): Promise<T> {
  await access.beforeWrite();
  return attempt(access, WRITE_MS, true, act);
}

async function attempt<T>(
  access: Pick<Access, 'client'>,
  withinMs: number,
  isWrite: boolean,
  act: () => Promise<T>,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await access.client.withDeadline(deadline, act);
    } catch (error) {
      if (!isPassing(error) || Date.now() + pauseMs >= deadline) throw translated(error, isWrite);
    }
    await delay(pauseMs);
  }
}

/** Errors that a retry may resolve: a busy server, a workflow that is just continuing as new, an unreachable server. */
function isPassing(error: unknown): boolean {
  if (failureOf(error)?.type === 'AcceptedUpdateCompletedWorkflow') return true;
  const grpc = grpcOf(error);
  if (grpc === undefined) return false;
  if (grpc.code === GRPC.RESOURCE_EXHAUSTED || grpc.code === GRPC.UNAVAILABLE || grpc.code === GRPC.ABORTED)
    return true;
  // An update with start has the reason in its message. Its details only say that it could not be executed.
  return grpc.code === GRPC.FAILED_PRECONDITION && /workflow task/i.test(`${grpc.details} ${messagesOf(error)}`);
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
  if (blob !== undefined) return new ClientError('blob_unavailable', blob.message, { cause: error });
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
  if (
    isLate ||
    grpc?.code === GRPC.UNAVAILABLE ||
    grpc?.code === GRPC.RESOURCE_EXHAUSTED ||
    grpc?.code === GRPC.ABORTED
  ) {
    return new ClientError('temporal_unreachable', 'Temporal does not answer at the moment. Try again shortly.', {
      cause: error,
    });
  }
  if (grpc?.code === GRPC.NOT_FOUND)
    return new ClientError('not_found', 'There is nothing with that id.', { cause: error });
  return error;
}

/** An error and its causes. */
function* chainOf(error: unknown): Generator<Error> {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) yield at;
}

/** The gRPC error in the chain of causes. */
export function grpcOf(error: unknown): { code: number; details: string } | undefined {
  for (const at of chainOf(error)) if (isGrpcServiceError(at)) return { code: at.code, details: at.details ?? '' };
  return undefined;
}

/** The data converter's own failure (blobs.ts). */
function blobFailureOf(error: unknown): ApplicationFailure | undefined {
  for (const at of chainOf(error)) if (at instanceof ApplicationFailure && at.type === BLOB_UNAVAILABLE) return at;
  return undefined;
}

export const isInvalidArgument = (error: unknown): boolean => grpcOf(error)?.code === GRPC.INVALID_ARGUMENT;

/** The refusal of an update. */
function failureOf(error: unknown): ApplicationFailure | undefined {
  if (!(error instanceof WorkflowUpdateFailedError)) return undefined;
  return error.cause instanceof ApplicationFailure ? error.cause : undefined;
}

const queues = new Map<string, { inside: number; waiting: (() => void)[] }>();

/** Waits for a place among the writes to `target`. Answers a function that frees the place. */
async function enter(target: string): Promise<() => void> {
  const queue = queues.get(target) ?? { inside: 0, waiting: [] };
  queues.set(target, queue);
  if (queue.inside >= AT_ONCE) await new Promise<void>((resolve) => queue.waiting.push(resolve));
  else queue.inside += 1;
  return () => {
    const next = queue.waiting.shift();
    if (next) next();
    else if (--queue.inside === 0) queues.delete(target);
  };
}
