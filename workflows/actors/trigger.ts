/**
 * The actor `trigger.{org}.{id}`: a trigger's configuration, whether it is enabled, and the results of its firings
 * (ARCHITECTURE.md §4). It fires nothing: webhooks come to the gateway, times to Temporal's schedules, events to the
 * workflow `event`. It outlives the deletion of the trigger by ten minutes, so that a late write of the definition does
 * not bring the trigger back.
 */
import {
  type ChangeTrigger,
  type ClaimTrigger,
  type CreateTrigger,
  FIRED_SIGNAL,
  type Firing,
  MAX_BACKFILL_NOTES,
  MAX_RECENT_FIRINGS,
  NEVER_FIRED,
  type NoteBackfill,
  type PutTrigger,
  type ReleaseTrigger,
  type RemoveTrigger,
  TRIGGER_RETENTION_MS,
  type Trigger,
  type TriggerClaimed,
  type TriggerRecord,
  type TriggerSource,
  type TriggerSpec,
  type TriggerStart,
  type TriggerState,
} from '../../src/contract/triggers/trigger.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import {
  type Actor,
  type AnsweredChange,
  type Effect,
  type Operation,
  type Refusal,
  refuse,
  type SignalOperation,
} from './actor.ts';
import { triggerAttributes } from './search-attributes.ts';

interface State extends Required<Omit<TriggerState, 'answers'>> {
  readonly start: Pick<TriggerStart, 'organizationId' | 'workflow' | 'id'>;
  /**
   * From when on nothing has to be remembered but the deletion. Undefined: there is a trigger, or nothing was written.
   */
  readonly absentSince: number | undefined;
}

const claim: Operation<State, ClaimTrigger, TriggerClaimed> = (state, { claim }, now) => {
  if (isOfApi(state.trigger)) return apiTriggerRefusal(state);
  const claims = [...state.claims.filter(({ until }) => until > now), { claim, until: now + TRIGGER_RETENTION_MS }];
  const absentSince = state.trigger === null ? (state.absentSince ?? now) : undefined;
  return { state: { ...state, claims, absentSince }, answer: { claimed: true } };
};

const release: Operation<State, ReleaseTrigger, TriggerClaimed> = (state, { claim }) => ({
  state: { ...state, claims: state.claims.filter((one) => one.claim !== claim) },
  answer: { claimed: false },
});

const put: Operation<State, PutTrigger, Trigger | null> = (state, { revision, spec, by }, now) => {
  const { trigger } = state;
  if (isOfApi(trigger)) return apiTriggerRefusal(state);
  if (revision <= state.droppedAt) return { state, answer: null };
  const source = trigger?.source;
  if (source?.of === 'definition' && source.revision > revision) return { state, answer: trigger };
  // A switch through the API holds until the definition says something else than before.
  const isKept = source?.of === 'definition' && source.enabled === spec.enabled;
  const enabled = isKept && trigger !== null ? trigger.enabled : spec.enabled;
  const written: TriggerSource = { of: 'definition', revision, enabled: spec.enabled };
  return writeTrigger({ ...state, claims: [] }, { ...spec, enabled }, written, now, by);
};

const create: Operation<State, CreateTrigger, Trigger | null> = (state, { spec, by }, now) => {
  const { id, workflow } = state.start;
  if (state.trigger !== null) return refuse('trigger_exists', `There is a trigger ${id} already. Take another name.`);
  if (isClaimed(state, now))
    return refuse(
      'trigger_exists',
      `The definition of ${workflow} is just being written with a trigger of that name. Take another.`,
    );
  return writeTrigger(state, spec, { of: 'api' }, now, by);
};

const change: Operation<State, ChangeTrigger, Trigger | null> = (state, { change, by }, now) => {
  if (state.trigger === null) return notFound(state);
  const { name, type, enabled, config, variableMapping, targetState, source } = state.trigger;
  const { enabled: _enabled, ...rest } = change;
  if (source.of === 'definition' && Object.keys(rest).length > 0) return definitionTriggerRefusal(state, 'change');
  const before = { name, type, enabled, config, variableMapping, targetState };
  const spec = Object.fromEntries(
    Object.entries({ ...before, ...change }).filter(([, value]) => value !== undefined && value !== null),
  ) as unknown as TriggerSpec;
  return writeTrigger(state, spec, source, now, by);
};

const remove: Operation<State, RemoveTrigger, Trigger | null> = (state, { definition, until }, now) => {
  const { trigger } = state;
  if (definition === undefined) {
    if (trigger === null) return notFound(state);
    if (trigger.source.of === 'definition') return definitionTriggerRefusal(state, 'take');
    return deleteTrigger(state, now);
  }
  if (trigger?.source.of === 'definition' && trigger.source.revision > definition) return { state, answer: null };
  if (trigger?.source.of === 'api' && until !== undefined && trigger.createdAt > until) return { state, answer: null };
  return deleteTrigger({ ...state, droppedAt: Math.max(state.droppedAt, definition) }, now);
};

