/** Debounce (LANGUAGE.md §1): payloads of one key within a time start one run, with the last of them. */

import type { RunOrigin } from '../../contract/run/run.ts';
import {
  DEBOUNCE_WORKFLOW,
  type DebounceStart,
  type HeldPayload,
  HOLD_SIGNAL,
} from '../../contract/triggers/debounce.ts';
import { payloadKey } from '../../definition/document/payload-key.ts';
import type { Definition } from '../../definition/document/types.ts';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { parseDuration } from '../../template/duration.ts';
import { TemplateError } from '../../template/types.ts';
import type { WriteAccess } from '../temporal/access.ts';
import { debounceId } from '../temporal/ids.ts';
import { actorAttributes } from '../temporal/namespace-division.ts';
import { writeUnqueued } from '../temporal/rpc.ts';
import { type RunStart, type StartedRun, startPreparedRun } from './start-prepared-run.ts';

/** The payload waits: the run starts when no further payload of its key arrives in time. */
export interface Debounced {
  readonly outcome: 'debounced';
  /** ISO 8601: when the run starts if no further payload arrives. */
  readonly until: string;
  /** The same request brought the payload before. */
  readonly isRepeated?: true;
}

/**
 * Starts the run, or holds its payload where the definition debounces and the payload has the debounce key. A payload
 * that is sent twice with one `id` is held once.
 * @throws ClientError as startPreparedRun.
 */
export async function debounceOrBegin(
  access: WriteAccess,
  org: string,
  run: RunStart,
  id?: string,
): Promise<StartedRun | Debounced> {
  const { definition, input, state = {}, trigger, initiator, owner } = run;
  const key = debounceKey(definition, input);
  const origin: RunOrigin = { ...run.origin, ...(key ? { debounceKey: key } : {}) };
  const { seconds = 0 } = definition.config?.debounce ?? {};
  if (key === undefined || seconds === 0) return startPreparedRun(access, org, { ...run, origin });
  const delayMs = seconds * 1000;
  const due = Date.now() + delayMs;
  const maxWaitMs = parseDuration(definition.config?.debounce?.maxWait)?.ms;
  // The run of a held payload shows the key of the actor that held it.
  const heldOrigin = key === '' ? origin : { ...origin, debounceKey: `${trigger.id ?? definition.slug}:${key}` };
  const held: HeldPayload = {
    workflow: definition.slug,
    input,
    state,
    trigger,
    origin: heldOrigin,
    ...omitUndefined({ initiator, owner }),
    due,
    forMs: delayMs,
    ...omitUndefined({ mostMs: maxWaitMs, id }),
  };
  const begun: DebounceStart = { organizationId: org, historyLimit: access.historyLimit };
  const attributes = await actorAttributes(access);
  await writeUnqueued(access, 'starts', () =>
    access.client.workflow.signalWithStart<(start: DebounceStart) => Promise<void>, [HeldPayload]>(DEBOUNCE_WORKFLOW, {
      workflowId: debounceId(org, trigger.id ?? definition.slug, key),
      taskQueue: access.taskQueue,
      args: [begun],
      signal: HOLD_SIGNAL,
      signalArgs: [held],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      ...attributes,
      staticSummary: `Debounces ${definition.name}`.slice(0, 190),
    }),
  );
  return { outcome: 'debounced', until: new Date(due).toISOString() };
}

/** Whether payloads with the debounce key are held. */
export const isDebounced = (definition: Definition): boolean => (definition.config?.debounce?.seconds ?? 0) > 0;

/**
 * The key of a payload. It is empty where the definition names no key, so that all payloads share it, and undefined
 * where nothing is debounced.
 */
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
