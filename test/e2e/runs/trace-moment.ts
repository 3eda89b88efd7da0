/** The live state of a run beside the fold of its history, of one moment. */
import { isDeepStrictEqual } from 'node:util';
import { isGrpcServiceError, QueryNotRegisteredError, ServiceError, type WorkflowHandle } from '@temporalio/client';
import { readFoldedState } from '../../../src/client/runs/trace-chain.ts';
import type { TestServer } from '../../support/temporal.ts';

/** Looks so often, a tenth of a second apart, while they differ. */
const LOOKS = 50;

/**
 * The state did not change while the history was read. The server answers a query a moment before it writes the task
 * that answered it, so a difference counts only when it stays.
 */
export async function oneMoment(
  server: TestServer,
  handle: WorkflowHandle,
): Promise<{ live: unknown; folded: unknown }> {
  for (let left = LOOKS; ; left--) {
    const live = await ask(handle, left > 0);
    const folded = JSON.parse(JSON.stringify((await readFoldedState(server, handle.workflowId)) ?? null));
    const unchanged = live !== NOT_NOW && isDeepStrictEqual(live, await ask(handle, left > 0));
    if (unchanged && (isDeepStrictEqual(folded, live) || left <= 0)) return { live, folded };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const NOT_NOW = Symbol('not now');

const FAILED_PRECONDITION = 9;

/**
 * A run that is continuing as new may not answer, but the next run of its chain does. A run whose task timed out on a
 * busy machine answers at the next try.
 */
async function ask(handle: WorkflowHandle, again: boolean): Promise<unknown> {
  try {
    return await handle.query('state');
  } catch (error) {
    if (again && (error instanceof QueryNotRegisteredError || isBusy(error))) return NOT_NOW;
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof ServiceError && isGrpcServiceError(error.cause) && error.cause.code === FAILED_PRECONDITION;
}
