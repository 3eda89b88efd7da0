import { Context } from '@temporalio/activity';
import { bulkActivitiesOver } from '../src/client/runs/bulk.ts';
import { limiterActivitiesOver } from '../src/client/starts/limiters.ts';
import type { WriteAccess } from '../src/client/temporal/access.ts';
import { eventActivitiesOver } from '../src/client/triggers/event-spread.ts';
import { fireActivitiesOver } from '../src/client/triggers/fire.ts';
import { debounceActivitiesOver } from '../src/client/triggers/fire-debounced.ts';
import type { BulkActivities, BulkProgress } from '../src/contract/bulk.ts';
import type { DebounceActivities } from '../src/contract/debounce.ts';
import type { EventActivities, EventSpread } from '../src/contract/event.ts';
import type { FireActivities } from '../src/contract/fire.ts';
import type { GateActivities } from '../src/contract/limiter.ts';

export type ActorActivities = FireActivities & EventActivities & DebounceActivities & GateActivities & BulkActivities;

/**
 * The activities of actors, by the names that their workflows call. Their code is in src/client, since they read and
 * write other actors. Errors are transient, and Temporal retries them.
 */
export function actorActivities(over: WriteAccess): ActorActivities {
  return {
    ...fireActivitiesOver(over),
    ...eventActivitiesOver(over, {
      told: () => Context.current().info.heartbeatDetails as EventSpread | undefined,
      tell: (spread) => Context.current().heartbeat(spread),
    }),
    ...debounceActivitiesOver(over),
    ...limiterActivitiesOver(over),
    ...bulkActivitiesOver(over, {
      told: () => Context.current().info.heartbeatDetails as BulkProgress | undefined,
      tell: (progress) => Context.current().heartbeat(progress),
    }),
  };
}
