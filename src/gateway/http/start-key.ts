/** Keys of starts whose body names the workflow: `clientRequestId`, or else the header, which counts for the whole address. */
import type { Request } from 'express';
import type { RunStart, StartedRun } from '../../client/runs/run-start.ts';
import { startForKey } from '../../client/triggers/keyed-start.ts';
import type { Gateway } from './context.ts';
import { principalOf } from './principal.ts';
import { fingerprintOf, requestKey } from './request-key.ts';

type StartKey = NonNullable<RunStart['key']>;
type KeyedBody = { readonly clientRequestId?: string | undefined };

/** The caller's own key; `origin` says by which address the run is started. */
export function startKeyOf(req: Request, body: object, origin: string): StartKey | undefined {
  const { id } = principalOf(req);
  const { clientRequestId }: KeyedBody = body;
  const key = clientRequestId ?? requestKey(req);
  if (key === undefined) return undefined;
  return { scope: id === undefined ? origin : `${origin} ${id}`, key, fingerprint: fingerprintOf(body) };
}

/** @throws ClientError `idempotency_conflict` where the header's key was used with another body, and what `start` throws. */
export function startKeyed(
  { access }: Gateway,
  req: Request,
  body: KeyedBody,
  key: StartKey | undefined,
  start: () => Promise<StartedRun>,
): Promise<StartedRun> {
  if (key === undefined || body.clientRequestId !== undefined) return start();
  const request = { scope: `start ${key.scope}`, key: key.key, content: key.fingerprint };
  return startForKey(access, principalOf(req).organizationId, request, start);
}
