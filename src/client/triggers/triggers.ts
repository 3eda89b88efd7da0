/**
 * Triggers of an organization, from definitions and from the API: written, read, listed and deleted (ARCHITECTURE.md
 * §4, §5).
 */

import { ulid } from 'ulid';
import type { HookOwner, HookPath, RemovedDefinition } from '../../contract/actors.ts';
import { FIRE_WORKFLOW, type FireStart } from '../../contract/triggers/fire.ts';
import {
  type BackfillNote,
  type ChangeTrigger,
  type ClaimTrigger,
  type CreateTrigger,
  NEVER_FIRED,
  type NoteBackfill,
  ownerOfTrigger,
  type PutTrigger,
  type ReleaseTrigger,
  type RemoveTrigger,
  TRIGGER_WORKFLOW,
  type Trigger,
  type TriggerClaimed,
  type TriggerRecord,
  type TriggerSpec,
  type TriggerStart,
} from '../../contract/triggers/trigger.ts';
import type { TriggerDefinition } from '../../definition/document/types.ts';
import { canonicalText } from '../../json/canonical-text.ts';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { eachConcurrently } from '../concurrency/each-concurrently.ts';
import { ClientError, hasCode, onCode } from '../errors.ts';
import { searchAttributes } from '../search-attributes/keys.ts';
import { any, type Clause, compare, hostQuery, isNull } from '../search-attributes/query.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { type Actor, describe, updateActor, updateWithStart } from '../temporal/actor-calls.ts';
import { isScheduleId, triggerActorId } from '../temporal/ids.ts';
import { actorQuery } from '../temporal/namespace-division.ts';
import { read } from '../temporal/rpc.ts';
import { listPage, type Page, type PageRequest, partitionRows, type UnreadableRow } from '../visibility/listing.ts';
import { pagesOf } from '../visibility/pages.ts';
import { hooksOf } from './hook-config.ts';
import { claimHooks, configureHooks, freeHooks } from './hooks.ts';
import { demandValidSchedules } from './schedule-validation.ts';
import { deleteSchedule, hasOutdatedTimes, putSchedule, readSchedule, renewSchedule } from './schedules.ts';

/** A trigger, and the outcomes of its firings. */
export interface TriggerView {
  readonly trigger: Trigger;
  readonly fired: TriggerRecord;
  /** The requests to backfill times of a schedule, in the order in which they came. */
  readonly backfills: readonly BackfillNote[];
}

export const triggerIdOf = (workflow: string, name: string): string => `${workflow}.${name}`;
/** Slugs have no dots. */
export const workflowOfTrigger = (id: string): string => id.split('.')[0] ?? id;

/** The trigger, if it exists. Needs no worker. */
export async function readTrigger(access: Access, org: string, id: string): Promise<TriggerView | undefined> {
  const description = await describe(access, triggerActorId(org, id));
  return description?.status.name === 'RUNNING' ? viewOf(description.memo ?? {}) : undefined;
}

interface TriggerFilter extends PageRequest {
  readonly workflowId?: string;
  readonly type?: TriggerDefinition['type'];
  readonly enabled?: boolean;
  /** The tag by which an event finds its triggers (eventTag). */
  readonly tag?: string;
}

export interface TriggerPage extends Page<TriggerView> {
  /** Triggers of the page that cannot be read. */
  readonly unreadable: readonly UnreadableRow<{ readonly id: string; readonly workflowId: string }>[];
}

/**
 * As listTriggers, for what must miss none of them.
 * @throws ClientError `invalid_cursor`, `payload_unreadable` (one of them is unreadable).
 */
export async function listTriggersStrictly(
  access: Access,
  org: string,
  filter: TriggerFilter,
): Promise<Page<TriggerView>> {
  const page = await listTriggers(access, org, filter);
  const [first] = page.unreadable;
  if (first !== undefined) throw new ClientError(first.code, `The trigger ${first.id}: ${first.message}`);
  return page;
}

