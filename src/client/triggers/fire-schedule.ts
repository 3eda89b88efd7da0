/**
 * The activities of the workflow `fire`: they start one run for each tick of a schedule, despite restarts in between
 * (ARCHITECTURE.md §4).
 */

import type { EndFired, FireActivities, FireResult, FireSchedule, IsFiredOpen } from '../../contract/triggers/fire.ts';
import { tickKey } from '../../definition/document/cron.ts';
import { isSpuriousTime } from '../../definition/document/cron-times.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { onCode } from '../errors.ts';
import { cancelRun, terminateRun } from '../runs/run-actions.ts';
import { bodyParts } from '../starts/prepare-run.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { describe } from '../temporal/actor-calls.ts';
import { tickName } from '../temporal/ids.ts';
import { fireTrigger } from './firing.ts';
import { timesVersion } from './schedule-spec.ts';
import { deleteSchedule } from './schedules.ts';
import { startAndRecord } from './trigger-records.ts';
import { readTrigger, renewScheduleTimes } from './triggers.ts';

export const fireActivities = (access: WriteAccess): FireActivities => ({
  fireSchedule: async (request) => {
    const fired = await fireSchedule(access, request);
    // This tick has fired, so what fails here is tried again at the next one.
    if ((request.asOf ?? '') < timesVersion())
      await renewScheduleTimes(access, request.organizationId, request.triggerId).catch(() => undefined);
    return fired;
  },
  endFired: (request) => endFired(access, request),
  isFiredOpen: (request) => isFiredOpen(access, request),
});

async function fireSchedule(access: WriteAccess, request: FireSchedule): Promise<FireResult> {
  const { organizationId: org, triggerId, time, notify } = request;
  const view = await readTrigger(access, org, triggerId);
  if (view === undefined || view.trigger.type !== 'schedule') {
    // The write that removed the trigger was interrupted before it deleted the schedule.
    await deleteSchedule(access, org, triggerId);
    return { refused: { code: 'not_found', message: `There is no schedule ${triggerId}.` } };
  }
  const body = { scheduledTime: time };
  const { config = {} } = view.trigger;
  const cron = String(config['cron']);
  const timezone = typeof config['timezone'] === 'string' ? config['timezone'] : 'UTC';
  if (isSpuriousTime(cron, timezone, Date.parse(time))) {
    const message = `Temporal made up ${time} at a change of the clock. The pattern ${cron} does not have it.`;
    return { refused: { code: 'not_in_pattern', message } };
  }
  const tick = tickKey(cron, timezone, time);
  const key = `${triggerId} ${tick}`;
  const initiator = view.backfills.findLast(
    ({ start, end, at }) => isWithin(time, start, end) && isWithin(at, time, at),
  )?.by;
  const started = await startAndRecord(access, org, triggerId, () =>
    fireTrigger(access, org, {
      triggerId,
      read: () => view.trigger,
      parts: bodyParts(body, Date.parse(time)),
      type: 'schedule',
      metadata: body,
      ...omitUndefined({ initiator }),
      key: { as: 'id', scope: 'schedule', key, fingerprint: key, name: tickName(triggerId, tick) },
      ...(notify === undefined ? {} : { notify: { workflowId: notify, path: triggerId } }),
    }),
  );
  if (started.outcome === 'refused') return { refused: { code: started.code, message: started.message } };
  const { outcome, executionId, status } = started;
  return { executionId, status, created: outcome === 'started' };
}

const isWithin = (time: string, start: string, end: string): boolean =>
  Date.parse(time) >= Date.parse(start) && Date.parse(time) <= Date.parse(end);

async function endFired(access: WriteAccess, { organizationId, executionId, how }: EndFired): Promise<void> {
  const end = how === 'cancel' ? cancelRun : terminateRun;
  const ended = end(access, organizationId, executionId, { reason: 'The time of its schedule has come again.' });
  await ended.catch(onCode(['closed', 'not_found'], () => undefined));
}

async function isFiredOpen(access: Access, { executionId }: IsFiredOpen): Promise<boolean> {
  return (await describe(access, executionId))?.status.name === 'RUNNING';
}
