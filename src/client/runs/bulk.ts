/**
 * Bulk operations on runs. Cancelling and terminating are Temporal's batch operations over the query of the run list.
 * Temporal has no batch retry, so a workflow retries (workflows/jobs/bulk-retry.ts). Both continue when the gateway
 * stops.
 */

// The package is CommonJS without named exports: its values come by the default.
import proto from '@temporalio/proto';
import {
  BULK_RETRY_WORKFLOW,
  type BulkActivities,
  type BulkProgress,
  type BulkRetryStart,
} from '../../contract/run/bulk.ts';
import type { ListAttributeFilters } from '../../contract/search-attributes.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { decodeOptionalSinglePayload } from '../../temporal-internals/sdk.ts';
import { ClientError, hasCode } from '../errors.ts';
import { readArgument, readCloseOutcome } from '../history/start-and-close-events.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { describe, startUnlessTaken } from '../temporal/actor-calls.ts';
import { GRPC } from '../temporal/grpc.ts';
import { bulkId } from '../temporal/ids.ts';
import { actorAttributes } from '../temporal/namespace-division.ts';
import { grpcOf, read, write } from '../temporal/rpc.ts';
import { dateOf } from '../temporal/timestamps.ts';
import { countOf } from '../visibility/count.ts';
import { currentPage } from '../visibility/current-runs.ts';
import { exactMatchIds, listBareExact, listFiltersOf } from '../visibility/exact-list-filter.ts';
import { pagesOf } from '../visibility/pages.ts';
import { retryRun } from './retry.ts';
import { errorsOf } from './run-errors.ts';
import { type BulkScope, runQuery } from './run-list.ts';
import type { RowFilter } from './run-rows.ts';

export const BULK_ACTIONS = ['cancel', 'terminate', 'retry'] as const;
type BulkAction = (typeof BULK_ACTIONS)[number];

interface BulkRequest {
  readonly action: BulkAction;
  /** Error codes are for retries alone: open runs have none. */
  readonly filter: Omit<RowFilter, 'limit' | 'cursor'>;
  /** The reason in the histories of the runs. */
  readonly reason: string;
  /** A repeated id means the same operation. */
  readonly requestId?: string;
}

interface BulkView {
  readonly operationId: string;
  readonly action: BulkAction;
  readonly status: 'running' | 'completed' | 'failed';
  /** Runs that matched the filter when the operation began. Absent until Temporal has counted them. */
  readonly total?: number;
  readonly done: number;
  readonly failed: number;
  readonly startedAt: string;
  readonly completedAt?: string;
}

const PAGE_SIZE = 100;
/** The most runs that one batch operation of Temporal can name. */
const MAX_BATCH_EXECUTIONS = 1_000;
/** Rows of a page that only counts. */
const COUNT_PAGE_SIZE = 1_000;
const RETRY_CONCURRENCY = 5;
const { BATCH_OPERATION_STATE_COMPLETED, BATCH_OPERATION_STATE_RUNNING } =
  proto.temporal.api.enums.v1.BatchOperationState;

/** Counts the runs of the operation. Visibility may lag by a second. @throws ClientError `invalid_query`. */
export function countBulk(
  access: Access,
  org: string,
  request: Pick<BulkRequest, 'action' | 'filter'>,
): Promise<number> {
  return countSelectedRuns(access, org, request, queryOf(org, request, Date.now()));
}

/** An open run is the last run of its id. Temporal would count every failed run of an execution that was retried. */
async function countSelectedRuns(
  access: Access,
  org: string,
  { action, filter }: Pick<BulkRequest, 'action' | 'filter'>,
  query: string,
): Promise<number> {
  const wanted = listFiltersOf(filter);
  if (action !== 'retry') return (await exactMatchIds(access, query, wanted))?.length ?? countOf(access, query);
  const { errorCode } = filter;
  let found = 0;
  for await (const runs of currentRuns(access, org, { query, wanted, errorCode }, COUNT_PAGE_SIZE))
    found += runs.length;
  return found;
}

interface Selection {
  readonly query: string;
  readonly wanted: ListAttributeFilters;
  readonly errorCode: readonly string[] | undefined;
}

