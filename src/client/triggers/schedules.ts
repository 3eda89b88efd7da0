/**
 * Schedules of triggers: Temporal Schedules that start the workflow `fire` (ARCHITECTURE.md §4). A cron that restricts
 * both day fields takes two calendars. A time of both is one tick.
 */

import {
  type Backfill,
  type Client,
  ScheduleAlreadyRunning,
  ScheduleClient,
  type ScheduleDescription,
  type ScheduleHandle,
  ScheduleNotFoundError,
  type ScheduleOptions,
} from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { attributeValue } from '../../contract/search-attributes.ts';
import { FIRE_WORKFLOW, type FireStart } from '../../contract/triggers/fire.ts';
import type { Trigger } from '../../contract/triggers/trigger.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { parseDuration } from '../../template/duration.ts';
import { msToTs } from '../../temporal-internals/sdk.ts';
import { ClientError, rethrowAs } from '../errors.ts';
import { searchAttributes } from '../search-attributes/keys.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { GRPC } from '../temporal/grpc.ts';
import { fireId, scheduleId } from '../temporal/ids.ts';
import { actorAttributes } from '../temporal/namespace-division.ts';
import { withMethods } from '../temporal/replaced-methods.ts';
import { grpcOf, read, writeUnqueued } from '../temporal/rpc.ts';
import { specOf, timesVersion } from './schedule-spec.ts';
import { scheduleRefusalOf } from './schedule-validation.ts';

type UpdateFunction = Parameters<ScheduleHandle['update']>[0];
type UpdateRequest = temporal.api.workflowservice.v1.IUpdateScheduleRequest;
type Overlap = NonNullable<NonNullable<ScheduleOptions['policies']>['overlap']>;

/**
 * What happens to a tick while the previous run is open. `fire` stays open as long as its run, so Temporal's own
 * policies count runs. `terminate_other` cancels the other `fire`, which then ends its run; if Temporal terminated
 * `fire`, the run would continue.
 */
const OVERLAP_POLICIES: { readonly [name: string]: Overlap } = {
  skip: 'SKIP',
  buffer_one: 'BUFFER_ONE',
  buffer_all: 'BUFFER_ALL',
  cancel_other: 'CANCEL_OTHER',
  terminate_other: 'CANCEL_OTHER',
  allow_all: 'ALLOW_ALL',
};
/** Temporal lists at most this many times of a schedule in one answer. */
const MAX_TICKS = 1_000;
const MAX_RENEWAL_ATTEMPTS = 5;

/** The state of a schedule in Temporal. */
interface ScheduleView {
  /** Of the Temporal Schedule. */
  readonly scheduleId: string;
  /** The schedule starts nothing: its trigger is disabled, or it was paused in Temporal. */
  readonly paused: boolean;
  /** ISO 8601. At most ten, and empty while the schedule is paused. */
  readonly nextTimes: readonly string[];
  /**
   * Ticks that were skipped because the previous run was open, and ticks that were missed for longer than `catchup`.
   */
  readonly skipped: number;
  readonly missed: number;
}

/**
 * Applies a trigger to its schedule, which is paused unless the trigger is enabled.
 * @throws ClientError `invalid_trigger`: Temporal refuses the schedule.
 */
export async function putSchedule(access: WriteAccess, org: string, trigger: Trigger): Promise<void> {
  const options = optionsOf(access, org, trigger, await actorAttributes(access));
  await writeUnqueued(access, 'rest', async () => {
    const { schedule } = access.client;
    try {
      await schedule.create(options);
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw scheduleRefusalOf(error);
      const { scheduleId: id, ...rest } = options;
      await schedule.getHandle(id).update(({ state }) => ({ ...rest, state: { ...state, ...options.state } }));
    }
  });
}

