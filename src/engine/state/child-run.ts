/**
 * Child runs (ARCHITECTURE.md §3): their ids and their results. A child's id derives from the parent's id, the parent's
 * start and the visit's path, so a retry, a reset and a fold of the history find the same child.
 */

import type { EndedChild } from '../../contract/children.ts';
import type { RunError } from '../../contract/run.ts';
import { idPart, shortHash } from '../../contract/workflow-ids.ts';
import { isPlainObject, type Json, type JsonObject } from '../../json/json.ts';
import type { Event, Genesis } from './protocol.ts';

/** The id of the activity by which a parent checks on its children. */
export const CHILDREN = '$children';
/** The id of the timer between two checks. The core does not see it. */
export const CHILDREN_CLOCK = '$children-clock';

/** The execution id of the child that the command `id` of this run starts: `run.{org}.{workflow}.child-{hash}`. */
export function childRunId(
  parent: Pick<Genesis, 'executionId' | 'organizationId' | 'startedAt'>,
  id: string,
  workflow: string,
): string {
  const place = shortHash(parent.executionId, String(parent.startedAt), id);
  return `run.${idPart(parent.organizationId)}.${idPart(workflow)}.child-${place}`;
}

/** The events in the activity's result. The shell and the fold both call this (E6). */
export function childEvents(data: unknown, at: number): Event[] {
  const ended = isPlainObject(data) ? data['ended'] : undefined;
  if (!Array.isArray(ended)) return [];
  return (ended as unknown as readonly EndedChild[]).map(({ id, output, error }) => ({
    type: 'childDone',
    at,
    id,
    ...(error === undefined ? { output: output ?? null } : { error }),
  }));
}

/** The payload of the signal `childDone`, which a child sends to its parent when it ends. */
export function childDoneSignal(path: string, ended: { output: Json } | { error: RunError }): JsonObject {
  return 'error' in ended ? { path, error: { ...ended.error } as JsonObject } : { path, output: ended.output };
}