/** Each execution once, in its present state, in pages of at most `limit`. */
async function* currentRuns(access: Access, org: string, { query, wanted, errorCode }: Selection, limit: number) {
  const pages = pagesOf(limit, (request) =>
    currentPage(access, org, request, (asked) => listBareExact(access, query, wanted, asked)),
  );
  for await (const runs of pages) {
    const errors = errorCode === undefined ? undefined : await errorsOf(access, runs);
    yield runs.filter(({ runId }) => errors === undefined || errorCode?.includes(errors.get(runId)?.code ?? ''));
  }
}

/** @throws ClientError `invalid_query`, `bulk_busy`. */
export async function startBulk(access: WriteAccess, org: string, request: BulkRequest): Promise<BulkView> {
  const { action, filter, reason, requestId } = request;
  const startedAt = new Date();
  const query = queryOf(org, request, startedAt.getTime());
  const operationId = bulkId(org, action, requestId);
  let total: number;
  let isNew: boolean;
  if (action === 'retry') {
    total = await countSelectedRuns(access, org, request, query);
    const wanted = listFiltersOf(filter);
    const { errorCode } = filter;
    const some = { ...(wanted.length === 0 ? {} : { wanted }), ...omitUndefined({ errorCode }) };
    isNew = await startRetries(access, operationId, { organizationId: org, query, ...some, total });
  } else {
    const ids = await exactMatchIds(access, query, listFiltersOf(filter));
    total = ids?.length ?? (await countOf(access, query));
    isNew = await startBatch(access, operationId, action, targetOf(org, request, query, ids), reason);
  }
  if (!isNew) return readBulk(access, org, operationId);
  return { operationId, action, status: 'running', total, done: 0, failed: 0, startedAt: startedAt.toISOString() };
}

type BatchTarget = { readonly visibilityQuery: string } | { readonly executions: { readonly workflowId: string }[] };

/** All runs of the query, or only the named ones. @throws ClientError `invalid_query`. */
function targetOf(org: string, request: BulkRequest, query: string, ids: readonly string[] | undefined): BatchTarget {
  if (ids === undefined) return { visibilityQuery: query };
  if (ids.length > MAX_BATCH_EXECUTIONS)
    throw new ClientError(
      'invalid_query',
      `The filter is for ${ids.length} runs, and others have values that differ from it in case alone, which ` +
        `Temporal does not tell apart here: then at most ${MAX_BATCH_EXECUTIONS} may be meant. Narrow it, by a ` +
        'workflow or a time.',
    );
  if (ids.length > 0) return { executions: ids.map((workflowId) => ({ workflowId })) };
  // Temporal refuses a batch operation without runs.
  return { visibilityQuery: queryOf(org, { ...request, filter: { ...request.filter, executionId: '' } }, 0) };
}

/** @throws ClientError `not_found`, also for an operation of another organization. */
export async function readBulk(access: Access, org: string, operationId: string): Promise<BulkView> {
  const action = BULK_ACTIONS.find((one) => operationId.startsWith(bulkId(org, one, '')));
  if (action === undefined) throw operationNotFound();
  return action === 'retry' ? readRetries(access, operationId) : readBatch(access, operationId, action);
}

/** The activities of the workflow. `heartbeat.last` reads the heartbeat of the previous attempt. */
export const bulkActivities = (
  access: WriteAccess,
  heartbeat: { last(): BulkProgress | undefined; send(progress: BulkProgress): void },
): BulkActivities => ({
  retryRuns: async ({ organizationId, query, wanted = [], errorCode }) => {
    const progress = { ...(heartbeat.last() ?? { done: 0, failed: 0 }) };
    for await (const runs of currentRuns(access, organizationId, { query, wanted, errorCode }, PAGE_SIZE)) {
      for (let from = 0; from < runs.length; from += RETRY_CONCURRENCY) {
        const some = runs.slice(from, from + RETRY_CONCURRENCY);
        const retried = await Promise.all(
          some.map(({ workflowId }) => isRetriedOrContinued(access, organizationId, workflowId)),
        );
        progress.done += retried.filter(Boolean).length;
        progress.failed += retried.filter((one) => !one).length;
        heartbeat.send({ ...progress });
      }
    }
    return progress;
  },
});