/** Whether the times of a schedule were made earlier than now, from other years or older zones. */
export async function hasOutdatedTimes(access: Access, org: string, triggerId: string): Promise<boolean> {
  const described = await describeSchedule(access, org, triggerId);
  const [start] = (described?.action.args ?? []) as FireStart[];
  return described !== undefined && (start?.asOf ?? '') < timesVersion();
}

/** Undefined where the schedule does not exist. */
const describeSchedule = (access: Access, org: string, triggerId: string): Promise<ScheduleDescription | undefined> =>
  read(access, () => handleOf(access.client, org, triggerId).describe().catch(undefinedIfMissing));

/** For `catch`: a schedule that does not exist is undefined. */
function undefinedIfMissing(error: unknown): undefined {
  if (!(error instanceof ScheduleNotFoundError)) throw error;
}

/**
 * As putSchedule, where the schedule exists. It stays as paused as it is, also where somebody pauses it meanwhile.
 * @throws ClientError `temporal_busy`: each time it was written by others meanwhile.
 */
export async function renewSchedule(access: WriteAccess, org: string, trigger: Trigger): Promise<void> {
  const { scheduleId: id, ...options } = optionsOf(access, org, trigger, await actorAttributes(access));
  for (let attempt = 0; attempt < MAX_RENEWAL_ATTEMPTS; attempt++) {
    await writeUnqueued(access, 'rest', async () => {
      const updated = updateUnlessWritten(access.client, id, ({ state }) => {
        return { ...options, state: { ...state, note: state.note || options.state.note } };
      });
      await updated.catch(undefinedIfMissing).catch(undefinedIfLate);
    });
    // Temporal may drop a late write without an error.
    if (!(await hasOutdatedTimes(access, org, trigger.id))) return;
  }
  throw new ClientError('temporal_busy', `The schedule of the trigger ${trigger.id} is being written. Try again.`);
}

/**
 * As the SDK's update of a schedule, but nothing is written where the schedule was written since it was read. The SDK
 * sends no conflict token, so its update takes back such a write.
 */
function updateUnlessWritten({ connection, schedule }: Client, id: string, make: UpdateFunction): Promise<void> {
  let conflictToken: Uint8Array | null = null;
  const updateSchedule = (request: UpdateRequest) =>
    connection.workflowService.updateSchedule({ ...request, conflictToken });
  const client = new ScheduleClient({ ...schedule.options, connection: withMethods(connection, { updateSchedule }) });
  return client.getHandle(id).update((current) => {
    conflictToken = current.raw.conflictToken ?? null;
    return make(current);
  });
}

/** For `catch`: an update that Temporal refuses because of an earlier write is undefined. */
function undefinedIfLate(error: unknown): undefined {
  if (grpcOf(error)?.code !== GRPC.FAILED_PRECONDITION) throw error;
}

/** Deletes the schedule, if it exists. */
export async function deleteSchedule(access: WriteAccess, org: string, triggerId: string): Promise<void> {
  await writeUnqueued(access, 'rest', () => handleOf(access.client, org, triggerId).delete().catch(undefinedIfMissing));
}

/** Undefined where the schedule does not exist. */
export async function readSchedule(access: Access, org: string, triggerId: string): Promise<ScheduleView | undefined> {
  const described = await describeSchedule(access, org, triggerId);
  if (described === undefined) return undefined;
  const { info, state } = described;
  return {
    scheduleId: scheduleId(org, triggerId),
    paused: state.paused,
    // Temporal lists them for a paused schedule too.
    nextTimes: state.paused ? [] : info.nextActionTimes.map((time) => time.toISOString()),
    skipped: info.numActionsSkippedOverlap,
    missed: info.numActionsMissedCatchupWindow,
  };
}

/**
 * Makes up for the ticks of a time span, bounds included, as if they came now. Ticks that have run are not repeated.
 * `overlap` defaults to allow_all, so that each of them runs. Answers the number of ticks.
 * @throws ClientError `not_found`, `too_many`.
 */
