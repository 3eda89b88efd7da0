import { Context } from '@temporalio/activity';
import type { Access } from '../src/client/access.ts';
import { bulkActivitiesOver } from '../src/client/bulk.ts';
import { debounceActivitiesOver } from '../src/client/debounce.ts';
import { eventActivitiesOver } from '../src/client/event-spread.ts';
import { fireActivitiesOver } from '../src/client/fire.ts';
import { gateActivitiesOver } from '../src/client/gates.ts';
import type { BulkActivities, BulkProgress } from '../src/definition/bulk-contract.ts';
import type { DebounceActivities } from '../src/definition/debounce-contract.ts';
import type { EventActivities, EventSpread } from '../src/definition/event-contract.ts';
import type { FireActivities } from '../src/definition/fire-contract.ts';
import type { GateActivities } from '../src/definition/gate-contract.ts';

export type ActorActivities = FireActivities & EventActivities & DebounceActivities & GateActivities & BulkActivities;

/** What actors do outside, by the names under which they call it. Thrown errors may pass, and are retried. */
export function actorActivities(over: Access): ActorActivities {
  return {
    ...fireActivitiesOver(over),
    ...eventActivitiesOver(over, {
      told: () => Context.current().info.heartbeatDetails as EventSpread | undefined,
      tell: (spread) => Context.current().heartbeat(spread),
    }),
    ...debounceActivitiesOver(over),
    ...gateActivitiesOver(over),
    ...bulkActivitiesOver(over, {
      told: () => Context.current().info.heartbeatDetails as BulkProgress | undefined,
      tell: (progress) => Context.current().heartbeat(progress),
    }),
  };
}
