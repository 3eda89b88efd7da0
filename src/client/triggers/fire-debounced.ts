/** Starts the run of a debounced payload: the activity of the workflow `debounce` (workflows/actors/debounce.ts). */

import type { DebounceActivities, FireDebounced } from '../../contract/triggers/debounce.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { hasCode } from '../errors.ts';
import { bodyParts, prepareRun } from '../starts/prepare-run.ts';
import { startRun } from '../starts/start.ts';
import type { WriteAccess } from '../temporal/access.ts';
import { finalFiringRefusalOf, firingOf, sendFiring } from './trigger-records.ts';

export const debounceActivities = (access: WriteAccess): DebounceActivities => ({
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
      trigger,
      origin,
      key: { as: 'id', scope: 'debounce', key, fingerprint: key },
      ...omitUndefined({ initiator }),
      run: {
        workflows: [workflow],
        // Its state was accepted when the payload came.
        prepare: async () => ({
          ...(await prepareRun(access, org, {
            definitionRef: { workflow },
            parts: bodyParts(held.input),
            ...omitUndefined({ owner }),
          })),
          state,
        }),
      },
    });
    if (triggerId !== undefined) await sendFiring(access, org, triggerId, firingOf(started));
    return { executionId: started.executionId };
  } catch (error) {
    const refused = finalFiringRefusalOf(error);
    // The sender knows that the payload was accepted, so the activity is retried until the limit has room.
    if (refused === undefined || hasCode(error, 'limit_reached')) throw error;
    if (triggerId !== undefined) await sendFiring(access, org, triggerId, refused);
    return { executionId: null };
  }
}
