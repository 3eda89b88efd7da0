/**
 * Callback URLs (LANGUAGE.md §3, Callbacks). A token names one visit of a wait_callback step. A MAC under the master
 * key proves that this host made the token. States and traces do not contain it, because the activity that sends it
 * makes it.
 */

import { type CallbackMethod, callbackMethods, callbackName } from '../../contract/run/callbacks.ts';
import { RUN_WORKFLOW } from '../../contract/run/run.ts';
import { shortHash } from '../../contract/workflow-ids.ts';
import type { PayloadFormat, StepDefinition } from '../../definition/document/types.ts';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { ClientError, rethrowAs } from '../errors.ts';
import { signedToken, verifiedTokenParts } from '../payloads/keys.ts';
import { sendMessage } from '../runs/run-actions.ts';
import { organizationOf, readStart } from '../runs/run-read.ts';
import { type Access, keysFor, type WriteAccess } from '../temporal/access.ts';
import { describe } from '../temporal/actor-calls.ts';
import { read } from '../temporal/rpc.ts';
import { isOpen } from '../temporal/run-status.ts';

interface CallbackVisit {
  readonly executionId: string;
  /** The path of the visit. */
  readonly path: string;
  /** The slug of the wait_callback step. A long path does not end with it. */
  readonly slug: string;
}

/** The token of [executionId, path, slug]. */
export const callbackToken = (key: Uint8Array, { executionId, path, slug }: CallbackVisit): string =>
  signedToken(key, [executionId, path, slug]);

/** The visit that the token names; undefined for a token that this host did not make. */
export function readCallbackToken(key: Uint8Array, token: string): CallbackVisit | undefined {
  const parts = verifiedTokenParts(key, token);
  if (parts === undefined) return undefined;
  const [executionId = '', path = '', slug = ''] = parts;
  return { executionId, path, slug };
}

/** What the callback for an open run must look like. */
export interface ExpectedCallback {
  readonly place: CallbackVisit;
  readonly organizationId: string;
  readonly title: string;
  readonly methods: readonly CallbackMethod[];
  /** Absent: any body. `unknown`: the step makes the format when it begins, and it has not begun. */
  readonly schema?: PayloadFormat | 'unknown';
}

/**
 * The callback that the token's visit expects.
 * @throws ClientError `not_found` (an invalid token), `gone` (the run has ended).
 */
export async function expectCallback(access: Access, token: string): Promise<ExpectedCallback> {
  const [place] = keysFor(access, 'callbacks').flatMap((key) => readCallbackToken(key, token) ?? []);
  const description = place === undefined ? undefined : await describe(access, place.executionId);
  if (place === undefined || description?.type !== RUN_WORKFLOW) throw callbackNotFound();
  if (!isOpen(description.status.name))
    throw new ClientError('gone', 'The execution that waited for this callback has ended. Nothing is left to be told.');
  const definition = (await readStart(access, description))?.definition;
  const step =
    definition === undefined || !Object.hasOwn(definition.steps, place.slug) ? undefined : definition.steps[place.slug];
  if (definition === undefined || step === undefined) throw callbackNotFound();
  const schema = await schemaOf(access, place, step);
  return {
    place,
    organizationId: organizationOf(description),
    title: step.name ?? definition.name,
    methods: callbackMethods(step.config) ?? [],
    ...omitUndefined({ schema }),
  };
}

/**
 * Sends the body to the run. A visit takes one callback, so all valid bodies have one message id, and later bodies for
 * the visit change nothing.
 * @throws ClientError `gone`, `inbox_overflow`.
 */
export async function deliverCallback(access: WriteAccess, expected: ExpectedCallback, payload: Json): Promise<void> {
  const { place, organizationId, schema } = expected;
  const name = callbackName(place.path);
  const id = schema === 'unknown' ? `${name}:${shortHash(JSON.stringify(payload))}` : name;
  const ended = (cause: ClientError) =>
    new ClientError('gone', 'The execution that waited for this callback has just ended.', { cause });
  const sent = sendMessage(access, organizationId, place.executionId, { name, payload, id });
  await sent.catch(rethrowAs('closed', ended));
}

/** Reads a format without templates from the definition, and one with templates from the open visit. */
async function schemaOf(
  access: Access,
  place: CallbackVisit,
  step: StepDefinition,
): Promise<ExpectedCallback['schema']> {
  const written = step.config?.['schema'];
  if (written === undefined || written === null) return undefined;
  if (!JSON.stringify(written).includes('{{')) return written as PayloadFormat;
  const handle = access.client.workflow.getHandle(place.executionId);
  const { frames } = await read(access, () => handle.query<OpenVisits>('state'));
  const visit = Object.values(frames).find((frame) => frame.visit?.path === place.path)?.visit;
  return visit === undefined ? 'unknown' : (visit.state.schema ?? undefined);
}

/** The part of a run's state that is read here (src/engine/state/state.ts). */
interface OpenVisits {
  readonly frames: {
    readonly [id: string]: {
      readonly visit?: { readonly path: string; readonly state: { readonly schema?: PayloadFormat | null } };
    };
  };
}

const callbackNotFound = (): ClientError => new ClientError('not_found', 'There is nothing at this address.');
