/** Debounce (document 004; LANGUAGE.md §1): payloads of one key within a time start one run, with the last of them. */

import {
  DEBOUNCE_WORKFLOW,
  type DebounceActivities,
  type DebounceStart,
  type FireDebounced,
  type HeldPayload,
  HOLD_SIGNAL,
} from '../../contract/debounce.ts';
import type { RunOrigin } from '../../contract/run.ts';
import { payloadKey } from '../../definition/document/payload-key.ts';
import type { Definition } from '../../definition/document/types.ts';
import { defined } from '../../json/defined.ts';
import type { Json } from '../../json/json.ts';
import { parseDuration } from '../../template/duration.ts';
import { TemplateError } from '../../template/types.ts';
import { hasCode } from '../errors.ts';
import { acceptedInput } from '../runs/accepted-input.ts';
import type { StartedRun } from '../runs/run-start.ts';
import type { Access } from '../temporal/access.ts';
import { actorAttributes } from '../temporal/division.ts';
import { debounceId } from '../temporal/ids.ts';
import { writeAlong } from '../temporal/rpc.ts';
import { resolveWorkflow } from '../versions/resolve-workflow.ts';
import { type Prepared, type Start, startPrepared } from './firing.ts';
import { finalRefusalOf, firingOf, tellFiring } from './trigger-records.ts';

/** A payload that was put off: more may come. */
export interface Debounced {
  readonly debounced: true;
  /** It was held before: it came again. */
  readonly again?: true;
  /** ISO 8601: when the run begins at the latest if nothing more comes. */
  readonly until: string;
}

/**
 * Starts the run, or puts it off where the definition debounces and the payload has the key. What is put off twice with one
 * `id` is put off once, and makes one run.
 * @throws ClientError as startRun.
 */
export async function startOrHold(
  access: Access,
  org: string,
  prepared: Prepared,
  start: Start,
  id?: string,
): Promise<StartedRun | Debounced> {
  const { definition, input, state } = prepared;
  const key = debounceKey(definition, input);
  const origin: RunOrigin = { ...start.origin, ...(key ? { debounceKey: key } : {}) };
  const { seconds = 0 } = definition.config?.debounce ?? {};
  if (key === undefined || seconds === 0) return startPrepared(access, org, prepared, { ...start, origin });
  const forMs = seconds * 1000;
  const due = Date.now() + forMs;
  const mostMs = parseDuration(definition.config?.debounce?.maxWait)?.ms;
  const { trigger, initiator } = start;
  // As document 004 has it: a run that was put off has the key of what has held it.
  const heldOrigin = key === '' ? origin : { ...origin, debounceKey: `${trigger.id ?? definition.slug}:${key}` };
  const held: HeldPayload = {
    workflow: definition.slug,
    input,
    state,
    trigger,
    origin: heldOrigin,
    ...defined({ initiator, owner: start.owner }),
    due,
    forMs,
    ...defined({ mostMs, id }),
  };
  const begun: DebounceStart = { organizationId: org, historyLimit: access.historyLimit };
  const apart = await actorAttributes(access);
  await writeAlong(access, () =>
    access.client.workflow.signalWithStart<(start: DebounceStart) => Promise<void>, [HeldPayload]>(DEBOUNCE_WORKFLOW, {
      workflowId: debounceId(org, trigger.id ?? definition.slug, key),
      taskQueue: access.taskQueue,
      args: [begun],
      signal: HOLD_SIGNAL,
      signalArgs: [held],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      ...apart,
      staticSummary: `Debounces ${definition.name}`.slice(0, 190),
    }),
  );
  return { debounced: true, until: new Date(due).toISOString() };
}

/** Whether payloads may be put off: those that have the key are. */
export const isDebounced = (definition: Definition): boolean => (definition.config?.debounce?.seconds ?? 0) > 0;

/** Empty where the definition names no key: then all payloads are of one. Undefined where nothing is debounced. */
function debounceKey(definition: Definition, input: Json): string | undefined {
  const { debounce } = definition.config ?? {};
  if (debounce === undefined) return undefined;
  if (debounce.key === undefined) return '';
  try {
    return payloadKey(debounce.key, input);
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}

export const debounceActivitiesOver = (access: Access): DebounceActivities => ({
  fireDebounced: (request) => fireDebounced(access, request),
});

/** By the definition as it is now. */
async function fireDebounced(
  access: Access,
  { organizationId: org, held, key: ownKey }: FireDebounced,
): Promise<{ executionId: string | null }> {
  const { workflow, state, trigger, origin, initiator, owner, id: key = ownKey } = held;
  const triggerId = trigger.id;
  try {
    const { definition, hash } = await resolveWorkflow(access, org, { workflow });
    const prepared = { definition, hash, input: acceptedInput(definition, held.input), state };
    const started = await startPrepared(access, org, prepared, {
      trigger,
      origin,
      ...defined({ initiator, owner }),
      key: { scope: 'debounce', key, fingerprint: key },
    });
    if (triggerId !== undefined) await tellFiring(access, org, triggerId, firingOf(started));
    return { executionId: started.executionId };
  } catch (error) {
    const refused = finalRefusalOf(error);
    // Whoever sent the payload was told that it is taken, and of a limit nothing: it is tried again until there is room.
    if (refused === undefined || hasCode(error, 'limit_reached')) throw error;
    if (triggerId !== undefined) await tellFiring(access, org, triggerId, refused);
    return { executionId: null };
  }
}
