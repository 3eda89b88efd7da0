/** The schedules of 0.3, which a worker gives what this version writes. Their ticks do it too, but may be far. */

import { FIRE_WORKFLOW, type FireStart } from '../../contract/fire.ts';
import type { WriteAccess } from '../temporal/access.ts';
import { isScheduleId } from '../temporal/ids.ts';
import { hostQuery, isNull } from '../temporal/query.ts';
import { read } from '../temporal/rpc.ts';
import { renewTimes } from './triggers.ts';

/** Answers how many. One that fails does not keep back the others; then it throws. */
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
      await renewTimes(access, start.organizationId, start.triggerId);
      renewed++;
    } catch (error) {
      failed ??= error;
    }
  }
  if (failed !== undefined) throw failed;
  return renewed;
}
