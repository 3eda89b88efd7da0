/**
 * The actor `trigger.{org}.{id}`: what a trigger is, whether it is enabled, and what came of its firings (ARCHITECTURE.md §4). It
 * fires nothing: webhooks come to the gateway, times to Temporal's schedules, events to the workflow `event`. What was
 * deleted is remembered for ten minutes, so that a write of the definition that comes late does not bring it back.
 */

import {
  allHandlersFinished,
  condition,
  defineSignal,
  setHandler,
  upsertMemo,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import {
  type BackfillNote,
  type ChangeTrigger,
  type ClaimTrigger,
  type CreateTrigger,
  FIRED_SIGNAL,
  type Firing,
  MOST_BACKFILL_NOTES,
  NEVER_FIRED,
  type NoteBackfill,
  type PutTrigger,
  type ReleaseTrigger,
  type RemoveTrigger,
  TRIGGER_REST_MS,
  type Trigger,
  type TriggerClaimed,
  type TriggerClaims,
  type TriggerRecord,
  type TriggerSource,
  type TriggerSpec,
  type TriggerStart,
  type TriggerState,
} from '../../src/contract/trigger.ts';
import { defined } from '../../src/json/defined.ts';
import { becomeNew, isFull, refuse, stored, writes } from './actor.ts';
import { triggerAttributes } from './actor-attributes.ts';

export function trigger(start: TriggerStart): Promise<void> {
  return stored(() => keepTrigger(start));
}

async function keepTrigger(start: TriggerStart): Promise<void> {
  let current: Trigger | null = start.carried?.trigger ?? null;
  let revision = start.carried?.revision ?? 0;
  let droppedAt = start.carried?.droppedAt ?? -1;
  let fired: TriggerRecord = start.carried?.fired ?? NEVER_FIRED;
  let backfills: readonly BackfillNote[] = start.carried?.backfills ?? [];
  let claims: TriggerClaims = start.carried?.claims ?? [];
  /** Something was written, so that there is a trigger, or none any more. */
  let begun = start.carried !== undefined;
  const taken = writes(start.carried?.answers ?? []);

  const become = (spec: TriggerSpec | null, source: TriggerSource, by?: string): Trigger | null => {
    const before = current;
    begun = true;
    revision += 1;
    const at = new Date().toISOString();
    const owner = before?.owner ?? by;
    current =
      spec === null
        ? null
        : {
            ...spec,
            id: start.id,
            workflow: start.workflow,
            source,
            revision,
            createdAt: before?.createdAt ?? at,
            updatedAt: at,
            ...defined({ by, owner }),
          };
    if (current === null) fired = NEVER_FIRED;
    upsertMemo({ trigger: current, fired });
    upsertSearchAttributes(triggerAttributes(start.organizationId, start.workflow, start.id, current));
    return current;
  };
  const existing = (): Trigger => current ?? refuse('not_found', `There is no trigger ${start.id}.`);
  const refuseOfDefinition = (what: string) =>
    refuse(
      'trigger_of_definition',
      `The trigger ${start.id} is written in the definition of ${start.workflow}: ${what} it there.`,
    );

  const isClaimed = () => claims.some(({ until }) => until > Date.now());
  const demandNoneOfApi = () => {
    if (current?.source.of === 'api')
      refuse(
        'trigger_exists',
        `The trigger ${start.id} was made through the API. Delete it first, or give the definition's another name.`,
      );
  };

  taken.on<ClaimTrigger, TriggerClaimed>('claim', demandNoneOfApi, ({ claim }) => {
    const now = Date.now();
    begun = true;
    claims = [...claims.filter(({ until }) => until > now), { claim, until: now + TRIGGER_REST_MS }];
    return { claimed: true };
  });

  taken.on<ReleaseTrigger, TriggerClaimed>(
    'release',
    () => undefined,
    ({ claim }) => {
      claims = claims.filter((one) => one.claim !== claim);
      return { claimed: false };
    },
  );

  taken.on<PutTrigger, Trigger | null>('put', demandNoneOfApi, ({ revision: written, spec, by }) => {
    if (written <= droppedAt) return null;
    const { source } = current ?? {};
    if (source?.of === 'definition' && source.revision > written) return current;
    // Who has switched it through the API is asked again only when the definition says something else than before.
    const isKept = source?.of === 'definition' && source.enabled === spec.enabled;
    const enabled = isKept && current !== null ? current.enabled : spec.enabled;
    claims = [];
    return become({ ...spec, enabled }, { of: 'definition', revision: written, enabled: spec.enabled }, by);
  });

  taken.on<CreateTrigger, Trigger>(
    'create',
    () => {
      if (current !== null) refuse('trigger_exists', `There is a trigger ${start.id} already. Take another name.`);
      if (isClaimed())
        refuse(
          'trigger_exists',
          `The definition of ${start.workflow} is just being written with a trigger of that name. Take another.`,
        );
    },
    ({ spec, by }) => become(spec, { of: 'api' }, by) ?? existing(),
  );

  taken.on<ChangeTrigger, Trigger>(
    'change',
    ({ change }) => {
      const { source } = existing();
      const { enabled: _enabled, ...rest } = change;
      if (source.of === 'definition' && Object.keys(rest).length > 0) refuseOfDefinition('change');
    },
    ({ change, by }) => {
      const { name, type, enabled, config, variableMapping, targetState, source } = existing();
      const before = { name, type, enabled, config, variableMapping, targetState };
      const spec = Object.fromEntries(
        Object.entries({ ...before, ...change }).filter(([, value]) => value !== undefined && value !== null),
      ) as unknown as TriggerSpec;
      return become(spec, source, by) ?? existing();
    },
  );

  taken.on<RemoveTrigger, Trigger | null>(
    'remove',
    ({ definition }) => {
      if (definition === undefined && existing().source.of === 'definition') refuseOfDefinition('take');
    },
    ({ definition, until }) => {
      const removed = current;
      if (definition !== undefined) {
        if (removed?.source.of === 'definition' && removed.source.revision > definition) return null;
        if (removed?.source.of === 'api' && until !== undefined && removed.createdAt > until) return null;
        droppedAt = Math.max(droppedAt, definition);
      }
      if (removed !== null) become(null, removed.source);
      return removed;
    },
  );

  taken.on<NoteBackfill, { noted: boolean }>(
    'backfilled',
    () => void existing(),
    ({ note }) => {
      backfills = [...backfills, note].slice(-MOST_BACKFILL_NOTES);
      upsertMemo({ backfills });
      return { noted: true };
    },
  );

  setHandler(defineSignal<[Firing]>(FIRED_SIGNAL), (firing) => {
    if (current === null || typeof firing?.outcome !== 'string') return;
    fired = recorded(fired, firing);
    upsertMemo({ fired });
  });

  for (;;) {
    const isGone = () => current === null && begun;
    const moved = await (isGone()
      ? condition(() => !isGone() || isFull(start.historyLimit), TRIGGER_REST_MS)
      : condition(() => isGone() || isFull(start.historyLimit)).then(() => true));
    if ((!moved && !isClaimed()) || isFull(start.historyLimit)) break;
  }
  await condition(allHandlersFinished);
  if (current === null && !isFull(start.historyLimit)) return;
  const carried: TriggerState = {
    trigger: current,
    revision,
    droppedAt,
    claims,
    fired,
    backfills,
    answers: taken.answers(),
  };
  await becomeNew<typeof trigger>({ ...start, carried });
}

function recorded(before: TriggerRecord, { count = 1, ...firing }: Firing): TriggerRecord {
  const { outcome, at, executionId } = firing;
  return {
    ...before,
    [outcome]: (before[outcome] ?? 0) + count,
    ...(outcome === 'started' && executionId !== undefined ? { lastRunAt: at, lastExecutionId: executionId } : {}),
    last: firing,
  };
}
