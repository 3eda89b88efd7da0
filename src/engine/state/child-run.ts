/**
 * Child runs (ARCHITECTURE.md §3): their ids and their results. A child's id derives from the parent's id, the parent's
 * start and the visit's path, so a retry, a reset and a fold of the history find the same child.
 */

import type { EndedChild } from '../../contract/run/children.ts';
import type { RunError } from '../../contract/run/run.ts';
import { idPart, shortHash } from '../../contract/workflow-ids.ts';
import type { Definition } from '../../definition/document/types.ts';
import { isPlainObject, type Json, type JsonObject } from '../../json/json.ts';
import { dataIn, isFailure } from './effect-results.ts';
import type { Event, Genesis } from './protocol.ts';

/** The id of the activity by which a parent checks on its children. */
export const CHILDREN_ACTIVITY_ID = '$children';
/** The id of the timer between two checks. The core does not see it. */
export const CHILDREN_TIMER_ID = '$children-clock';

/** The execution id of the child that the command `id` of this run starts: `run.{org}.{workflow}.child-{hash}`. */
export function childRunId(
  parent: Pick<Genesis, 'executionId' | 'organizationId' | 'startedAt'>,
  id: string,
  workflow: string,
): string {
  const hash = shortHash(parent.executionId, String(parent.startedAt), id);
  return `run.${idPart(parent.organizationId)}.${idPart(workflow)}.child-${hash}`;
}

/**
 * The data of the activity `resolveWorkflow`. `input` is the child's, where defaults of the format were added. Workers
 * before segments did not return `light`.
 */
export interface ResolvedWorkflow {
  readonly definition: Definition;
  readonly hash: string;
  readonly light?: readonly string[];
  readonly input?: Json;
}

/** The result of the activity. Undefined where it was completed by hand with something else. */
export function parseResolvedWorkflow(result: unknown): ResolvedWorkflow | undefined {
  const data = dataIn(result);
  if (!isPlainObject(data) || !isPlainObject(data['definition']) || typeof data['hash'] !== 'string') return undefined;
  return data as unknown as ResolvedWorkflow;
}

/** The children that have ended, from the data of the activity's result. */
export function endedChildren(data: unknown): readonly EndedChild[] {
  const ended = isPlainObject(data) ? data['ended'] : undefined;
  return Array.isArray(ended) ? (ended as readonly unknown[]).filter(isEndedChild) : [];
}

/** The events in the data of the activity's result. */
export function childEvents(data: unknown, at: number): Event[] {
  return endedChildren(data).map(({ id, output, error }) => ({
    type: 'childDone',
    at,
    id,
    ...(error === undefined ? { output: output ?? null } : { error }),
  }));
}

function isEndedChild(child: unknown): child is EndedChild {
  return (
    isPlainObject(child) &&
    typeof child['id'] === 'string' &&
    (child['error'] === undefined || isFailure(child['error']))
  );
}

/** The payload of the signal `childDone`, which a child sends to its parent when it ends. */
export function childDoneSignal(path: string, ended: { output: Json } | { error: RunError }): JsonObject {
  return 'error' in ended ? { path, error: { ...ended.error } as JsonObject } : { path, output: ended.output };
}
