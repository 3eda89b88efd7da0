/** The workflows of all actors that keep a state. Each is an actor in the shell. */
import type { ActivityOptions } from '@temporalio/workflow';
import { debounceActor } from '../actors/debounce.ts';
import { definitionActor } from '../actors/definition.ts';
import { hookActor } from '../actors/hook.ts';
import { inboxActor } from '../actors/inbox.ts';
import { limiterActor } from '../actors/limiter.ts';
import { limiterPoolActor } from '../actors/limiter-pool.ts';
import { organizationActor } from '../actors/organization.ts';
import { recordingActor } from '../actors/recording.ts';
import { syncActor } from '../actors/sync.ts';
import { triggerActor } from '../actors/trigger.ts';
import { actorWorkflow } from './actor-workflow.ts';

const START_RUN_OPTIONS: ActivityOptions = {
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', maximumInterval: '60s' },
};
const TEMPORAL_CALL_OPTIONS: ActivityOptions = {
  startToCloseTimeout: '30s',
  retry: { initialInterval: '500ms', maximumInterval: '30s' },
};

export const debounce = actorWorkflow(debounceActor, START_RUN_OPTIONS);
export const definition = actorWorkflow(definitionActor);
/** The limiter: `gate` is its workflow type. */
export const gate = actorWorkflow(limiterActor, TEMPORAL_CALL_OPTIONS);
export const hook = actorWorkflow(hookActor);
/** The limiter pool lends the slots of a large limit to its shards, which are limiters. Its workflow type: `lender`. */
export const lender = actorWorkflow(limiterPoolActor, TEMPORAL_CALL_OPTIONS);
export const inbox = actorWorkflow(inboxActor);
export const organization = actorWorkflow(organizationActor);
export const recording = actorWorkflow(recordingActor);
export const sync = actorWorkflow(syncActor);
export const trigger = actorWorkflow(triggerActor);
