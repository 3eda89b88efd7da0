/**
 * Requests with a key. The gateway works on the first request with a key. Every other request with the same content
 * gets its answer, also from another gateway and after a restart. A workflow represents the key. Its id is taken while
 * the workflow is open and after it has completed. The id is free again when the workflow ended without an answer, or
 * when its gateway stops sending signals. A retry of the request reuses its request id, so a crash of the gateway
 * cannot create the resource twice.
 */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { ulid } from 'ulid';
import {
  ANSWERED_SIGNAL,
  REQUEST_WORKFLOW,
  type RequestStart,
  type SealedAnswer,
  WORKING_SIGNAL,
} from '../../contract/idempotent-request.ts';
import { ClientError, hasCode } from '../errors.ts';
import { readCloseOutcome } from '../history/start-and-close-events.ts';
import { hmacHex } from '../payloads/keys.ts';
import { seal, unsealWithAny } from '../payloads/seal.ts';
import { type Access, keysFor, unaudited } from '../temporal/access.ts';
import { describe, startUnlessTaken } from '../temporal/actor-calls.ts';
import { requestActorId } from '../temporal/ids.ts';
import { actorAttributes } from '../temporal/namespace-division.ts';
import { writeUnqueued } from '../temporal/rpc.ts';
import { FINGERPRINT_MEMO } from './start-prepared-run.ts';

/** How often a gateway signals that it still works on the request. */
const HEARTBEAT_MS = 5_000;
/** The memo's member for the id of a request. */
const REQUEST_ID_MEMO = 'requestId';
/** The longest time that a request takes. After it, the handler counts as hung. */
const MAX_REQUEST_MS = 60 * 60 * 1000;

/** The reasons with which a claim's workflow ends without an answer. REFUSED is compared. */
const REFUSED_REASON = 'The request was refused, and may be sent again.';
const UNKNOWN_REASON = 'It is not known whether the request was done, and it may be sent again.';

/** An HTTP answer as it was given. */
export interface StoredAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

export interface KeyedRequest {
  /** Keeps keys of different callers and addresses apart. */
  readonly scope: string;
  readonly key: string;
  /** The content of the request. */
  readonly content: string;
}

/**
 * A claimed request. The caller answers it, or gives it up (release, abandon), so that the same key may be used again.
 */
export interface Claim {
  /** The id of the request. All attempts of the request share it, and no other request has it. */
  readonly id: string;
  /** An earlier attempt ended without an answer, so the work may have been done. */
  readonly mayBeDone: boolean;
  answer(answer: StoredAnswer): Promise<void>;
  /** The request was refused: nothing was done, and the key is free. */
  release(): Promise<void>;
  /** The outcome is unknown: the same request may be sent again. Other content with its key is refused. */
  abandon(): Promise<void>;
}

/**
 * Claims the request, or answers the earlier answer to it. Waits up to `waitMs` for a simultaneous request with the
 * key.
 * @throws ClientError `idempotency_conflict` (the key was used with other content), `request_in_flight`.
 */
export async function claimRequest(
  access: Access,
  org: string,
  { scope, key, content }: KeyedRequest,
  waitMs: number,
): Promise<Claim | StoredAnswer> {
  const workflowId = requestActorId(org, scope, key);
  const fingerprint = hmacHex(access.keys.requests, content);
  const until = Date.now() + waitMs;
  for (;;) {
    const description = await describe(access, workflowId);
    const status = description?.status.name;
    if (description === undefined || (status !== 'RUNNING' && status !== 'COMPLETED')) {
      const { [FINGERPRINT_MEMO]: before, [REQUEST_ID_MEMO]: idBefore } = description?.memo ?? {};
      // A refused request may be corrected. An unanswered request may have been done, so its content must be the same.
      const mayBeDone = description !== undefined && !(await wasRefused(access, description));
      if (mayBeDone) demandSameContent(access, content, before);
      const id = typeof idBefore === 'string' && isSameContent(access, content, before) ? idBefore : ulid();
      const runId = await startClaim(access, org, workflowId, {
        [FINGERPRINT_MEMO]: fingerprint,
        [REQUEST_ID_MEMO]: id,
      });
      if (runId !== undefined) return { id, mayBeDone, ...claimActions(access, workflowId, runId) };
      continue;
    }
    demandSameContent(access, content, description.memo?.[FINGERPRINT_MEMO]);
    const closing = await readCloseOutcome(access, workflowId, description.runId, Math.max(0, until - Date.now()));
    if (closing?.how === 'completed') return unsealAnswer(access, workflowId, closing.output as SealedAnswer);
    if (closing === undefined && Date.now() >= until)
      throw new ClientError(
        'request_in_flight',
        'The same request is being worked on. Send it again in a moment, with the same key, for its answer.',
      );
  }
}