/** Whether the run continues. A run that continued already counts too. */
async function isRetriedOrContinued(access: WriteAccess, org: string, executionId: string): Promise<boolean> {
  try {
    await retryRun(access, org, executionId);
    return true;
  } catch (error) {
    if (hasCode(error, 'temporal_unreachable', 'temporal_busy', 'outcome_unknown') || !(error instanceof ClientError))
      throw error;
    return error.code === 'not_failed';
  }
}

function queryOf(org: string, { action, filter }: Pick<BulkRequest, 'action' | 'filter'>, now: number): string {
  // A run that fails again in the meantime is not retried again and again.
  const scope: BulkScope = action === 'retry' ? { failedBy: now } : { open: true };
  return runQuery(org, filter, scope);
}

/** False where the operation was started before. */
async function startRetries(access: WriteAccess, workflowId: string, start: BulkRetryStart): Promise<boolean> {
  const started = await startUnlessTaken(access, 'rest', BULK_RETRY_WORKFLOW, {
    workflowId,
    args: [start],
    workflowIdConflictPolicy: 'FAIL',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    ...(await actorAttributes(access)),
    staticSummary: `Retries ${start.total} runs`,
  });
  return started !== undefined;
}

/** As startRetries. @throws ClientError `bulk_busy`. */
async function startBatch(
  access: WriteAccess,
  jobId: string,
  action: 'cancel' | 'terminate',
  target: BatchTarget,
  reason: string,
): Promise<boolean> {
  const identity = 'signalbox';
  try {
    await write(access, 'rest', jobId, () =>
      access.client.workflowService.startBatchOperation({
        namespace: access.namespace,
        jobId,
        ...target,
        reason,
        ...(action === 'cancel' ? { cancellationOperation: { identity } } : { terminationOperation: { identity } }),
      }),
    );
    return true;
  } catch (error) {
    if (grpcOf(error)?.code === GRPC.ALREADY_EXISTS) return false;
    if (!/concurrent batch/i.test(grpcOf(error)?.details ?? '')) throw error;
    throw new ClientError(
      'bulk_busy',
      'Temporal runs as many batch operations as it may. Wait until one of them has ended.',
      { cause: error },
    );
  }
}

async function readBatch(access: Access, operationId: string, action: BulkAction): Promise<BulkView> {
  const job = await read(access, () =>
    access.client.workflowService.describeBatchOperation({ namespace: access.namespace, jobId: operationId }),
  );
  const total = Number(job.totalOperationCount ?? 0);
  const completedAt = dateOf(job.closeTime)?.toISOString();
  return {
    operationId,
    action,
    status:
      job.state === BATCH_OPERATION_STATE_RUNNING
        ? 'running'
        : job.state === BATCH_OPERATION_STATE_COMPLETED
          ? 'completed'
          : 'failed',
    ...(total === 0 ? {} : { total }),
    done: Number(job.completeOperationCount ?? 0),
    failed: Number(job.failureOperationCount ?? 0),
    startedAt: (dateOf(job.startTime) ?? new Date(0)).toISOString(),
    ...omitUndefined({ completedAt }),
  };
}

async function readRetries(access: Access, operationId: string): Promise<BulkView> {
  const description = await describe(access, operationId);
  if (description?.type !== BULK_RETRY_WORKFLOW) throw operationNotFound();
  const { status, runId, startTime, closeTime, raw } = description;
  const start = await readArgument<BulkRetryStart>(access, operationId, runId);
  const closing = status.name === 'RUNNING' ? undefined : await readCloseOutcome(access, operationId, runId);
  const [heartbeat] = raw.pendingActivities?.[0]?.heartbeatDetails?.payloads ?? [];
  const progress = (
    closing?.how === 'completed'
      ? closing.output
      : await decodeOptionalSinglePayload(access.client.options.loadedDataConverter, heartbeat)
  ) as BulkProgress | undefined;
  return {
    operationId,
    action: 'retry',
    status: closing === undefined ? 'running' : closing.how === 'completed' ? 'completed' : 'failed',
    ...(start === undefined ? {} : { total: start.total }),
    done: progress?.done ?? 0,
    failed: progress?.failed ?? 0,
    startedAt: startTime.toISOString(),
    ...(closeTime === undefined ? {} : { completedAt: closeTime.toISOString() }),
  };
}

const operationNotFound = (): ClientError => new ClientError('not_found', 'There is no bulk operation with that id.');
