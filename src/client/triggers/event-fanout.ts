/**
 * One round of an event: starts the runs of its triggers, and signals the runs that listen (LANGUAGE.md §10;
 * workflows/jobs/event.ts).
 */

import { LISTEN_ANY_TAG, listenKeyTag, listenTag } from '../../contract/run/run.ts';
import type { EventActivities, EventReceivers, PublishedEvent } from '../../contract/triggers/event.ts';
import { eventTag, type Trigger } from '../../contract/triggers/trigger.ts';
import { getOwn, type Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { evaluate, parseExpression } from '../../template/expression.ts';
import { truthy } from '../../template/operators.ts';
import { TemplateError } from '../../template/types.ts';
import { eachConcurrently } from '../concurrency/each-concurrently.ts';
import { ClientError, onCode } from '../errors.ts';
import { sendEvent } from '../runs/run-actions.ts';
import { listListeningRunIds } from '../runs/run-list.ts';
import { bodyParts } from '../starts/prepare-run.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { pagesOf } from '../visibility/pages.ts';
import { fireTrigger } from './firing.ts';
import { startAndRecord } from './trigger-records.ts';
import { listTriggersStrictly } from './triggers.ts';

const PAGE_SIZE = 1_000;
const NO_RECEIVERS: EventReceivers = { executions: [], told: [], triggers: [] };

/** The activities of the workflow. `heartbeat.last` reads the heartbeat of the previous attempt. */
export const eventActivities = (
  access: WriteAccess,
  heartbeat: { last(): EventReceivers | undefined; send(receivers: EventReceivers): void },
): EventActivities => ({
  /** Throws an error that may pass, after all other receivers were served. The round is then repeated for the rest. */
  spreadEvent: async ({ organizationId: org, event, before = NO_RECEIVERS }) => {
    let receivers = heartbeat.last() ?? before;
    const add = (more: Partial<EventReceivers>): void => {
      const joined = (part: keyof EventReceivers) => [...receivers[part], ...(more[part] ?? [])];
      receivers = { executions: joined('executions'), told: joined('told'), triggers: joined('triggers') };
      heartbeat.send(receivers);
    };
    const [done, notified] = [new Set(receivers.triggers), new Set(receivers.told)];
    const outcomes = await Promise.allSettled([
      triggersOf(access, org, event).then((found) => {
        const pending = found.filter(({ id }) => !done.has(id));
        return eachConcurrently(pending, async (trigger) => {
          const started = await fireForEvent(access, org, trigger, event);
          add({ triggers: [trigger.id], executions: started === undefined ? [] : [started] });
        });
      }),
      listenersTo(access, org, event).then((found) => {
        const pending = found.filter((id) => !notified.has(id));
        return eachConcurrently(pending, async (id) => {
          if (await sendToListener(access, id, event)) add({ told: [id] });
        });
      }),
    ]);
    for (const one of outcomes) if (one.status === 'rejected') throw one.reason;
    return receivers;
  },
});

/** Triggers that existed when the event was published. */
async function triggersOf(access: Access, org: string, { name, at }: PublishedEvent): Promise<Trigger[]> {
  const found: Trigger[] = [];
  const filter = { type: 'event', enabled: true, tag: eventTag(name) } as const;
  for await (const listed of pagesOf(PAGE_SIZE, (request) =>
    listTriggersStrictly(access, org, { ...filter, ...request }),
  )) {
    // A long name's tag is shortened. The config has the whole name.
    for (const { trigger } of listed)
      if (getOwn(trigger.config, 'name') === name && trigger.createdAt <= at) found.push(trigger);
  }
  return found;
}

/** Runs that existed when the event was published, and listen to its name and key. Other runs get no signal. */
async function listenersTo(access: Access, org: string, { name, key, at }: PublishedEvent): Promise<string[]> {
  const tags = [listenTag(name), ...(key === undefined ? [] : [listenKeyTag(name, key)]), LISTEN_ANY_TAG];
  return listListeningRunIds(access, org, tags, Date.parse(at));
}

/** Starts the run of the event, if the trigger's filter accepts it. */
async function fireForEvent(
  access: WriteAccess,
  org: string,
  trigger: Trigger,
  event: PublishedEvent,
): Promise<string | undefined> {
  const { name, data, id, at, key: eventKey, by } = event;
  const key = `${trigger.id} ${id}`;
  const params = { name, id, ...omitUndefined({ key: eventKey }) };
  const started = await startAndRecord(access, org, trigger.id, async () => {
    if (!matchesFilter(trigger, event)) return undefined;
    return fireTrigger(access, org, {
      triggerId: trigger.id,
      read: () => trigger,
      parts: { ...bodyParts(data, Date.parse(at)), params },
      type: 'event',
      metadata: params,
      key: { as: 'id', scope: 'event', key, fingerprint: key },
      debounces: true,
      ...omitUndefined({ initiator: by }),
    });
  });
  return started?.outcome === 'started' || started?.outcome === 'repeated' ? started.executionId : undefined;
}

/**
 * Evaluates the trigger's filter, which reads `event` and its members `name`, `key`, `data` and `id`. `key` is null for
 * an event without a key.
 */
function matchesFilter({ config }: Trigger, { name, data, id, at, ...event }: PublishedEvent): boolean {
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
async function sendToListener(
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
