import { Context } from '@temporalio/activity';
import { bulkActivities } from '../src/client/runs/bulk.ts';
import { limiterActivities } from '../src/client/starts/limiters.ts';
import type { WriteAccess } from '../src/client/temporal/access.ts';
import { eventActivities } from '../src/client/triggers/event-fanout.ts';
import { debounceActivities } from '../src/client/triggers/fire-debounced.ts';
import { fireActivities } from '../src/client/triggers/fire-schedule.ts';
import type { LimiterActivities } from '../src/contract/limits/limiter.ts';
import type { BulkActivities, BulkProgress } from '../src/contract/run/bulk.ts';
import type { DebounceActivities } from '../src/contract/triggers/debounce.ts';
import type { EventActivities, EventReceivers } from '../src/contract/triggers/event.ts';
import type { FireActivities } from '../src/contract/triggers/fire.ts';

export type ActorActivities = FireActivities &
  EventActivities &
  DebounceActivities &
  LimiterActivities &
  BulkActivities;

/**
 * The activities of actors, by the names that their workflows call. Their code is in src/client, since they read and
 * write other actors. Errors are transient, and Temporal retries them.
 */
export function actorActivities(access: WriteAccess): ActorActivities {
  return {
    ...fireActivities(access),
    ...eventActivities(access, {
      last: () => Context.current().info.heartbeatDetails as EventReceivers | undefined,
      send: (receivers) => Context.current().heartbeat(receivers),
    }),
    ...debounceActivities(access),
    ...limiterActivities(access),
    ...bulkActivities(access, {
      last: () => Context.current().info.heartbeatDetails as BulkProgress | undefined,
      send: (progress) => Context.current().heartbeat(progress),
    }),
  };
}
