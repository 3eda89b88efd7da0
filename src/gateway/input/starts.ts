/** Requests that start a run: the caller's key, and the answer. */
import type { Request } from 'express';
import { z } from 'zod';
import { type RunResult, readResult } from '../../client/runs/run-read.ts';
import type { StartRequest } from '../../client/starts/start.ts';
import type { StartedRun } from '../../client/starts/start-prepared-run.ts';
import { sha256Hex } from '../../client/temporal/ids.ts';
import type { Problem } from '../../definition/document/types.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { awaited, started } from '../answers/executions.ts';
import { abortOnDisconnect } from '../http/abort-on-disconnect.ts';
import { releaseRequestSlot } from '../http/backpressure.ts';
import { canonicalTextAsync } from '../http/canonical-text-async.ts';
import { idempotencyKeyOf } from '../http/idempotency-key.ts';
import { principalOf } from '../http/principal.ts';
import { type Call, createdOrOk } from '../http/route.ts';
import { type ProblemCode, WRITE_PROBLEMS } from '../validation/problem-codes.ts';
import { wholeNumber } from '../validation/validation.ts';

/**
 * The caller's `clientRequestId` or `Idempotency-Key`. `origin` names the address. Where the body names the workflow
 * (`address`), the header counts for all workflows; a `clientRequestId` is the workflow's own.
 */
export async function startKeyOf(
  req: Request,
  body: object,
  origin: string,
  as: 'id' | 'request' | 'address',
): Promise<Pick<StartRequest, 'key'>> {
  const { id } = principalOf(req);
  const { clientRequestId }: { readonly clientRequestId?: string | undefined } = body;
  const key = clientRequestId ?? idempotencyKeyOf(req);
  if (key === undefined) return {};
  const scope = id === undefined ? origin : `${origin} ${id}`;
  const isOwn = as === 'address' && clientRequestId !== undefined;
  return { key: { as: isOwn ? 'request' : as, scope, key, fingerprint: await fingerprintOf(body) } };
}

/** A fingerprint of a request's content, independent of the order of members. */
export async function fingerprintOf(body: object): Promise<string> {
  const { clientRequestId: _key, ...rest } = body as { [key: string]: Json | undefined };
  return sha256Hex(await canonicalTextAsync(rest as JsonObject)).slice(0, 32);
}

export const RUN_LOCATION = { Location: 'The address of the run.' };

/** The answers of a route that starts a run. */
export const START_ANSWERS = {
  201: { text: 'Started.', schema: started, headers: RUN_LOCATION },
  200: { text: 'The run that the same request started before.', schema: started, headers: RUN_LOCATION },
};

/** The answers of a route that starts a run, and may wait for its end. */
export const AWAITED_START_ANSWERS = {
  201: { text: 'Started. With `wait` and if the run has ended, with its end.', schema: awaited, headers: RUN_LOCATION },
  200: { text: 'The run that the same request started before.', schema: awaited, headers: RUN_LOCATION },
};

const MAX_WAIT_SECONDS = 60;
export const waitSeconds = wholeNumber(0, MAX_WAIT_SECONDS).default(0);
export const awaitedQuery = z.strictObject({
  wait: waitSeconds.describe(
    'Seconds to wait for the end of the run, which is then part of the answer: status, output or error. Default: 0.',
  ),
});

/** What a request to a run may wait for. */
export const resultWaitQuery = z.strictObject({
  wait: waitSeconds.describe(
    'Seconds to wait for the end of the run. The answer then has it as `result`: status, output or error. Default: 0.',
  ),
});

/** The codes of a route that starts a run. */
export const START_PROBLEMS: readonly ProblemCode[] = [
  ...WRITE_PROBLEMS,
  'invalid_input',
  'idempotency_conflict',
  'limit_reached',
  'queue_full',
  'payload_too_large',
  'workflow_disabled',
];

/** `{executionId, status}`: 201 for a new run, 200 for the run that the same request started before. */
export function startedAnswer(run: StartedRun & { readonly warnings?: readonly Problem[] }) {
  const { executionId, status, outcome, warnings } = run;
  return createdOrOk(
    outcome === 'started',
    { executionId, status, ...omitUndefined({ warnings }) },
    { location: runAddress(executionId) },
  );
}

/** Waits up to `waitMs` for the end of a run that the request has started, while the caller listens. */
export function awaitResult(
  { gateway, res }: Pick<Call, 'gateway' | 'res'>,
  org: string,
  executionId: string,
  waitMs: number,
): Promise<RunResult> {
  releaseRequestSlot(res);
  return readResult(gateway.access, org, executionId, waitMs, abortOnDisconnect(res, gateway.closing).signal);
}

type WaitingCall = Pick<Call, 'gateway' | 'principal' | 'res'>;
type RunEnd = Omit<Extract<RunResult, { readonly ended: true }>, 'ended'>;

/**
 * The status of the run, and its end if it has ended, after `wait` seconds at most. Undefined where nothing was to be
 * waited for, or where it could not be read: what the request did is done all the same.
 */
async function awaitRunEnd(
  { gateway, principal, res }: WaitingCall,
  executionId: string,
  wait: number,
): Promise<{ readonly status: RunResult['status']; readonly end?: RunEnd } | undefined> {
  if (wait === 0) return undefined;
  try {
    const read = await awaitResult({ gateway, res }, principal.organizationId, executionId, wait * 1_000);
    if (!read.ended) return { status: read.status };
    const { ended: _ended, ...end } = read;
    return { status: read.status, end };
  } catch {
    return undefined;
  }
}

/** As startedAnswer, after `wait` seconds at most, with the end of the run if it has ended. */
export async function awaitedAnswer(call: WaitingCall, run: StartedRun, wait: number) {
  const answer = startedAnswer(run);
  const { executionId } = run;
  const read = await awaitRunEnd(call, executionId, wait);
  if (read === undefined) return answer;
  const { status, end } = read;
  return { ...answer, body: { executionId, status, ...end } };
}

/** The member of an answer for the end of its run, if it has ended within `wait` seconds. */
export async function resultMember(
  call: WaitingCall,
  executionId: string,
  wait: number,
): Promise<{ readonly result?: RunEnd }> {
  const read = await awaitRunEnd(call, executionId, wait);
  return read?.end === undefined ? {} : { result: read.end };
}

export const runAddress = (executionId: string): string => `/api/executions/${encodeURIComponent(executionId)}`;
