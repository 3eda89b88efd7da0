/**
 * One round of an event: starts the runs of its triggers, and signals the runs that listen (LANGUAGE.md §10;
 * workflows/jobs/event.ts).
 */

import type { EventActivities, EventSpread, PublishedEvent } from '../../contract/event.ts';
import { LISTENS_TO_MANY, listenKeyTag, listenTag } from '../../contract/run.ts';
import { eventTag, type Trigger } from '../../contract/trigger.ts';
import { defined } from '../../json/defined.ts';
import { getOwn, type Json } from '../../json/json.ts';
import { evaluate, parseExpression } from '../../template/expression.ts';
import { truthy } from '../../template/operators.ts';
import { TemplateError } from '../../template/types.ts';
import { ClientError, onCode } from '../errors.ts';
import { sendEvent } from '../runs/run-actions.ts';
import { listeningRuns } from '../runs/run-list.ts';
import { partsOf } from '../starts/prepare-run.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { eachConcurrently } from '../temporal/each-concurrently.ts';
import { pagesOf } from '../visibility/pages.ts';
import { fireTrigger } from './firing.ts';
import { startRecorded } from './trigger-records.ts';
import { demandTriggers } from './triggers.ts';

const PAGE = 1_000;
const NOWHERE: EventSpread = { executions: [], told: [], triggers: [] };

/** `told` reads the heartbeat of the previous attempt, `tell` sends one. */
export const eventActivitiesOver = (
  access: WriteAccess,
  beat: { told(): EventSpread | undefined; tell(spread: EventSpread): void },
): EventActivities => ({
  /** Throws an error that may pass, after all other receivers were served. The round is then repeated for the rest. */
  spreadEvent: async ({ organizationId: org, event, before = NOWHERE }) => {
    let spread = beat.told() ?? before;
    const add = (more: Partial<EventSpread>): void => {
      const joined = (part: keyof EventSpread) => [...spread[part], ...(more[part] ?? [])];
      spread = { executions: joined('executions'), told: joined('told'), triggers: joined('triggers') };
      beat.tell(spread);
    };
    const [done, told] = [new Set(spread.triggers), new Set(spread.told)];
    const both = await Promise.allSettled([
      triggersOf(access, org, event).then((found) => {
        const left = found.filter(({ id }) => !done.has(id));
        return eachConcurrently(left, async (trigger) => {
          const started = await fire(access, org, trigger, event);
          add({ triggers: [trigger.id], executions: started === undefined ? [] : [started] });
        });
      }),
      listenersTo(access, org, event).then((found) => {
        const left = found.filter((id) => !told.has(id));
        return eachConcurrently(left, async (id) => {
          if (await tell(access, id, event)) add({ told: [id] });
        });
      }),
    ]);
    for (const one of both) if (one.status === 'rejected') throw one.reason;
    return spread;
  },
});

/** Triggers that existed when the event was published. */
async function triggersOf(access: Access, org: string, { name, at }: PublishedEvent): Promise<Trigger[]> {
  const found: Trigger[] = [];
  const filter = { type: 'event', enabled: true, tag: eventTag(name) } as const;
  for await (const listed of pagesOf(PAGE, (request) => demandTriggers(access, org, { ...filter, ...request }))) {
    // A long name's tag is shortened. The config has the whole name.
    for (const { trigger } of listed)
      if (getOwn(trigger.config, 'name') === name && trigger.createdAt <= at) found.push(trigger);
  }
  return found;
}

/** Runs that existed when the event was published, and listen to its name and key. Other runs get no signal. */
async function listenersTo(access: Access, org: string, { name, key, at }: PublishedEvent): Promise<string[]> {
  const tags = [listenTag(name), ...(key === undefined ? [] : [listenKeyTag(name, key)]), LISTENS_TO_MANY];
  return listeningRuns(access, org, tags, Date.parse(at));
}

/** Starts the run of the event, if the trigger's filter accepts it. */
async function fire(
  access: WriteAccess,
  org: string,
  trigger: Trigger,
  event: PublishedEvent,
): Promise<string | undefined> {
  const { name, data, id, at, key: eventKey, by } = event;
  const key = `${trigger.id} ${id}`;
  const params = { name, id, ...defined({ key: eventKey }) };
  const started = await startRecorded(access, org, trigger.id, async () => {
    if (!passes(trigger, event)) return undefined;
    return fireTrigger(access, org, {
      triggerId: trigger.id,
      read: () => trigger,
      parts: { ...partsOf(data, Date.parse(at)), params },
      type: 'event',
      metadata: params,
      key: { as: 'id', scope: 'event', key, fingerprint: key },
      debounces: true,
      ...defined({ initiator: by }),
    });
  });
  return started?.outcome === 'started' || started?.outcome === 'repeated' ? started.executionId : undefined;
}

/**
 * Evaluates the trigger's filter, which reads `event` and its members `name`, `key`, `data` and `id`. `key` is null for
 * an event without a key.
 */
function passes({ config }: Trigger, { name, data, id, at, ...event }: PublishedEvent): boolean {
  const filter = getOwn(config, 'filter');
  if (typeof filter !== 'string') return true;
  const key = event.key ?? null;
  const roots: { [name: string]: Json } = { event: { name, key, data, id }, name, key, data, id };
  try {
    const scope = { root: (root: string) => getOwn(roots, root) };
    return truthy(evaluate(parseExpression(filter), scope, { now: Date.parse(at) }));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new ClientError('invalid_filter', `The trigger's filter cannot be asked about this event: ${error.message}`);
  }
}

/**
 * Whether the run received the event. It drops an event that its listeners refuse, so the sender does not wait for a
 * slow run.
 */
async function tell(
  access: WriteAccess,
  executionId: string,
  { name, key, data, id }: PublishedEvent,
): Promise<boolean> {
  const event = key === undefined ? {} : { key };
  const sent = sendEvent(access, executionId, { name, payload: data, id: `event:${id}`, event });
  return sent.then(
    () => true,
    onCode(['closed', 'not_found'], () => false),
  );
}