const backfilled: Operation<State, NoteBackfill, { noted: boolean }> = (state, { note }) => {
  if (state.trigger === null) return notFound(state);
  const backfills = [...state.backfills, note].slice(-MAX_BACKFILL_NOTES);
  return {
    state: { ...state, backfills },
    answer: { noted: true },
    effects: [{ type: 'memo', fields: { backfills } }],
  };
};

const fired: SignalOperation<State> = (state, payload) => {
  const firing = payload as Firing | undefined;
  if (state.trigger === null || typeof firing?.outcome !== 'string') return { state };
  const record = countFiring(state.fired, firing);
  return {
    state: { ...state, fired: record, recent: [firing, ...state.recent].slice(0, MAX_RECENT_FIRINGS) },
    effects: [{ type: 'memo', fields: { fired: record } }],
  };
};

/** The trigger as it is now written. It keeps its maker and the time when it was made. */
function writeTrigger(
  before: State,
  spec: TriggerSpec,
  source: TriggerSource,
  now: number,
  by: string | undefined,
): AnsweredChange<State, Trigger> {
  const { id, workflow } = before.start;
  const at = new Date(now).toISOString();
  const trigger: Trigger = {
    ...spec,
    id,
    workflow,
    source,
    revision: before.revision + 1,
    createdAt: before.trigger?.createdAt ?? at,
    updatedAt: at,
    ...omitUndefined({ by, owner: before.trigger?.owner ?? by }),
  };
  const state = { ...before, trigger, revision: trigger.revision, absentSince: undefined };
  return { state, answer: trigger, effects: visibilityEffects(state) };
}

/** Answers the trigger as it was. */
function deleteTrigger(before: State, now: number): AnsweredChange<State, Trigger | null> {
  if (before.trigger === null) return { state: before, answer: null };
  const state = {
    ...before,
    trigger: null,
    revision: before.revision + 1,
    fired: NEVER_FIRED,
    recent: [],
    absentSince: now,
  };
  return { state, answer: before.trigger, effects: visibilityEffects(state) };
}

function visibilityEffects({ start, trigger, fired }: State): Effect[] {
  const { organizationId, workflow, id } = start;
  return [
    { type: 'memo', fields: { trigger, fired } },
    { type: 'searchAttributes', values: triggerAttributes(organizationId, workflow, id, trigger) },
  ];
}

function countFiring(before: TriggerRecord, { count = 1, ...firing }: Firing): TriggerRecord {
  const { outcome, at, executionId } = firing;
  return {
    ...before,
    [outcome]: (before[outcome] ?? 0) + count,
    ...(outcome === 'started' && executionId !== undefined ? { lastRunAt: at, lastExecutionId: executionId } : {}),
    last: firing,
  };
}

const isClaimed = ({ claims }: State, now: number): boolean => claims.some(({ until }) => until > now);

const isOfApi = (trigger: Trigger | null): boolean => trigger?.source.of === 'api';

const notFound = ({ start }: State): Refusal => refuse('not_found', `There is no trigger ${start.id}.`);

const apiTriggerRefusal = ({ start }: State): Refusal =>
  refuse(
    'trigger_exists',
    `The trigger ${start.id} was made through the API. Delete it first, or give the definition's another name.`,
  );

const definitionTriggerRefusal = ({ start }: State, what: 'change' | 'take'): Refusal =>
  refuse(
    'trigger_of_definition',
    `The trigger ${start.id} is written in the definition of ${start.workflow}: ${what} it there.`,
  );

export const triggerActor: Actor<TriggerStart, State> = {
  begin: ({ organizationId, workflow, id, carried }, { now }) => ({
    start: { organizationId, workflow, id },
    trigger: carried?.trigger ?? null,
    revision: carried?.revision ?? 0,
    droppedAt: carried?.droppedAt ?? -1,
    claims: carried?.claims ?? [],
    fired: carried?.fired ?? NEVER_FIRED,
    recent: carried?.recent ?? [],
    backfills: carried?.backfills ?? [],
    absentSince: carried !== undefined && carried.trigger === null ? now : undefined,
  }),
  carry: ({ start: _start, absentSince: _absentSince, ...carried }) => carried,
  updates: { claim, release, put, create, change, remove, backfilled },
  signals: { [FIRED_SIGNAL]: fired },
  next: (state, now) => {
    if (state.absentSince === undefined) return 'wait';
    const at = state.absentSince + TRIGGER_RETENTION_MS;
    if (now < at) return { at };
    return isClaimed(state, now) ? { at: Math.max(...state.claims.map(({ until }) => until)) } : 'end';
  },
};
