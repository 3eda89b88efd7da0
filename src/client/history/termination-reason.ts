/**
 * Why a run was cancelled or terminated. Temporal's closing event does not contain the reason of a cancellation. The
 * request to cancel does, and a run that cancels itself writes the reason into its memo. Both are near the end of the
 * history.
 */

import type { temporal } from '@temporalio/proto';
import { CANCEL_DETAILS, CANCEL_REASON } from '../../contract/run/run.ts';
import { isObject, type JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { decodeOptionalSinglePayload } from '../../temporal-internals/sdk.ts';
import type { Access } from '../temporal/access.ts';
import { read } from '../temporal/rpc.ts';

/** Who ended a run, and why, where that was recorded. */
export interface TerminationReason {
  readonly reason?: string;
  readonly by?: string;
  /** Further facts from the step that cancelled its run. */
  readonly details?: JsonObject;
}

const PAGE = 200;
/** Pages of history that are searched from the end. A rollback may be between the request and the end. */
const MAX_PAGES = 5;
/** Prefix of the identity of a caller of the gateway. */
const CALLER = 'signalbox/';
/** Prefix of the workflow id of a limiter. */
const LIMITER_PREFIX = 'gate.';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** The identity of the caller for Temporal. */
export const identityFor = (by: string | undefined): string => (by === undefined ? 'signalbox' : `${CALLER}${by}`);

export const terminationReason = (reason: unknown, identity: unknown): TerminationReason => ({
  ...(typeof reason === 'string' && reason !== '' ? { reason } : {}),
  ...omitUndefined({ by: operatorIn(identity) }),
});

/**
 * Who has asked Temporal: the caller of the gateway, or the identity of another client, such as
 * `temporal-cli:ann@laptop`. Undefined for processes, whose SDK names them `PID@HOST`.
 */
export function operatorIn(identity: unknown): string | undefined {
  if (typeof identity !== 'string' || /^$|^signalbox$|^\d+@/.test(identity)) return undefined;
  return identity.startsWith(CALLER) ? identity.slice(CALLER.length) : identity;
}

/** `The run was cancelled by ann: Not needed.`, followed by `rest`, a sentence of its own. */
export function describeTermination(
  what: string,
  { reason: given, by, details }: TerminationReason,
  rest = '',
): string {
  const reason = details === undefined ? given : denial(given, details);
  const who = by === undefined ? '' : ` by ${by}`;
  const why = reason === undefined ? '.' : `: ${/[.!?]$/.test(reason) ? reason : `${reason}.`}`;
  return `${what}${who}${why}${rest === '' ? '' : ` ${rest}`}`;
}

/** `approval_denied by ann (Too dear.)`: the person who denied the approval, and the comment. */
function denial(reason: string | undefined, { decidedBy, comments }: JsonObject): string {
  const who = typeof decidedBy === 'string' ? ` by ${decidedBy}` : '';
  return `${reason ?? ''}${who}${typeof comments === 'string' ? ` (${comments})` : ''}`.trim();
}

/**
 * Who requested the end of the run, and why, by the latest request in its last events. Empty where no request is found.
 * @throws ClientError `not_found`, `temporal_unreachable`.
 */
export async function readCancellation(access: Access, workflowId: string, runId: string): Promise<TerminationReason> {
  let nextPageToken: Uint8Array = new Uint8Array();
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await read(access, () =>
      access.client.workflowService.getWorkflowExecutionHistoryReverse({
        namespace: access.namespace,
        execution: { workflowId, runId },
        maximumPageSize: PAGE,
        nextPageToken,
      }),
    );
    for (const event of page.history?.events ?? []) {
      const reason = await reasonInEvent(access, event);
      if (reason !== undefined) return reason;
    }
    nextPageToken = page.nextPageToken ?? new Uint8Array();
    if (nextPageToken.length === 0) break;
  }
  return {};
}

async function reasonInEvent(access: Access, event: HistoryEvent): Promise<TerminationReason | undefined> {
  const fields = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields ?? {};
  const read = (name: string) => decodeOptionalSinglePayload(access.client.options.loadedDataConverter, fields[name]);
  if (fields[CANCEL_REASON]) {
    const details = await read(CANCEL_DETAILS);
    return { ...terminationReason(await read(CANCEL_REASON), ''), ...(isObject(details) ? { details } : {}) };
  }
  const asked = event.workflowExecutionCancelRequestedEventAttributes;
  if (!asked) return undefined;
  const from = asked.externalWorkflowExecution?.workflowId;
  if (!from) return terminationReason(asked.cause, asked.identity);
  return {
    reason: from.startsWith(LIMITER_PREFIX)
      ? 'As many runs go as may at once, and a newer one took its place.'
      : `The run ${from} asked for it.`,
  };
}
