/** Debounce (LANGUAGE.md §1): payloads of one key within a time start one run, with the last of them. */

import { DEBOUNCE_WORKFLOW, type DebounceStart, type HeldPayload, HOLD_SIGNAL } from '../../contract/debounce.ts';
import type { RunOrigin } from '../../contract/run.ts';
import { payloadKey } from '../../definition/document/payload-key.ts';
import type { Definition } from '../../definition/document/types.ts';
import { defined } from '../../json/defined.ts';
import type { Json } from '../../json/json.ts';
import { parseDuration } from '../../template/duration.ts';
import { TemplateError } from '../../template/types.ts';
import type { WriteAccess } from '../temporal/access.ts';
import { actorAttributes } from '../temporal/division.ts';
import { debounceId } from '../temporal/ids.ts';
import { writeAlong } from '../temporal/rpc.ts';
import { beginRun, type RunStart, type StartedRun } from './begin-run.ts';

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
 * @throws ClientError as beginRun.
 */
export async function holdOrBegin(
  access: WriteAccess,
  org: string,
  run: RunStart,
  id?: string,
): Promise<StartedRun | Debounced> {
  const { definition, input, state = {}, trigger, initiator, owner } = run;
  const key = debounceKey(definition, input);
  const origin: RunOrigin = { ...run.origin, ...(key ? { debounceKey: key } : {}) };
  const { seconds = 0 } = definition.config?.debounce ?? {};
  if (key === undefined || seconds === 0) return beginRun(access, org, { ...run, origin });
  const forMs = seconds * 1000;
  const due = Date.now() + forMs;
  const mostMs = parseDuration(definition.config?.debounce?.maxWait)?.ms;
  // The run of a held payload shows the key of the actor that held it.
  const heldOrigin = key === '' ? origin : { ...origin, debounceKey: `${trigger.id ?? definition.slug}:${key}` };
  const held: HeldPayload = {
    workflow: definition.slug,
    input,
    state,
    trigger,
    origin: heldOrigin,
    ...defined({ initiator, owner }),
    due,
    forMs,
    ...defined({ mostMs, id }),
  };
  const begun: DebounceStart = { organizationId: org, historyLimit: access.historyLimit };
  const apart = await actorAttributes(access);
  await writeAlong(access, 'starts', () =>
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
