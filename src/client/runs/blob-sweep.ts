/**
 * Removes large payloads that no event refers to any more (external-storage.ts), from a folder or a bucket. Temporal
 * deletes a closed run after the retention period without a notice, so the sweep asks. A payload is written before the
 * event that refers to it. So no event refers to a payload that is older than the first event of the oldest existing
 * run under the workflow id.
 */

import { mapInBatches } from '../concurrency/each-concurrently.ts';
import { ClientError, hasCode, onCode } from '../errors.ts';
import { rawHistoryPage } from '../history/page.ts';
import { type BlobStore, BlobStoreError, OWNER_FILE, type StoredBlob } from '../payloads/blob-store.ts';
import type { BlobOwner } from '../payloads/external-storage.ts';
import { compare } from '../search-attributes/query.ts';
import type { Access } from '../temporal/access.ts';
import { read } from '../temporal/rpc.ts';
import { tokenPages } from '../temporal/token-pages.ts';

const DAY_MS = 86_400_000;
/** A payload is written somewhat before its event, and clocks differ. */
const CLOCK_MARGIN_MS = DAY_MS;
/** As many payloads are removed at the same time. */
const DELETE_CONCURRENCY = 8;

type SweepAccess = Pick<Access, 'client' | 'namespace'>;

/**
 * Answers the number of payloads that were removed.
 * @throws ClientError where Temporal or the store cannot be asked. The remaining payloads wait for the next sweep.
 */
export async function sweepBlobs(access: SweepAccess, store: BlobStore, retentionDays: number): Promise<number> {
  const before = Date.now() - retentionDays * DAY_MS - CLOCK_MARGIN_MS;
  let removed = 0;
  try {
    for await (const blobs of groupedByPlace(store.list())) removed += await sweepPlace(access, store, blobs, before);
  } catch (error) {
    if (error instanceof BlobStoreError) throw new ClientError(error.code, error.message, { cause: error });
    throw error;
  }
  return removed;
}

async function sweepPlace(
  access: SweepAccess,
  store: BlobStore,
  blobs: readonly StoredBlob[],
  before: number,
): Promise<number> {
  const payloads = blobs.filter(({ name }) => name !== OWNER_FILE);
  if (!payloads.some(({ writtenAt }) => writtenAt < before)) return 0;
  const owner = await ownerOf(store, blobs);
  if (owner?.namespace !== access.namespace) return 0;
  const oldest = await oldestEventOf(access, owner.workflowId);
  // A worker may still count on an owner file that is young (external-storage.ts).
  const isGone = oldest === undefined && blobs.every(({ writtenAt }) => writtenAt < before);
  const unreferencedBefore = isGone ? before : Math.min(before, (oldest ?? Number.POSITIVE_INFINITY) - CLOCK_MARGIN_MS);
  const removed = await removeOlder(store, payloads, unreferencedBefore);
  if (isGone && removed === payloads.length) await removeOlder(store, blobs, before);
  return removed;
}

async function removeOlder(store: BlobStore, blobs: readonly StoredBlob[], before: number): Promise<number> {
  const old = blobs.filter(({ writtenAt }) => writtenAt < before);
  return (await mapInBatches(old, DELETE_CONCURRENCY, (blob) => store.removeOlder(blob, before))).filter(Boolean)
    .length;
}

/** The store lists those of a place after each other. */
async function* groupedByPlace(all: AsyncIterable<StoredBlob>): AsyncGenerator<StoredBlob[]> {
  let blobs: StoredBlob[] = [];
  for await (const blob of all) {
    if (blobs.length > 0 && blobs[0]?.place !== blob.place) {
      yield blobs;
      blobs = [];
    }
    blobs.push(blob);
  }
  if (blobs.length > 0) yield blobs;
}

/** Undefined where the place does not say it: then nothing of it is removed. */
async function ownerOf(store: BlobStore, blobs: readonly StoredBlob[]): Promise<BlobOwner | undefined> {
  const file = blobs.find(({ name }) => name === OWNER_FILE);
  if (file === undefined) return undefined;
  const text = Buffer.from(await store.read(file)).toString();
  try {
    return JSON.parse(text) as BlobOwner;
  } catch {
    return undefined;
  }
}

/** Epoch milliseconds of the first event of all runs under that id, open and closed. Undefined where no run exists. */
async function oldestEventOf(access: SweepAccess, workflowId: string): Promise<number | undefined> {
  let oldest: number | undefined;
  for (const runId of await runsOf(access, workflowId)) {
    try {
      // The run's own first event: the history of a reset run begins with events that are older than the run.
      const page = await rawHistoryPage(access, { execution: { workflowId, runId }, maximumPageSize: 1 });
      const seconds = Number(page.history?.events?.[0]?.eventTime?.seconds ?? 0);
      oldest = Math.min(oldest ?? Number.POSITIVE_INFINITY, seconds * 1_000);
    } catch (error) {
      if (!hasCode(error, 'not_found')) throw error;
    }
  }
  return oldest;
}

/** Visibility lists the runs. It may not have the latest run yet, so that one is read by its id. */
async function runsOf(access: SweepAccess, workflowId: string): Promise<Set<string>> {
  const { client, namespace } = access;
  const runs = new Set<string>();
  const described = await read(access, () =>
    client.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } }),
  ).catch(onCode('not_found', () => undefined));
  if (described !== undefined) runs.add(described.workflowExecutionInfo?.execution?.runId ?? '');
  const query = compare('workflowId', '=', workflowId).text;
  const pages = tokenPages((nextPageToken) =>
    read(access, () => client.workflowService.listWorkflowExecutions({ namespace, query, nextPageToken })),
  );
  for await (const { executions } of pages) for (const { execution } of executions) runs.add(execution?.runId ?? '');
  return runs;
}
