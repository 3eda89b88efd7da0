/**
 * The workflow `event`: brings an event to the triggers and runs that want it. They are found through Visibility, which lags;
 * so after the first round comes a second one, for those that were there when the event was published and could not be
 * seen yet. Its id is the event's: an id that is used again is refused, also when this has long closed.
 */
import {
  allHandlersFinished,
  condition,
  defineUpdate,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { type EventActivities, type EventSpread, type EventStart, SPREAD_UPDATE } from '../../src/contract/event.ts';
import { refuse } from './actor.ts';

/** How far Visibility may lag behind. */
const LAG_MS = 3_000;

const { spreadEvent } = proxyActivities<EventActivities>({
  startToCloseTimeout: '5m',
  // It says whom it has come to, one by one: a worker that died is noticed by its silence.
  heartbeatTimeout: '60s',
  retry: { initialInterval: '1s', maximumInterval: '60s' },
});

export async function event(start: EventStart): Promise<EventSpread> {
  let first: EventSpread | undefined;
  setHandler(defineUpdate<EventSpread>(SPREAD_UPDATE), async () => {
    await condition(() => first !== undefined);
    return first ?? refuse('not_found', 'The event has not come anywhere yet.');
  });
  const published = byServersClock(start);
  first = await spreadEvent(published);
  await sleep(LAG_MS);
  const spread = await spreadEvent({ ...published, before: first });
  await condition(allHandlersFinished);
  return spread;
}

/** A trigger says by the server's clock since when it is there; that of the gateway which published the event may be behind. */
function byServersClock(start: EventStart): EventStart {
  const { startTime } = workflowInfo();
  const isBehind = Date.parse(start.event.at) < startTime.getTime();
  return isBehind ? { ...start, event: { ...start.event, at: startTime.toISOString() } } : start;
}
