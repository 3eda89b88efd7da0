/**
 * The workflow `event`: delivers an event to the triggers and runs that listen to it. Visibility finds them, and it
 * lags. So a second round follows the first, for those that existed when the event was published and that Visibility
 * did not show yet. The workflow id comes from the event's id: a repeated event is refused, also after this workflow
 * has closed.
 */
import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  defineUpdate,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import {
  type EventActivities,
  type EventReceivers,
  type EventStart,
  FANOUT_UPDATE,
} from '../../src/contract/triggers/event.ts';

/** How far Visibility may lag. */
const VISIBILITY_LAG_MS = 3_000;

const { spreadEvent } = proxyActivities<EventActivities>({
  startToCloseTimeout: '5m',
  // It sends a heartbeat after each delivery: without one for this long its worker has died.
  heartbeatTimeout: '60s',
  retry: { initialInterval: '1s', maximumInterval: '60s' },
});

export async function event(start: EventStart): Promise<EventReceivers> {
  let first: EventReceivers | undefined;
  setHandler(defineUpdate<EventReceivers>(FANOUT_UPDATE), async () => {
    await condition(() => first !== undefined);
    if (first !== undefined) return first;
    throw ApplicationFailure.nonRetryable('The event was not delivered yet.', 'not_found');
  });
  const published = notBeforeStart(start);
  first = await spreadEvent(published);
  await sleep(VISIBILITY_LAG_MS);
  const spread = await spreadEvent({ ...published, before: first });
  await condition(allHandlersFinished);
  return spread;
}

/**
 * Not before this workflow started. Triggers carry the time of the server's clock, and the clock of the gateway that
 * published the event may be behind it.
 */
function notBeforeStart(start: EventStart): EventStart {
  const { startTime } = workflowInfo();
  const isBehind = Date.parse(start.event.at) < startTime.getTime();
  return isBehind ? { ...start, event: { ...start.event, at: startTime.toISOString() } } : start;
}
