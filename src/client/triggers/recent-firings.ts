/**
 * The last firings of a trigger, newest first, read from the history of its actor without a worker: its signals, and
 * the firings that the execution began with.
 */

import { FIRED_SIGNAL, type Firing, MAX_RECENT_FIRINGS, type TriggerStart } from '../../contract/triggers/trigger.ts';
import { isObject } from '../../json/json.ts';
import { decodeArrayFromPayloads } from '../../temporal-internals/sdk.ts';
import { hasCode } from '../errors.ts';
import { latestHistoryPages } from '../history/page.ts';
import type { Access } from '../temporal/access.ts';
import { triggerActorId } from '../temporal/ids.ts';
import { demandTrigger } from './triggers.ts';

const EVENTS_PER_PAGE = 200;

/** At most MAX_RECENT_FIRINGS. @throws ClientError `not_found`. */
export async function readRecentFirings(access: Access, org: string, id: string): Promise<readonly Firing[]> {
  const { trigger } = await demandTrigger(access, org, id);
  const found: Firing[] = [];
  const converter = access.client.options.loadedDataConverter;
  try {
    for await (const page of latestHistoryPages(access, { workflowId: triggerActorId(org, id) }, EVENTS_PER_PAGE)) {
      for (const event of page.history?.events ?? []) {
        const signal = event.workflowExecutionSignaledEventAttributes;
        const start = event.workflowExecutionStartedEventAttributes;
        const isFiring = signal?.signalName === FIRED_SIGNAL;
        if (!isFiring && !start) continue;
        const payloads = (isFiring ? signal?.input : start?.input)?.payloads;
        const [value]: unknown[] = await decodeArrayFromPayloads(converter, payloads);
        if (!isObject(value)) continue;
        const firings = isFiring ? [value as unknown as Firing] : (value as unknown as TriggerStart).carried?.recent;
        // The actor outlives a deletion: firings from before are those of another trigger.
        found.push(...(firings ?? []).filter(({ at }) => at >= trigger.createdAt));
        if (found.length >= MAX_RECENT_FIRINGS) return found.slice(0, MAX_RECENT_FIRINGS);
      }
    }
  } catch (error) {
    if (!hasCode(error, 'not_found')) throw error;
  }
  return found;
}
