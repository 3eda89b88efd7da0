/**
 * Asks Temporal about the schedules of triggers before the triggers are stored. Temporal has no call for that. It
 * checks an update of a schedule before it looks for the schedule, so an update of one that does not exist is refused
 * for the schedule or for its absence, and changes nothing (TEMPORAL.md §12).
 */

import { ulid } from 'ulid';
import { FIRE_WORKFLOW } from '../../contract/triggers/fire.ts';
import type { TriggerDefinition } from '../../definition/document/types.ts';
import { encodeScheduleSpec } from '../../temporal-internals/sdk.ts';
import { eachConcurrently } from '../concurrency/each-concurrently.ts';
import { ClientError, hasCode } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { GRPC } from '../temporal/grpc.ts';
import { scheduleId } from '../temporal/ids.ts';
import { grpcOf, read } from '../temporal/rpc.ts';
import { specOf } from './schedule-spec.ts';

interface TriggerToValidate {
  readonly trigger: Pick<TriggerDefinition, 'type' | 'config'>;
  /** The JSON pointer of the trigger in the request. */
  readonly at: string;
}

export const triggersToValidate = (triggers: readonly TriggerDefinition[], at = ''): TriggerToValidate[] =>
  triggers.map((trigger, index) => ({ trigger, at: `${at}/triggers/${index}` }));

/** @throws ClientError `invalid_trigger` with the place, where Temporal would refuse one of the schedules. */
export async function demandValidSchedules(
  access: Access,
  org: string,
  triggers: readonly TriggerToValidate[],
): Promise<void> {
  const schedules = triggers.filter(({ trigger }) => trigger.type === 'schedule');
  await eachConcurrently(schedules, async ({ trigger: { config = {} }, at }) => {
    const spec = encodeScheduleSpec(specOf(config));
    const absentId = scheduleId(org, `trial ${ulid()}`);
    // A schedule without an action is refused.
    const action = {
      startWorkflow: {
        workflowId: absentId,
        workflowType: { name: FIRE_WORKFLOW },
        taskQueue: { name: access.taskQueue },
      },
    };
    const updated = read(access, () =>
      access.client.workflowService.updateSchedule({
        namespace: access.namespace,
        scheduleId: absentId,
        schedule: { spec, action },
        requestId: ulid(),
      }),
    );
    await updated.catch((error: unknown) => {
      if (!hasCode(error, 'not_found')) throw scheduleRefusalOf(error, at);
    });
  });
}

/** Temporal's refusal of a schedule as a problem of its trigger; another error as it is. */
export function scheduleRefusalOf(error: unknown, at = ''): unknown {
  const grpc = grpcOf(error);
  if (grpc?.code !== GRPC.INVALID_ARGUMENT) return error;
  const message = `Temporal refuses the schedule of this trigger: ${grpc.details.slice(0, 500)}.`;
  return new ClientError('invalid_trigger', message, {
    details: { problems: [{ pointer: `${at}/config`, code: 'invalid_value', message }] },
    cause: error,
  });
}
