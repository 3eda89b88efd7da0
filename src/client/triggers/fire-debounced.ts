/** Starts the run of a debounced payload: the activity of the workflow `debounce` (workflows/actors/debounce.ts). */

import type { DebounceActivities, FireDebounced } from '../../contract/debounce.ts';
import { defined } from '../../json/defined.ts';
import { hasCode } from '../errors.ts';
import { acceptedInput } from '../starts/accepted-input.ts';
import { startRun } from '../starts/start.ts';
import type { WriteAccess } from '../temporal/access.ts';
import { resolveWorkflow } from '../versions/resolve-workflow.ts';
import { finalRefusalOf, firingOf, sendFiring } from './trigger-records.ts';

export const debounceActivitiesOver = (access: WriteAccess): DebounceActivities => ({
  fireDebounced: (request) => fireDebounced(access, request),
});

/** The run has the current definition of the workflow. */
async function fireDebounced(
  access: WriteAccess,
  { organizationId: org, held, key: ownKey }: FireDebounced,
): Promise<{ executionId: string | null }> {
  const { workflow, state, trigger, origin, initiator, owner, id: key = ownKey } = held;
  const triggerId = trigger.id;
  try {
    const started = await startRun(access, org, {
      workflows: [workflow],
      trigger,
      origin,
      key: { scope: 'debounce', key, fingerprint: key },
      ...defined({ initiator }),
      prepare: async () => {
        const { definition, hash } = await resolveWorkflow(access, org, { workflow });
        return { definition, hash, input: acceptedInput(definition, held.input), state, ...defined({ owner }) };
      },
    });
    if (triggerId !== undefined) await sendFiring(access, org, triggerId, firingOf(started));
    return { executionId: started.executionId };
  } catch (error) {
    const refused = finalRefusalOf(error);
    // The sender knows that the payload was accepted, so the activity is retried until the limit has room.
    if (refused === undefined || hasCode(error, 'limit_reached')) throw error;
    if (triggerId !== undefined) await sendFiring(access, org, triggerId, refused);
    return { executionId: null };
  }
}