/** A page of all triggers, in definitions and of the API. @throws ClientError `invalid_cursor`. */
export async function listTriggers(access: Access, org: string, filter: TriggerFilter): Promise<TriggerPage> {
  const { workflowId, type, enabled, tag } = filter;
  const clauses: Clause[] = [compare('executionStatus', '=', 'Running')];
  if (enabled === undefined) clauses.push(any(compare('status', '=', 'enabled'), compare('status', '=', 'disabled')));
  else clauses.push(compare('status', '=', enabled ? 'enabled' : 'disabled'));
  if (workflowId !== undefined) clauses.push(compare('workflow', '=', workflowId));
  if (type !== undefined) clauses.push(compare('triggerType', '=', type));
  if (tag !== undefined) clauses.push(compare('tags', '=', tag));
  const page = await listPage(access, await actorQuery(access, org, TRIGGER_WORKFLOW, clauses), filter);
  const { readable, unreadable } = partitionRows(page.items, ({ attributes }) => ({
    id: attributes.get(searchAttributes.trigger) ?? '',
    workflowId: attributes.get(searchAttributes.workflow) ?? '',
  }));
  return { ...page, items: readable.flatMap((row) => viewOf(row.memo) ?? []), unreadable };
}

/** A write of a trigger through the API. */
interface TriggerWrite {
  readonly by?: string;
  /** As in DefinitionWrite. */
  readonly afterWrite?: () => Promise<void>;
  /** A repeated key gets the same answer. */
  readonly key?: string;
}

/**
 * Makes a trigger through the API. The workflow need not exist yet. Repeating it after an interruption completes it.
 * @throws ClientError `trigger_exists`, `path_taken`, `path_resting`, `invalid_trigger` (Temporal refuses its
 * schedule).
 */
export async function createTrigger(
  access: WriteAccess,
  org: string,
  workflow: string,
  spec: TriggerSpec,
  { by, afterWrite, key }: TriggerWrite = {},
): Promise<Trigger> {
  const id = triggerIdOf(workflow, spec.name);
  await demandValidSchedules(access, org, [{ trigger: spec, at: '' }]);
  // With a key, this request may have made the trigger. The actor knows.
  const before = key === undefined ? (await readTrigger(access, org, id))?.trigger : undefined;
  if (before !== undefined) {
    if (!(await lacksSchedule(access, org, before, spec)))
      throw new ClientError('trigger_exists', `There is a trigger ${id} already. Take another name.`);
    await afterWrite?.();
    await applyTrigger(access, org, before);
    return before;
  }
  const owner = { workflow, api: id };
  const made = triggerActor(access, org, workflow, id);
  const claimed = await claimHooks(access, org, owner, hookPathsOf(spec));
  try {
    const request = { spec, ...omitUndefined({ by }) };
    const trigger = await updateWithStart<CreateTrigger, Trigger>(access, made, 'create', request, key);
    await afterWrite?.();
    await applyTrigger(access, org, trigger);
    return trigger;
  } catch (error) {
    if (hasCode(error, 'trigger_exists')) await freeHooks(access, org, owner, claimed, 0);
    throw error;
  }
}

/** Whether an interrupted request made this trigger of the API, but not its schedule. */
async function lacksSchedule(access: Access, org: string, before: Trigger, wanted: TriggerSpec): Promise<boolean> {
  if (before.source.of !== 'api' || before.type !== 'schedule') return false;
  const isSame = Object.entries(wanted).every(
    ([member, value]) =>
      canonicalText(value as Json) === canonicalText((before[member as keyof Trigger] ?? null) as Json),
  );
  return isSame && (await readSchedule(access, org, before.id)) === undefined;
}

/**
 * Changes the given members.
 * @throws ClientError `not_found`, `trigger_of_definition`, `path_taken`, `path_resting`, `invalid_trigger` (Temporal
 * refuses its schedule).
 */
export async function changeTrigger(
  access: WriteAccess,
  org: string,
  changed: Trigger,
  change: ChangeTrigger['change'],
  { by, afterWrite }: Omit<TriggerWrite, 'key'> = {},
): Promise<Trigger> {
  const { id } = changed;
  const wanted = { ...changed, ...change } as Trigger;
  await demandValidSchedules(access, org, [{ trigger: wanted, at: '' }]);
  const [pathBefore] = hookPathsOf(changed);
  const [path] = hookPathsOf(wanted);
  const isMoved = path?.path !== pathBefore?.path;
  // A definition's trigger can only be enabled or disabled. Other changes are refused.
  if (changed.source.of === 'api')
    await claimHooks(access, org, ownerOf(changed), isMoved && path !== undefined ? [path] : []);
  const trigger = await updateActor<ChangeTrigger, Trigger>(access, triggerActorId(org, id), 'change', {
    change,
    ...omitUndefined({ by }),
  });
  await afterWrite?.();
  await applyTrigger(access, org, trigger);
  if (isMoved && pathBefore !== undefined)
    await freeHooks(access, org, ownerOf(changed), [pathBefore], revisionOf(trigger));
  return trigger;
}

