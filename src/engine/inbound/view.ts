/** The visible part of a run: status, waits, searchable state (ARCHITECTURE.md §4). */

import {
  type DecisionEffect,
  LISTEN_ANY_TAG,
  listenKeyTag,
  listenTag,
  type RunStatus,
  type WaitingFor,
} from '../../contract/run/run.ts';
import { MAX_ATTRIBUTE_VALUES } from '../../contract/search-attributes.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { Subscription, WaitingSpec } from '../../steps/kind.ts';
import type { Program } from '../../steps/program-types.ts';
import { childRunId } from '../state/child-run.ts';
import { MAX_LISTEN_TAGS, MAX_SHOWN_PEOPLE, MAX_SHOWN_WAITS } from '../state/limits.ts';
import type { Admission, OpenVisit, RunState } from '../state/state.ts';
import { type Wait, waitsOf } from '../state/waits.ts';
import { openVisits } from '../walk/address.ts';

/** Other names of an audience are resources. */
const PERSON = /^(user|role|group):/;

/** waiting: nothing runs and something is awaited, a sleep included. */
export function statusOf(state: RunState): RunStatus {
  if (state.ending !== undefined) return state.ending.status;
  if (state.draining?.decidedAt !== undefined) return 'completed';
  if (state.rollback !== undefined) return 'rolling_back';
  if (state.admission !== undefined) return 'pending';
  if (state.yielding || (state.work.length > 0 && !state.paused)) return 'running';
  return state.openActivities > 0 ? 'running' : 'waiting';
}

/** When the run was paused, ISO 8601; undefined where it is not paused. */
export function pausedSince({ paused, pausedSince: since, now }: RunState): string | undefined {
  return paused ? iso(since ?? now) : undefined;
}

/** Open waits, oldest first, at most twenty; paths, kinds, and until when. */
export function waitingFor(state: RunState): WaitingFor[] {
  if (state.ending !== undefined || state.draining !== undefined) return [];
  if (state.admission !== undefined) return slotWait(state.admission);
  const waits: WaitingFor[] = [];
  for (const one of allWaits(state)) {
    waits.push(shownWait(state, one));
    if (waits.length === MAX_SHOWN_WAITS) break;
  }
  return waits;
}

/** The wait at that path, also one that the list has no room for. */
export function waitAt(state: RunState, path: string): WaitingFor | undefined {
  if (state.ending !== undefined || state.draining !== undefined || state.admission !== undefined) return undefined;
  const found = allWaits(state).find(({ wait }) => wait.path === path);
  return found === undefined ? undefined : shownWait(state, found);
}

/** What became of a decision about the approval at that path, once the state has taken it. */
export function decisionEffectAt(state: RunState, path: string): DecisionEffect {
  const wait = waitAt(state, path);
  return wait?.kind !== 'approval' || wait.votes === undefined
    ? { recorded: 'decision' }
    : { recorded: 'vote', votes: wait.votes };
}

function shownWait(state: RunState, { visit, wait }: { readonly visit: OpenVisit; readonly wait: Wait }): WaitingFor {
  const { waiting } = wait;
  return {
    path: wait.path,
    stepSlug: visit.slug,
    kind: waiting.kind,
    since: iso(waiting.since),
    ...(waiting.until === undefined ? {} : { until: iso(waiting.until) }),
    ...omitUndefined({ message: waiting.message, name: waiting.name }),
    ...subscriptionView(waiting),
    ...omitUndefined({ form: waiting.form }),
    ...waiting.about,
    ...peopleOf(waiting),
    ...omitUndefined({ votes: waiting.votes }),
    ...(waiting.kind === 'child' ? childOf(state, visit) : {}),
  };
}

/** The number of waits; `waitingFor` lists the first ones. */
export function waitCount(state: RunState): number {
  if (state.ending !== undefined || state.draining !== undefined) return 0;
  return state.admission === undefined ? allWaits(state).length : slotWait(state.admission).length;
}

/** Who is asked, and who may not answer. */
function peopleOf({ audience = [], notBy = [] }: WaitingSpec): Pick<WaitingFor, 'audience' | 'notBy'> {
  const persons = audience.filter((name) => PERSON.test(name)).slice(0, MAX_SHOWN_PEOPLE);
  return { ...(persons.length === 0 ? {} : { audience: persons }), ...(notBy.length === 0 ? {} : { notBy }) };
}

/** The run's wait for a slot. Its path is empty. */
function slotWait({ limiters, granted, waiting }: Admission): WaitingFor[] {
  const next = limiters[granted];
  if (next === undefined || waiting === undefined) return [];
  return [{ path: '', stepSlug: '', kind: 'slot', since: iso(waiting.since), name: next.scope, gate: next.gate }];
}

/** The run that the visit waits for: its id is known before it has started. */
function childOf(state: RunState, visit: OpenVisit): { executionId?: string } {
  for (const id of visit.commands) {
    const command = state.openCommands[id];
    if (command?.type === 'child') return { executionId: childRunId(state.genesis, id, command.child.workflow) };
  }
  return {};
}

