/** The workflows of all actors that keep a state. Each is an actor in the shell. */
import type { ActivityOptions } from '@temporalio/workflow';
import { debounceActor } from '../actors/debounce.ts';
import { definitionActor } from '../actors/definition.ts';
import { hookActor } from '../actors/hook.ts';
import { inboxActor } from '../actors/inbox.ts';
import { lenderActor } from '../actors/lender.ts';
import { limiterActor } from '../actors/limiter.ts';
import { organizationActor } from '../actors/organization.ts';
import { recordingActor } from '../actors/recording.ts';
import { syncActor } from '../actors/sync.ts';
import { triggerActor } from '../actors/trigger.ts';
import { actorWorkflow } from './actor-workflow.ts';

const STARTS_RUNS: ActivityOptions = {
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', maximumInterval: '60s' },
};
const ASKS_TEMPORAL: ActivityOptions = {
  startToCloseTimeout: '30s',
  retry: { initialInterval: '500ms', maximumInterval: '30s' },
};

export const debounce = actorWorkflow(debounceActor, STARTS_RUNS);
export const definition = actorWorkflow(definitionActor);
/** The limiter: `gate` is its workflow type. */
export const gate = actorWorkflow(limiterActor, ASKS_TEMPORAL);
export const hook = actorWorkflow(hookActor);
/** Lends the slots of a large limit to its shards, which are limiters. */
export const lender = actorWorkflow(lenderActor, ASKS_TEMPORAL);
export const inbox = actorWorkflow(inboxActor);
export const organization = actorWorkflow(organizationActor);
export const recording = actorWorkflow(recordingActor);
export const sync = actorWorkflow(syncActor);
export const trigger = actorWorkflow(triggerActor);