/** Deletes a trigger that was made through the API. @throws ClientError `not_found`, `trigger_of_definition`. */
export async function deleteTrigger(access: WriteAccess, org: string, id: string): Promise<void> {
  const removed = await sendRemove(access, org, id, {});
  if (removed !== null) await cleanUpTrigger(access, org, removed);
}

/**
 * Reserves the names of a definition's triggers before the definition is written, all or none, so that the API makes
 * none of them in the meantime. Answers a function that releases them where the write is refused, and never fails. The
 * write takes over the names.
 * @throws ClientError `trigger_exists`: the API has made one of them.
 */
export async function claimTriggers(
  access: WriteAccess,
  org: string,
  workflow: string,
  names: readonly string[],
): Promise<() => Promise<void>> {
  const claim = ulid();
  const claimed: string[] = [];
  const releaseClaims = async () => {
    try {
      await eachConcurrently(claimed, (id) =>
        updateActor<ReleaseTrigger, TriggerClaimed>(access, triggerActorId(org, id), 'release', { claim }),
      );
    } catch {
      // A claim that cannot be released expires by itself, and the caller needs the refusal.
    }
  };
  try {
    await eachConcurrently(names, async (name) => {
      const id = triggerIdOf(workflow, name);
      if ((await readTrigger(access, org, id))?.trigger.source.of === 'definition') return;
      await updateWithStart<ClaimTrigger, TriggerClaimed>(access, triggerActor(access, org, workflow, id), 'claim', {
        claim,
      });
      claimed.push(id);
    });
  } catch (error) {
    await releaseClaims();
    throw error;
  }
  return releaseClaims;
}

/**
 * Applies the triggers of a definition, as of its write with that revision, and deletes the triggers that it dropped.
 * The paths of webhooks and the names are claimed before.
 */
export async function putTriggers(
  access: WriteAccess,
  org: string,
  workflow: string,
  written: {
    readonly triggers: readonly TriggerDefinition[];
    readonly revision: number;
    readonly dropped: readonly string[];
    readonly by?: string;
  },
): Promise<void> {
  const { triggers, revision, dropped, by } = written;
  await eachConcurrently(triggers, async ({ enabled = true, ...rest }) => {
    const id = triggerIdOf(workflow, rest.name);
    const put = { revision, spec: { ...rest, enabled }, ...omitUndefined({ by }) };
    const written = triggerActor(access, org, workflow, id);
    const trigger = await updateWithStart<PutTrigger, Trigger | null>(access, written, 'put', put);
    if (trigger !== null) await applyTrigger(access, org, trigger);
  });
  await deleteDroppedTriggers(access, org, workflow, dropped, revision);
}

/**
 * Deletes triggers that a definition no longer has. `until` is as in RemoveTrigger. The owner of their paths frees the
 * paths.
 */
export async function deleteDroppedTriggers(
  access: WriteAccess,
  org: string,
  workflow: string,
  names: readonly string[],
  revision: number,
  until?: string,
): Promise<void> {
  const request = { definition: revision, ...omitUndefined({ until }) };
  await eachConcurrently(names, async (name) => {
    const id = triggerIdOf(workflow, name);
    const removed = await sendRemove(access, org, id, request).catch(onCode('not_found', () => null));
    if (removed !== null) await cleanUpTrigger(access, org, removed);
  });
}

/** Deletes the triggers of a deleted definition: its own triggers, and the API's triggers for it. */
export async function deleteTriggersOfWorkflow(
  access: WriteAccess,
  org: string,
  workflow: string,
  { triggers: names, revision, at }: RemovedDefinition,
): Promise<void> {
  await deleteDroppedTriggers(access, org, workflow, names, revision, at);
  const list = (request: PageRequest) => listTriggersStrictly(access, org, { workflowId: workflow, ...request });
  for await (const listed of pagesOf(1_000, list)) {
    const remaining = listed.map(({ trigger }) => trigger.name).filter((name) => !names.includes(name));
    await deleteDroppedTriggers(access, org, workflow, remaining, revision, at);
  }
}

/**
 * Applies a written trigger to its schedule and webhook path. Another write may come in between. The trigger is read
 * again afterwards, and applied again where it has changed, so that the last write wins.
 */
