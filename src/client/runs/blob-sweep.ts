/**
 * Removes large payloads that no event refers to any more (blobs.ts). Temporal deletes a closed run after the retention
 * period without a notice, so the sweep asks. A payload is written before the event that refers to it. So no event
 * refers to a payload that is older than the first event of the oldest existing run under the workflow id.
 */
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';
import { type BlobOwner, OWNER_FILE } from '../payloads/blobs.ts';
import type { Access } from '../temporal/access.ts';
import { compare } from '../temporal/query.ts';
import { read } from '../temporal/rpc.ts';

const DAY_MS = 86_400_000;
/** A payload is written somewhat before its event, and clocks differ. */
const MARGIN_MS = DAY_MS;

type Asking = Pick<Access, 'client' | 'namespace'>;
interface BlobFile {
  readonly path: string;
  readonly writtenAt: number;
}

/**
 * Answers the number of payloads that were removed.
 * @throws ClientError where Temporal cannot be asked. The remaining payloads wait for the next sweep.
 */
export async function sweepBlobs(access: Asking, root: string, retentionDays: number): Promise<number> {
  const before = Date.now() - retentionDays * DAY_MS - MARGIN_MS;
  let removed = 0;
  for (const place of await readdir(root).catch(() => [])) {
    const folder = join(root, place);
    const files = await filesOf(folder);
    if (!files.some(({ writtenAt }) => writtenAt < before)) continue;
    const owner = await ownerOf(folder);
    if (owner?.namespace !== access.namespace) continue;
    const oldest = await oldestEventOf(access, owner.workflowId);
    if (oldest === undefined && files.every(({ writtenAt }) => writtenAt < before)) {
      await rm(folder, { recursive: true, force: true });
      removed += files.length;
      continue;
    }
    const unreferred = Math.min(before, (oldest ?? Number.POSITIVE_INFINITY) - MARGIN_MS);
    for (const { path, writtenAt } of files) {
      if (writtenAt >= unreferred) continue;
      await rm(path, { force: true });
      removed += 1;
    }
  }
  return removed;
}

async function filesOf(folder: string): Promise<BlobFile[]> {
  const files: BlobFile[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    if (name === OWNER_FILE) continue;
    const path = join(folder, name);
    // Another process may be sweeping too.
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined) files.push({ path, writtenAt: found.mtimeMs });
  }
  return files;
}

async function ownerOf(folder: string): Promise<BlobOwner | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, OWNER_FILE), 'utf8')) as BlobOwner;
  } catch {
    return undefined;
  }
}

/** Epoch milliseconds of the first event of all runs under that id, open and closed. Undefined where no run exists. */
async function oldestEventOf(access: Asking, workflowId: string): Promise<number | undefined> {
  let oldest: number | undefined;
  for (const runId of await runsOf(access, workflowId)) {
    try {
      // The run's own first event: the history of a reset run begins with events that are older than the run.
      const request = { namespace: access.namespace, execution: { workflowId, runId }, maximumPageSize: 1 };
      const page = await read(access, () => access.client.workflowService.getWorkflowExecutionHistory(request));
      const seconds = Number(page.history?.events?.[0]?.eventTime?.seconds ?? 0);
      oldest = Math.min(oldest ?? Number.POSITIVE_INFINITY, seconds * 1_000);
    } catch (error) {
      if (!hasCode(error, 'not_found')) throw error;
    }
  }
  return oldest;
}

/** Visibility lists the runs. It may not have the latest run yet, so that one is read by its id. */
async function runsOf(access: Asking, workflowId: string): Promise<Set<string>> {
  const { client, namespace } = access;
  const runs = new Set<string>();
  try {
    const described = await read(access, () =>
      client.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } }),
    );
    runs.add(described.workflowExecutionInfo?.execution?.runId ?? '');
  } catch (error) {
    if (!hasCode(error, 'not_found')) throw error;
  }
  const query = compare('workflowId', '=', workflowId).text;
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const page = await read(access, () =>
      client.workflowService.listWorkflowExecutions({ namespace, query, nextPageToken }),
    );
    for (const { execution } of page.executions ?? []) runs.add(execution?.runId ?? '');
    nextPageToken = page.nextPageToken ?? new Uint8Array();
  } while (nextPageToken.length > 0);
  return runs;
}
