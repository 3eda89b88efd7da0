/** Workflow ids of actors and runs (ARCHITECTURE.md §4): a dot separates the parts, and users' free text is hashed. */
import { createHash } from 'node:crypto';
import { ulid } from 'ulid';
import { idPart, shortHash } from '../../contract/workflow-ids.ts';

export const sha256Hex = (...parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

export const definitionId = (org: string, slug: string): string => `def.${idPart(org)}.${idPart(slug)}`;
export const versionId = (org: string, slug: string, hash: string): string =>
  `ver.${idPart(org)}.${idPart(slug)}.${hash.replace(/^sha256:/, '')}`;
export const proposedId = (org: string, slug: string, hash: string): string =>
  `prop.${idPart(org)}.${idPart(slug)}.${hash.replace(/^sha256:/, '')}`;
export const textId = (org: string, slug: string, hash: string): string =>
  `text.${idPart(org)}.${idPart(slug)}.${hash.replace(/^sha256:/, '')}`;
export const hookId = (org: string, path: string): string => `hook.${idPart(org)}.${idPart(path)}`;
export const triggerActorId = (org: string, id: string): string => `trigger.${idPart(org)}.${idPart(id)}`;
const SCHEDULE = 'schedule.';
export const scheduleId = (org: string, trigger: string): string => `${SCHEDULE}${idPart(org)}.${idPart(trigger)}`;
export const isScheduleId = (id: string): boolean => id.startsWith(SCHEDULE);
/** Temporal appends the time of the tick. */
export const fireId = (org: string, trigger: string): string => `fire.${idPart(org)}.${idPart(trigger)}`;
export const eventId = (org: string, id: string): string => `event.${idPart(org)}.${shortHash(id)}`;
export const requestActorId = (org: string, scope: string, key: string): string =>
  `request.${idPart(org)}.${shortHash(scope, key)}`;
/** The id of a bulk operation. An empty `name` gives the common prefix of these ids. */
export const bulkId = (org: string, action: string, name = ulid()): string => `bulk.${idPart(org)}.${action}.${name}`;
export const debounceId = (org: string, trigger: string, key: string): string =>
  `debounce.${idPart(org)}.${idPart(trigger)}.${shortHash(key)}`;
export const organizationId = (org: string): string => `org.${idPart(org)}`;
export const mcpToolsId = (org: string, server: string): string => `mcp-tools.${idPart(org)}.${idPart(server)}`;
export const recordingId = (org: string, id: string): string => `recording.${idPart(org)}.${idPart(id)}`;
export const recordedCallId = (org: string, id: string, step: string): string =>
  `recorded-call.${idPart(org)}.${idPart(id)}.${step}`;
export const inboxId = (org: string): string => `inbox.${idPart(org)}`;

/** Whether the id names a run of that organization. Runs that were started by hand may have any id. */
export const isRunIdOf = (org: string, id: string): boolean => id.startsWith(`run.${idPart(org)}.`);
export const newRunId = (org: string, slug: string): string => `run.${idPart(org)}.${idPart(slug)}.${ulid()}`;
/** The id of the one run that a key may start. `scope` separates keys of different origins. */
export const keyedRunId = (org: string, slug: string, scope: string, key: string): string =>
  `run.${idPart(org)}.${idPart(slug)}.key-${shortHash(scope, key)}`;
/** The id of the one run that has a name in its workflow. */
export const namedRunId = (org: string, slug: string, name: string): string =>
  `run.${idPart(org)}.${idPart(slug)}.${name}`;
/** The name of the run of a schedule's tick; `tick` is as tickKey makes it. */
export const tickName = (trigger: string, tick: string): string => `tick-${shortHash(trigger)}-${tick}`;
