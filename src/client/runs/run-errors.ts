/** Why runs failed. It is in the last event of their histories, and not in Visibility. */

import type { RunError } from '../../contract/run.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { onCode } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { inGroups } from '../temporal/each-concurrently.ts';
import { readClosing } from '../temporal/first-event.ts';
import { perClient } from '../temporal/per-client.ts';
import { legible } from '../temporal/unreadable.ts';
import { outcomeOf } from './run-view.ts';

type RowError = Omit<RunError, 'details'>;

/** A run of Temporal. */
export interface RunIds {
  readonly workflowId: string;
  readonly runId: string;
}

/** Errors that are read at the same time. */
const AT_ONCE = 10;
const LONGEST_MESSAGE = 300;
const MOST_KEPT = 2_000;

/** The errors of runs that have ended never change. By Temporal's id of the run, the oldest first. */
const keptBy = perClient(() => new BoundedMap<string, RowError>(MOST_KEPT));

/** The errors of runs that have ended, by Temporal's ids of them. Runs whose error cannot be read are left out. */
export async function errorsOf(access: Access, runs: readonly RunIds[]): Promise<Map<string, RowError>> {
  const kept = keptBy(access);
  const found = new Map<string, RowError>();
  await inGroups(runs, AT_ONCE, async (run) => {
    const error = kept.get(run.runId) ?? (await errorOf(access, run));
    if (error === undefined) return;
    found.set(run.runId, error);
    kept.set(run.runId, error);
  });
  return found;
}

/** Undefined where Temporal no longer has it, and where it cannot be read. */
async function errorOf(access: Access, { workflowId, runId }: RunIds): Promise<RowError | undefined> {
  const read = legible(() => readClosing(access, workflowId, runId));
  const closing = (await read.catch(onCode('not_found', () => undefined)))?.value;
  const error = closing && outcomeOf(closing).error;
  if (error === undefined) return undefined;
  const { details: _details, message, ...rest } = error;
  return { ...rest, message: message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message };
}
