/** Why runs failed. It is in the last event of their histories, and not in Visibility. */

import type { RunError } from '../../contract/run/run.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { mapInBatches } from '../concurrency/each-concurrently.ts';
import { onCode } from '../errors.ts';
import { readCloseOutcome } from '../history/start-and-close-events.ts';
import type { Access } from '../temporal/access.ts';
import { perClient } from '../temporal/per-client.ts';
import { tryRead } from '../temporal/unreadable-data.ts';
import { outcomeOf } from './run-view.ts';

type RowError = Omit<RunError, 'details'>;

/** A run of Temporal. */
interface RunIds {
  readonly workflowId: string;
  readonly runId: string;
}

/** Errors that are read at the same time. */
const READ_CONCURRENCY = 10;
const MAX_MESSAGE_LENGTH = 300;
const MAX_CACHED_ERRORS = 2_000;

/** The errors of runs that have ended never change. By Temporal's id of the run, the oldest first. */
const cacheOf = perClient(() => new BoundedMap<string, RowError>(MAX_CACHED_ERRORS));

/** The errors of runs that have ended, by Temporal's ids of them. Runs whose error cannot be read are left out. */
export async function errorsOf(access: Access, runs: readonly RunIds[]): Promise<Map<string, RowError>> {
  const cache = cacheOf(access);
  const found = new Map<string, RowError>();
  await mapInBatches(runs, READ_CONCURRENCY, async (run) => {
    const error = cache.get(run.runId) ?? (await errorOf(access, run));
    if (error === undefined) return;
    found.set(run.runId, error);
    cache.set(run.runId, error);
  });
  return found;
}

/** Undefined where Temporal no longer has it, and where it cannot be read. */
async function errorOf(access: Access, { workflowId, runId }: RunIds): Promise<RowError | undefined> {
  const read = tryRead(() => readCloseOutcome(access, workflowId, runId));
  const closing = (await read.catch(onCode('not_found', () => undefined)))?.value;
  const error = closing && outcomeOf(closing).error;
  if (error === undefined) return undefined;
  const { details: _details, message, ...rest } = error;
  return {
    ...rest,
    message: message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message,
  };
}
