/** Reads the live state of a run, and the fold of its history, from the same moment. */
import { isDeepStrictEqual } from 'node:util';
import { isGrpcServiceError, QueryNotRegisteredError, ServiceError, type WorkflowHandle } from '@temporalio/client';
import { readFoldedState } from '../../../src/client/runs/trace-chain.ts';
import type { TestServer } from '../../support/temporal.ts';

/** Polls this often, a tenth of a second apart, while they differ. */
const MAX_POLLS = 50;

/**
 * The state did not change while the history was read. The server answers a query a moment before it writes the task
 * that answered it, so a difference counts only when it stays.
 */
export async function readConsistently(
  server: TestServer,
  handle: WorkflowHandle,
): Promise<{ live: unknown; folded: unknown }> {
  for (let left = MAX_POLLS; ; left--) {
    const live = await queryState(handle, left > 0);
    const folded = JSON.parse(JSON.stringify((await readFoldedState(server, handle.workflowId)) ?? null));
    const unchanged = live !== UNAVAILABLE && isDeepStrictEqual(live, await queryState(handle, left > 0));
    if (unchanged && (isDeepStrictEqual(folded, live) || left <= 0)) return { live, folded };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const UNAVAILABLE = Symbol('unavailable');

const FAILED_PRECONDITION = 9;

/**
 * A run that is continuing as new may not answer, but the next run of its chain does. A run whose task timed out on a
 * busy machine answers at the next try.
 */
async function queryState(handle: WorkflowHandle, again: boolean): Promise<unknown> {
  try {
    return await handle.query('state');
  } catch (error) {
    if (again && (error instanceof QueryNotRegisteredError || isBusy(error))) return UNAVAILABLE;
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof ServiceError && isGrpcServiceError(error.cause) && error.cause.code === FAILED_PRECONDITION;
}