async function applyTrigger(access: WriteAccess, org: string, written: Trigger, put = putSchedule): Promise<void> {
  for (let trigger: Trigger | undefined = written, putFirst = put; ; putFirst = putSchedule) {
    if (trigger.type === 'schedule') await putFirst(access, org, trigger);
    for (const hook of hooksOf({ triggers: [trigger] })) {
      const config = { ...hook.config, owner: ownerOfTrigger(trigger) };
      await configureHooks(access, org, ownerOf(trigger), [{ ...hook, config }], revisionOf(trigger));
    }
    const now: Trigger | undefined = (await readTrigger(access, org, trigger.id))?.trigger;
    if (now === undefined) {
      await deleteSchedule(access, org, trigger.id);
      return;
    }
    if (now.revision === trigger.revision) return;
    trigger = now;
  }
}

/** Makes the times of a trigger's schedule anew, if they were made earlier than now. It stays as paused as it is. */
export async function renewScheduleTimes(access: WriteAccess, org: string, id: string): Promise<void> {
  if (!(await hasOutdatedTimes(access, org, id))) return;
  const view = await readTrigger(access, org, id);
  if (view !== undefined) await applyTrigger(access, org, view.trigger, renewSchedule);
}

/**
 * Gives the schedules of 0.3 what this version writes. Their ticks do it too, but may be far. Answers how many. One
 * that fails does not keep back the others; then it throws.
 */
export async function renewEarlierSchedules(access: WriteAccess): Promise<number> {
  const { schedule } = access.client;
  let renewed = 0;
  let failed: unknown;
  // Only those of 0.3 lack the attribute.
  for await (const { scheduleId, action } of schedule.list({ query: hostQuery([isNull('trigger')]) })) {
    if (!isScheduleId(scheduleId) || action?.workflowType !== FIRE_WORKFLOW) continue;
    try {
      const { action: started } = await read(access, () => schedule.getHandle(scheduleId).describe());
      const [start] = (started.args ?? []) as FireStart[];
      if (start === undefined || started.taskQueue !== access.taskQueue) continue;
      await renewScheduleTimes(access, start.organizationId, start.triggerId);
      renewed++;
    } catch (error) {
      failed ??= error;
    }
  }
  if (failed !== undefined) throw failed;
  return renewed;
}

/** Frees the schedule and path of a removed trigger. The definition's write frees the paths of its own triggers. */
async function cleanUpTrigger(access: WriteAccess, org: string, removed: Trigger): Promise<void> {
  const { id, type, source } = removed;
  if (type === 'schedule') await deleteSchedule(access, org, id);
  if (source.of === 'api') await freeHooks(access, org, ownerOf(removed), hookPathsOf(removed), revisionOf(removed));
}

/** The owner and revision of a path's write. A trigger of the API has its own. */
const revisionOf = ({ source, revision }: Trigger): number => (source.of === 'definition' ? source.revision : revision);

const ownerOf = ({ id, workflow, source }: Trigger): HookOwner =>
  source.of === 'definition' ? { workflow } : { workflow, api: id };

const hookPathsOf = (spec: TriggerSpec): HookPath[] =>
  hooksOf({ triggers: [spec] }).map(({ path, trigger }) => ({ path, trigger }));

function sendRemove(
  access: WriteAccess,
  org: string,
  id: string,
  request: Omit<RemoveTrigger, 'key'>,
): Promise<Trigger | null> {
  return updateActor<RemoveTrigger, Trigger | null>(access, triggerActorId(org, id), 'remove', request);
}

function viewOf(memo: { readonly [field: string]: unknown }): TriggerView | undefined {
  const trigger = memo['trigger'] as Trigger | null | undefined;
  if (trigger === undefined || trigger === null) return undefined;
  return {
    trigger,
    fired: (memo['fired'] as TriggerRecord | undefined) ?? NEVER_FIRED,
    backfills: (memo['backfills'] as BackfillNote[] | undefined) ?? [],
  };
}

const triggerActor = (access: Access, org: string, workflow: string, id: string): Actor<TriggerStart> => ({
  workflowId: triggerActorId(org, id),
  workflowType: TRIGGER_WORKFLOW,
  start: { organizationId: org, historyLimit: access.historyLimit, id, workflow },
});

/**
 * Records who requests a schedule's times, so that their runs count to this person. @throws ClientError `not_found`.
 */
export async function noteBackfill(access: WriteAccess, org: string, id: string, note: BackfillNote): Promise<void> {
  await updateActor<NoteBackfill, { noted: boolean }>(access, triggerActorId(org, id), 'backfilled', { note });
}

/** @throws ClientError `not_found`. */
export async function demandTrigger(access: Access, org: string, id: string): Promise<TriggerView> {
  const view = await readTrigger(access, org, id);
  if (view === undefined) throw new ClientError('not_found', `There is no trigger ${id.slice(0, 100)}.`);
  return view;
}