/**
 * The stored answer to a request, if any. With `since` (epoch milliseconds) only a request that came later counts.
 * @throws ClientError `idempotency_conflict`.
 */
export async function findAnswer(
  access: Access,
  org: string,
  { scope, key, content }: KeyedRequest,
  since = 0,
): Promise<StoredAnswer | undefined> {
  const workflowId = requestActorId(org, scope, key);
  const description = await describe(access, workflowId);
  if (description === undefined || description.startTime.getTime() < since) return undefined;
  demandSameContent(access, content, description.memo?.[FINGERPRINT_MEMO]);
  const closing = await readCloseOutcome(access, workflowId, description.runId);
  return closing?.how === 'completed' ? unsealAnswer(access, workflowId, closing.output as SealedAnswer) : undefined;
}

/** Whether the request was released, so that nothing was done. */
async function wasRefused(
  access: Access,
  { workflowId, runId, status }: WorkflowExecutionDescription,
): Promise<boolean> {
  if (status.name !== 'TERMINATED') return false;
  const closing = await readCloseOutcome(access, workflowId, runId);
  return closing?.how === 'terminated' && closing.words.reason === REFUSED_REASON;
}

/** Starts the workflow that represents the key. Answers its run id, or undefined where another request was faster. */
async function startClaim(
  access: Access,
  org: string,
  workflowId: string,
  memo: { readonly [member: string]: string },
): Promise<string | undefined> {
  const start: RequestStart = { organizationId: org };
  return startUnlessTaken(unaudited(access), 'starts', REQUEST_WORKFLOW, {
    workflowId,
    args: [start],
    workflowIdConflictPolicy: 'FAIL',
    workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
    workflowExecutionTimeout: MAX_REQUEST_MS,
    memo,
    ...(await actorAttributes(access)),
  });
}

function claimActions(access: Access, workflowId: string, runId: string): Omit<Claim, 'id' | 'mayBeDone'> {
  const handle = access.client.workflow.getHandle(workflowId, runId);
  /** Ignores that the claim has timed out in the meantime: the key may be used again, and completed work stays. */
  const ignoringTimeout = async (act: () => Promise<unknown>): Promise<void> => {
    try {
      await writeUnqueued(unaudited(access), 'starts', act);
    } catch (error) {
      const isOver = error instanceof WorkflowNotFoundError || hasCode(error, 'not_found');
      if (!isOver) throw error;
      clearInterval(heartbeat);
    }
  };
  const heartbeat = setInterval(() => {
    // The next signal replaces one that was lost.
    void ignoringTimeout(() => handle.signal(WORKING_SIGNAL)).catch(() => undefined);
  }, HEARTBEAT_MS).unref();
  const end = (reason: string): Promise<void> => {
    clearInterval(heartbeat);
    return ignoringTimeout(() => handle.terminate(reason));
  };
  return {
    answer: (answer) => {
      clearInterval(heartbeat);
      const sealed = seal(access.keys.answers, workflowId, JSON.stringify(answer));
      return ignoringTimeout(() => handle.signal<[SealedAnswer]>(ANSWERED_SIGNAL, { sealed }));
    },
    release: () => end(REFUSED_REASON),
    abandon: () => end(UNKNOWN_REASON),
  };
}

const isSameContent = (access: Access, content: string, fingerprint: unknown): boolean =>
  keysFor(access, 'requests').some((key) => hmacHex(key, content) === fingerprint);

function demandSameContent(access: Access, content: string, fingerprint: unknown): void {
  if (isSameContent(access, content, fingerprint)) return;
  throw new ClientError(
    'idempotency_conflict',
    'This Idempotency-Key was used for another request. Take a new key, or send the same body.',
  );
}

function unsealAnswer(access: Access, workflowId: string, { sealed }: SealedAnswer): StoredAnswer {
  const clear = unsealWithAny(keysFor(access, 'answers'), workflowId, sealed);
  if (clear === undefined)
    throw new ClientError(
      'idempotency_conflict',
      'This Idempotency-Key was used under another master key, and its answer cannot be read. Take a new key.',
    );
  return JSON.parse(clear) as StoredAnswer;
}

/**
 * Gives up the claim of a failed request. After a refusal nothing was done. After any other error the outcome is
 * unknown.
 */
export const releaseOrAbandon = (claim: Pick<Claim, 'release' | 'abandon'>, error: unknown): Promise<void> =>
  error instanceof ClientError && !hasCode(error, 'outcome_unknown', 'temporal_unreachable')
    ? claim.release()
    : claim.abandon();