/** Every wait, with its visit, oldest visit first. */
function allWaits(state: RunState): { readonly visit: OpenVisit; readonly wait: Wait }[] {
  return openVisits(state).flatMap(({ visit }) => waitsOf(visit).map((wait) => ({ visit, wait })));
}

/** Names and key of a subscription with several names or a key. */
function subscriptionView({ hearing }: WaitingSpec): Pick<WaitingFor, 'names' | 'key'> {
  return {
    ...(hearing === undefined || hearing.names.length < 2 ? {} : { names: hearing.names }),
    ...(hearing?.key === undefined ? {} : { key: hearing.key }),
  };
}

/**
 * The search attribute SignalboxWaiting: kinds of waits, `user:ann`, `role:finance`, and subscriptions. The number of
 * values is limited: subscriptions come first, since events find the run by them.
 */
export function waitingTags(state: RunState): string[] {
  // The run has returned: its open visits receive nothing any more.
  if (state.draining !== undefined) return [];
  const names = new Set<string>();
  const subscriptions = subscriptionsOf(state);
  const isListed = subscriptions.size <= MAX_LISTEN_TAGS;
  for (const { wait } of allWaits(state)) {
    names.add(wait.waiting.kind);
    for (const tag of isListed ? tagsOf(wait.waiting.hearing) : []) names.add(tag);
    for (const name of wait.waiting.audience ?? []) names.add(name);
  }
  return isListed && names.size <= MAX_ATTRIBUTE_VALUES
    ? [...names]
    : [...new Set([...listenTags(subscriptions), ...names])];
}

/** The subscriptions of a run: each pair of name and key once. */
function subscriptionsOf(state: RunState): ReadonlyMap<string, Subscription> {
  const subscriptions = new Map<string, Subscription>();
  const { frames } = state;
  // Runs after every event, also in a run with thousands of frames.
  for (const id in frames) {
    const subscription = frames[id]!.visit?.waiting?.hearing;
    if (subscription === undefined) continue;
    const { names, key } = subscription;
    for (const name of names)
      subscriptions.set(JSON.stringify([name, key]), { names: [name], ...omitUndefined({ key }) });
  }
  return subscriptions;
}

/** The tags by which events find the run. Too many pairs drop their keys; too many names become one tag. */
function listenTags(subscriptions: ReadonlyMap<string, Subscription>): string[] {
  if (subscriptions.size <= MAX_LISTEN_TAGS) return [...subscriptions.values()].flatMap(tagsOf);
  const names = new Set([...subscriptions.values()].flatMap((subscription) => subscription.names));
  return names.size <= MAX_LISTEN_TAGS ? [...names].map(listenTag) : [LISTEN_ANY_TAG];
}

function tagsOf({ names, key }: Subscription = { names: [] }): string[] {
  return names.map((name) => (key === undefined ? listenTag(name) : listenKeyTag(name, key)));
}

/** The number of unread messages. */
export function unreadCount(state: RunState): number {
  return state.inbox.length;
}

/** The inbox as senders see it. */
export function inboxOf({ inbox, inboxBytes, droppedCount: dropped }: RunState): {
  unread: number;
  unreadBytes: number;
  dropped?: number;
} {
  return { unread: inbox.length, unreadBytes: inboxBytes, ...omitUndefined({ dropped }) };
}

/** `key=value` of the state that the definition declares searchable. */
export function searchable(program: Program, state: RunState): string[] {
  const pairs: string[] = [];
  for (const [key, field] of Object.entries(program.definition.state ?? {})) {
    if (field.searchable !== true || !Object.hasOwn(state.state, key)) continue;
    const value = state.state[key];
    if (value !== null && typeof value !== 'object') pairs.push(`${key}=${value}`);
  }
  return pairs;
}

/** A digest that changes when the visible part of the run changes: it begins to wait, continues, or ends. */
export function viewDigestOf(state: RunState): string {
  const { decided } = state;
  return decided === undefined ? statusDigest(state) : `${statusDigest(state)} decided ${decided.length}`;
}

function statusDigest(state: RunState): string {
  const status = statusOf(state);
  const { admission } = state;
  if (admission !== undefined) return `${status} ${admission.granted} ${admission.waiting?.since ?? ''}`;
  // Events must find a listening run even while other steps of it run.
  if (status === 'running') {
    const subscriptions = subscriptionsOf(state);
    return subscriptions.size === 0 ? status : `${status} ${listenTags(subscriptions).join(' ')}`;
  }
  if (status !== 'waiting') return status;
  const paths: string[] = [];
  // The first waits are listed; the others are summed into a number that changes with each of them.
  let others = 0;
  for (const { visit } of Object.values(state.frames)) {
    if (visit === undefined) continue;
    for (const { path, waiting } of waitsOf(visit)) {
      const { revision } = waiting;
      if (paths.length < MAX_SHOWN_WAITS) paths.push(revision === undefined ? path : `${path} *${revision}`);
      else others += visit.seq + 1;
    }
  }
  return `${status} ${paths.join(' ')}${others === 0 ? '' : ` ${others}`}`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