export async function backfillSchedule(
  access: WriteAccess,
  org: string,
  triggerId: string,
  span: {
    readonly start: Date;
    readonly end: Date;
    readonly overlap?: string;
    /** Called before the ticks are requested, where they are not refused. */
    readonly before?: () => Promise<void>;
  },
): Promise<number> {
  const ticks = await ticksWithin(access, org, triggerId, span);
  if (ticks >= MAX_TICKS)
    throw new ClientError('too_many', `There are ${MAX_TICKS} times and more in that span. Ask for a shorter one.`);
  await span.before?.();
  const overlap = OVERLAP_POLICIES[span.overlap ?? 'allow_all'] ?? 'ALLOW_ALL';
  const backfill: Backfill = { start: justBefore(span.start), end: span.end, overlap };
  const request = () => handleOf(access.client, org, triggerId).backfill(backfill);
  await writeUnqueued(access, 'rest', () =>
    request().catch((error: unknown) => {
      throw error instanceof ScheduleNotFoundError ? scheduleNotFound(triggerId) : error;
    }),
  );
  return ticks;
}

/**
 * A millisecond earlier, where the start is a whole second. Temporal lists a schedule's times after the start, but a
 * backfill includes the start. Ticks are at whole minutes plus the jitter, so both then cover the same ticks.
 */
const justBefore = (start: Date): Date => (start.getTime() % 1_000 === 0 ? new Date(start.getTime() - 1) : start);

async function ticksWithin(
  access: Access,
  org: string,
  triggerId: string,
  { start, end }: { readonly start: Date; readonly end: Date },
): Promise<number> {
  const { client, namespace } = access;
  const listed = read(access, () =>
    client.workflowService.listScheduleMatchingTimes({
      namespace,
      scheduleId: scheduleId(org, triggerId),
      startTime: msToTs(justBefore(start).getTime()),
      endTime: msToTs(end.getTime()),
    }),
  );
  return (await listed.catch(rethrowAs('not_found', () => scheduleNotFound(triggerId)))).startTime.length;
}

const scheduleNotFound = (triggerId: string): ClientError =>
  new ClientError('not_found', `The trigger ${triggerId} has no schedule. Write it again.`);

const handleOf = (client: Client, org: string, triggerId: string) =>
  client.schedule.getHandle(scheduleId(org, triggerId));

function optionsOf(
  access: Access,
  org: string,
  trigger: Trigger,
  attributes: Awaited<ReturnType<typeof actorAttributes>>,
) {
  const { config = {}, id, enabled } = trigger;
  const overlap = typeof config['overlap'] === 'string' ? config['overlap'] : 'skip';
  const catchup = parseDuration(config['catchup'])?.ms;
  const start: FireStart = {
    organizationId: org,
    triggerId: id,
    asOf: timesVersion(),
    ...(overlap === 'allow_all' ? {} : { stays: overlap === 'terminate_other' ? 'terminate' : 'cancel' }),
  };
  return {
    scheduleId: scheduleId(org, id),
    spec: specOf(config),
    action: {
      type: 'startWorkflow',
      workflowType: FIRE_WORKFLOW,
      workflowId: fireId(org, id),
      taskQueue: access.taskQueue,
      args: [start] as [FireStart],
      ...attributes,
      staticSummary: `Fires ${id}`.slice(0, 190),
    },
    policies: {
      overlap: OVERLAP_POLICIES[overlap] ?? 'SKIP',
      ...omitUndefined({ catchupWindow: catchup }),
    },
    // Operators of Temporal recognize schedules by these: their ids are hashes.
    typedSearchAttributes: new TypedSearchAttributes([
      { key: searchAttributes.org, value: attributeValue(org) },
      { key: searchAttributes.workflow, value: attributeValue(trigger.workflow) },
      { key: searchAttributes.trigger, value: attributeValue(id) },
    ]),
    state: { paused: !enabled, note: `${enabled ? '' : 'Disabled. '}Trigger ${id} of the organization ${org}.` },
  } satisfies ScheduleOptions;
}
