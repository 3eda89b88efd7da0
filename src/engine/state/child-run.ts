/**
 * The runs that a run starts (ARCHITECTURE.md §3): their ids, and what is heard of them. The id comes from the parent's, its
 * start and the visit's path, so a retry, a reset and a fold of the history find the same child.
 */

import type { EndedChild } from '../../contract/children.ts';
import type { RunError } from '../../contract/run.ts';
import { idPart, shortHash } from '../../contract/workflow-ids.ts';
import { isPlainObject, type Json, type JsonObject } from '../../json/json.ts';
import type { Event, Genesis } from './protocol.ts';

/** How history shows the activity by which a parent looks after its children. */
export const CHILDREN = '$children';
/** And the timer between two such looks, which the core hears nothing of. */
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

/** The events that the activity's answer stands for: the shell and the fold take them alike (E6). */
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

/** What a child tells its parent when it ends: the payload of the signal `childDone`. */
export function childDoneSignal(path: string, ended: { output: Json } | { error: RunError }): JsonObject {
  return 'error' in ended ? { path, error: { ...ended.error } as JsonObject } : { path, output: ended.output };
}
