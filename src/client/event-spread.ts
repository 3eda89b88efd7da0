/** One round of an event: the triggers that take it, and the runs that listen (language.md §10; workflows/event.ts). */
import type { EventActivities, EventRound, EventSpread, PublishedEvent } from '../definition/event-contract.ts';
import { own } from '../definition/json.ts';
import { listenTag } from '../definition/run.ts';
import { eventTag, type Trigger } from '../definition/trigger-contract.ts';
import { evaluate, parseExpression, truthy } from '../template/expression.ts';
import { type Json, TemplateError } from '../template/types.ts';
import type { Access } from './access.ts';
import { startOrHold } from './debounce.ts';
import { ClientError, hasCode } from './errors.ts';
import { prepareTrigger } from './firing.ts';
import { inTurns } from './in-turns.ts';
import { sendMessage } from './run-actions.ts';
import { listRows } from './run-list.ts';
import { firingOf, refusalOf, tellFiring } from './trigger-records.ts';
import { listTriggers } from './triggers.ts';

const PAGE = 1_000;
const OPEN = ['pending', 'running', 'waiting', 'rolling_back'] as const;

export const eventActivitiesOver = (access: Access): EventActivities => ({
  spreadEvent: (round) => spreadEvent(access, round),
});

/** Throws what may pass; then the round is repeated, and starts and tells nobody twice. */
async function spreadEvent(access: Access, { organizationId: org, event, before }: EventRound): Promise<EventSpread> {
  const done = new Set(before?.triggers ?? []);
  const fresh = (await triggersOf(access, org, event)).filter(({ id }) => !done.has(id));
  const started = await inTurns(fresh, (trigger) => fire(access, org, trigger, event));
  const told = new Set(before?.told ?? []);
  const listeners = (await listenersTo(access, org, event)).filter((id) => !told.has(id));
  const heard = await inTurns(listeners, (id) => tell(access, org, id, event));
  return {
    executions: [...(before?.executions ?? []), ...started.filter((id) => id !== undefined)],
    told: [...told, ...heard.filter((id) => id !== undefined)],
    triggers: [...done, ...fresh.map(({ id }) => id)],
  };
}

/** Those that were there when the event was published. */
async function triggersOf(access: Access, org: string, { name, at }: PublishedEvent): Promise<Trigger[]> {
  const found: Trigger[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await listTriggers(access, org, {
      type: 'event',
      enabled: true,
      tag: eventTag(name),
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    // A long name's tag is cut; the config has all of it.
    for (const { trigger } of page.items)
      if (own(trigger.config, 'name') === name && trigger.createdAt <= at) found.push(trigger);
    cursor = page.nextCursor;
    if (cursor === undefined) return found;
  }
}

/** Runs that were there when the event was published, and listen for messages of its name. */
async function listenersTo(access: Access, org: string, { name, at }: PublishedEvent): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await listRows(access, org, {
      status: OPEN,
      waiting: [listenTag(name)],
      started: { lte: Date.parse(at) },
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    found.push(...page.items.map(({ workflowId }) => workflowId));
    cursor = page.nextCursor;
    if (cursor === undefined) return found;
  }
}

/** The run that the event starts, if the trigger's filter lets it. */
async function fire(access: Access, org: string, trigger: Trigger, event: PublishedEvent): Promise<string | undefined> {
  const { name, data, id, at } = event;
  const key = `${trigger.id} ${id}`;
  try {
    if (!passes(trigger, event)) return undefined;
    const parts = { body: data, query: {}, headers: {}, params: { name, id }, now: Date.parse(at) };
    const started = await startOrHold(access, org, await prepareTrigger(access, org, trigger, parts), {
      trigger: { type: 'event', id: trigger.id, metadata: { name, id } },
      key: { scope: 'event', key, fingerprint: key },
    });
    await tellFiring(access, org, trigger.id, firingOf(started));
    return 'debounced' in started ? undefined : started.executionId;
  } catch (error) {
    const refused = refusalOf(error);
    if (refused === undefined) throw error;
    await tellFiring(access, org, trigger.id, refused);
    return undefined;
  }
}

/** The filter reads `event`, and its members `name`, `data` and `id` by themselves. */
function passes({ config }: Trigger, { name, data, id, at }: PublishedEvent): boolean {
  const filter = own(config, 'filter');
  if (typeof filter !== 'string') return true;
  const roots: { [name: string]: Json } = { event: { name, data, id }, name, data, id };
  try {
    const scope = { root: (root: string) => own(roots, root) };
    return truthy(evaluate(parseExpression(filter), scope, { now: Date.parse(at) }));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new ClientError('invalid_filter', `The trigger's filter cannot be asked about this event: ${error.message}`);
  }
}

/** The run, if it took the message. */
async function tell(
  access: Access,
  org: string,
  executionId: string,
  { name, data, id }: PublishedEvent,
): Promise<string | undefined> {
  try {
    await sendMessage(access, org, executionId, { name, payload: data, id: `event:${id}` });
    return executionId;
  } catch (error) {
    if (hasCode(error, 'closed', 'not_found', 'too_many_unread')) return undefined;
    throw error;
  }
}
