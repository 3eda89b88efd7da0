/** The audit as a list: read from the histories of its actors (audit.ts), for which no worker is needed. */
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import {
  AUDIT_WORKFLOW,
  type AuditedChange,
  type AuditedOutcome,
  type AuditOutcome,
} from '../definition/audit-contract.ts';
import type { Access } from './access.ts';
import { describe } from './actor-calls.ts';
import { auditId } from './audit.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { hasCode } from './errors.ts';
import { type HistoryPage, historyPage } from './history-page.ts';
import { listPage, type Page, type PageRequest } from './listing.ts';
import { queryOf } from './query.ts';

const EVENTS_PER_PAGE = 1_000;
const ROWS_PER_PAGE = 1_000;
const ID = /\.(\d{4}-\d{2})(?:\.(\d+))?$/;

/** A change as the list shows it. */
export interface AuditEntry extends AuditedChange {
  readonly outcome: AuditOutcome;
  /** Of the answer. */
  readonly status?: number;
}

export interface AuditFilter extends PageRequest {
  /** The person. */
  readonly by?: string;
  /** Method and route. */
  readonly action?: string;
}

/** One actor of a month. */
interface Part {
  readonly month: string;
  readonly part: number;
}

/** Changes, latest first. @throws ClientError `invalid_cursor`. */
export async function listAudit(access: Access, org: string, filter: AuditFilter): Promise<Page<AuditEntry>> {
  const { limit, cursor, by, action } = filter;
  const list = `audit ${JSON.stringify([org, by ?? null, action ?? null])}`;
  const after = cursor === undefined ? undefined : afterOf(readCursor(access.keys.cursors, list, cursor));
  const found: { readonly entry: AuditEntry; readonly after: string }[] = [];
  for (const place of await partsOf(access, org)) {
    if (after !== undefined && compared(place, after.place) > 0) continue;
    const entries = await entriesOf(access, auditId(org, place.month, place.part));
    const isRest = after !== undefined && compared(place, after.place) === 0;
    const end = isRest ? entries.findIndex(({ id }) => id === after.id) : -1;
    for (const entry of entries.slice(0, end < 0 ? entries.length : end).reverse()) {
      if ((by !== undefined && entry.by !== by) || (action !== undefined && entry.action !== action)) continue;
      found.push({ entry, after: JSON.stringify([place.month, place.part, entry.id]) });
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

function afterOf(position: Uint8Array): { readonly place: Part; readonly id: string } {
  const [month, part, id] = JSON.parse(Buffer.from(position).toString()) as [string, number, string];
  return { place: { month, part }, id };
}

const compared = (a: Part, b: Part): number => (a.month === b.month ? a.part - b.part : a.month < b.month ? -1 : 1);

/** Latest first. Visibility knows the older ones, and what it does not know yet is looked for. */
async function partsOf(access: Access, org: string): Promise<Part[]> {
  const parts = new Map<string, Part>();
  let cursor: string | undefined;
  do {
    const request = { limit: ROWS_PER_PAGE, ...(cursor === undefined ? {} : { cursor }) };
    const page: Awaited<ReturnType<typeof listPage>> = await listPage(
      access,
      queryOf(org, AUDIT_WORKFLOW, []),
      request,
    );
    for (const { workflowId } of page.items) {
      const [, month, part = '1'] = ID.exec(workflowId) ?? [];
      if (month !== undefined) parts.set(workflowId, { month, part: Number(part) });
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  const month = new Date().toISOString().slice(0, 7);
  const known = [...parts.values()].filter((place) => place.month === month).map(({ part }) => part);
  for (let part = Math.max(0, ...known) + 1; ; part++) {
    const id = auditId(org, month, part);
    if ((await describe(access, id)) === undefined) break;
    parts.set(id, { month, part });
  }
  return [...parts.values()].sort((a, b) => compared(b, a));
}

type Signalled = NonNullable<
  NonNullable<NonNullable<HistoryPage['history']>['events']>[number]['workflowExecutionSignaledEventAttributes']
>;

/** What one actor was told, oldest first; told twice by a call that was repeated, it counts once. */
async function entriesOf(access: Access, workflowId: string): Promise<AuditEntry[]> {
  const changes = new Map<string, AuditedChange>();
  const outcomes = new Map<string, AuditedOutcome>();
  for (const { signalName, input } of await signalsOf(access, workflowId)) {
    const [told] = await decodeArrayFromPayloads(access.client.options.loadedDataConverter, input?.payloads);
    if (signalName === 'change') changes.set((told as AuditedChange).id, told as AuditedChange);
    if (signalName === 'outcome') outcomes.set((told as AuditedOutcome).of, told as AuditedOutcome);
  }
  return [...changes.values()].map((change) => {
    const ended = outcomes.get(change.id);
    if (ended === undefined) return { ...change, outcome: 'unknown' };
    const { outcome, status, target } = ended;
    return { ...change, target: { ...change.target, ...target }, outcome, status };
  });
}

async function signalsOf(access: Access, workflowId: string): Promise<Signalled[]> {
  const signals: Signalled[] = [];
  let nextPageToken: Uint8Array | null | undefined;
  do {
    let page: HistoryPage;
    try {
      page = await historyPage(access, {
        namespace: access.namespace,
        execution: { workflowId },
        maximumPageSize: EVENTS_PER_PAGE,
        ...(nextPageToken ? { nextPageToken } : {}),
      });
    } catch (error) {
      // Visibility lists for a moment what the server no longer keeps.
      if (hasCode(error, 'not_found')) return signals;
      throw error;
    }
    for (const { workflowExecutionSignaledEventAttributes: signalled } of page.history?.events ?? [])
      if (signalled) signals.push(signalled);
    nextPageToken = page.nextPageToken;
  } while (nextPageToken && nextPageToken.length > 0);
  return signals;
}
