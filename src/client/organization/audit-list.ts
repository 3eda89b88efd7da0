/** Lists audit records. Reads the histories of the audit actors (audit.ts), so it needs no worker. */
import {
  AUDIT_WORKFLOW,
  type AuditedChange,
  type AuditedOutcome,
  type AuditOutcome,
} from '../../contract/organization/audit.ts';
import { decodeArrayFromPayloads } from '../../temporal-internals/sdk.ts';
import { hasCode } from '../errors.ts';
import { type HistoryPage, latestHistoryPages } from '../history/page.ts';
import type { Access } from '../temporal/access.ts';
import { describe } from '../temporal/actor-calls.ts';
import { actorQuery } from '../temporal/namespace-division.ts';
import { readCursor, writeCursor } from '../visibility/cursor.ts';
import { listPage, type Page, type PageRequest } from '../visibility/listing.ts';
import { pagesOf } from '../visibility/pages.ts';
import { auditId } from './audit.ts';

const EVENTS_PER_PAGE = 250;
const ROWS_PER_PAGE = 1_000;
const AUDIT_ID = /\.(\d{4}-\d{2})(?:\.(\d+))?$/;

/** A change as the list shows it. */
interface AuditEntry extends AuditedChange {
  readonly outcome: AuditOutcome;
  /** The status of the answer. */
  readonly status?: number;
}

export interface AuditFilter extends PageRequest {
  /** The person who made the change. */
  readonly by?: string;
  /** Method and route. */
  readonly action?: string;
}

/** One actor of one month. */
interface AuditPart {
  readonly month: string;
  readonly part: number;
}

/** Changes, latest first. @throws ClientError `invalid_cursor`. */
export async function listAudit(access: Access, org: string, filter: AuditFilter): Promise<Page<AuditEntry>> {
  const { limit, cursor, by, action } = filter;
  const list = `audit ${JSON.stringify([org, by ?? null, action ?? null])}`;
  const after = cursor === undefined ? undefined : decodePosition(readCursor(access.keys.cursors, list, cursor));
  const found: { readonly entry: AuditEntry; readonly after: string }[] = [];
  for (const auditPart of await listAuditParts(access, org)) {
    if (after !== undefined && compareParts(auditPart, after.place) > 0) continue;
    let isBefore = after !== undefined && compareParts(auditPart, after.place) === 0;
    for await (const entry of auditEntriesOf(access, auditId(org, auditPart.month, auditPart.part))) {
      if (isBefore) {
        isBefore = entry.id !== after?.id;
        continue;
      }
      if ((by !== undefined && entry.by !== by) || (action !== undefined && entry.action !== action)) continue;
      found.push({ entry, after: JSON.stringify([auditPart.month, auditPart.part, entry.id]) });
      if (found.length > limit) break;
    }
    if (found.length > limit) break;
  }
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const hasMore = found.length > page.length && last !== undefined;
  return {
    items: page.map(({ entry }) => entry),
    ...(hasMore ? { nextCursor: writeCursor(access.keys.cursors, list, Buffer.from(last.after)) } : {}),
  };
}

function decodePosition(position: Uint8Array): { readonly place: AuditPart; readonly id: string } {
  const [month, part, id] = JSON.parse(Buffer.from(position).toString()) as [string, number, string];
  return { place: { month, part }, id };
}

const compareParts = (a: AuditPart, b: AuditPart): number =>
  a.month === b.month ? a.part - b.part : a.month < b.month ? -1 : 1;

/** Latest first. Visibility lists the older parts. The newest parts are read by id. */
async function listAuditParts(access: Access, org: string): Promise<AuditPart[]> {
  const parts = new Map<string, AuditPart>();
  const query = await actorQuery(access, org, AUDIT_WORKFLOW, []);
  for await (const rows of pagesOf(ROWS_PER_PAGE, (request) => listPage(access, query, request))) {
    for (const { workflowId } of rows) {
      const [, month, part = '1'] = AUDIT_ID.exec(workflowId) ?? [];
      if (month !== undefined) parts.set(workflowId, { month, part: Number(part) });
    }
  }
  const month = new Date().toISOString().slice(0, 7);
  const known = [...parts.values()].filter((place) => place.month === month).map(({ part }) => part);
  for (let part = Math.max(0, ...known) + 1; ; part++) {
    const id = auditId(org, month, part);
    if ((await describe(access, id)) === undefined) break;
    parts.set(id, { month, part });
  }
  return [...parts.values()].sort((a, b) => compareParts(b, a));
}

type SignalAttributes = NonNullable<
  NonNullable<NonNullable<HistoryPage['history']>['events']>[number]['workflowExecutionSignaledEventAttributes']
>;

/**
 * The changes that one actor received, latest first. Reads no more history than needed. An outcome follows its change
 * in the history, so this function reads the outcome first. A change that a repeated call sent twice counts once.
 */
async function* auditEntriesOf(access: Access, workflowId: string): AsyncGenerator<AuditEntry> {
  const seen = new Set<string>();
  const outcomes = new Map<string, AuditedOutcome>();
  for await (const { signalName, input } of signalsOf(access, workflowId)) {
    const batch = await decodeArrayFromPayloads(access.client.options.loadedDataConverter, input?.payloads);
    if (signalName === 'outcome') for (const outcome of batch as AuditedOutcome[]) outcomes.set(outcome.of, outcome);
    if (signalName !== 'change') continue;
    for (const change of (batch as AuditedChange[]).reverse()) {
      if (seen.has(change.id)) continue;
      seen.add(change.id);
      yield entryOf(change, outcomes.get(change.id));
      outcomes.delete(change.id);
    }
  }
}

function entryOf(change: AuditedChange, ended: AuditedOutcome | undefined): AuditEntry {
  if (ended === undefined) return { ...change, outcome: 'unknown' };
  const { outcome, status, target } = ended;
  return { ...change, target: { ...change.target, ...target }, outcome, status };
}

async function* signalsOf(access: Access, workflowId: string): AsyncGenerator<SignalAttributes> {
  try {
    for await (const { history } of latestHistoryPages(access, { workflowId }, EVENTS_PER_PAGE))
      for (const { workflowExecutionSignaledEventAttributes: signalled } of history?.events ?? [])
        if (signalled) yield signalled;
  } catch (error) {
    // Visibility may briefly list an execution that the server has deleted.
    if (!hasCode(error, 'not_found')) throw error;
  }
}
