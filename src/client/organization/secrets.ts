/**
 * An organization's secrets. The gateway or an activity seals them, and only ciphertext reaches Temporal (E7). The
 * hosts and workflows that may use a secret are sealed with it, so a change of these lists in Temporal makes the secret
 * unreadable.
 */

import type { SealedSecret } from '../../contract/actors.ts';
import { capacityProblemOf } from '../../contract/organization/organization.ts';
import type { RunDefinitionRef } from '../../contract/run/activity.ts';
import { MIN_SECRET_CHARACTERS } from '../../definition/document/limits.ts';
import { runInputOf } from '../../engine/state/start.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { asJson } from '../../json/json.ts';
import { ClientError } from '../errors.ts';
import { readArgument } from '../history/start-and-close-events.ts';
import { seal, unsealWithAny } from '../payloads/seal.ts';
import { type Access, keysFor, type WriteAccess } from '../temporal/access.ts';
import { isVersionOf } from '../versions/version-history.ts';
import { allEntries, deleteEntry, listEntries, putEntry, readEntry } from './organization-entries.ts';

const COLLECTION = 'secrets';
export const MAX_SECRET_BYTES = 64 * 1024;

/** A secret as lists show it, without its value. */
interface SecretSummary {
  readonly name: string;
  readonly allowedHosts?: readonly string[];
  readonly allowedWorkflows?: readonly string[];
  readonly updatedAt: string;
}

interface SecretValue {
  readonly value: string;
  readonly allowedHosts?: readonly string[];
  readonly allowedWorkflows?: readonly string[];
}

/**
 * A secret to store. An absent bound keeps its present value, so a new value cannot go where the old one could not.
 * Null removes the bound.
 */
interface SecretWrite {
  readonly value: string;
  readonly allowedHosts?: readonly string[] | null;
  readonly allowedWorkflows?: readonly string[] | null;
}

/** Where a secret is about to be used. */
export interface SecretUse {
  /** The host that receives the secret. Absent where no host receives it. */
  readonly host?: string;
  /** The slug of the workflow whose run uses the secret, or whose webhook is called. */
  readonly workflow: string;
  /** The definition that the run walks, where a run uses the secret. */
  readonly definition?: RunDefinitionRef;
  /** The run that uses the secret. */
  readonly executionId?: string;
}

/** The names of secrets that a definition brings which is not stored. Its run holds them, sealed. */
export const INLINE_SECRET_PREFIX = 'inline/';
/** Secrets of runs that a reader remembers, sealed. */
const MAX_CACHED_SECRETS = 1_000;

/**
 * `pointer`: the JSON pointer of the value in the request. @throws ClientError `secret_too_short`, `payload_too_large`.
 */
function demandSecretLength(name: string, value: string, pointer?: string): void {
  if (value.length < MIN_SECRET_CHARACTERS) {
    const code = 'secret_too_short';
    const message =
      `The secret ${name} has fewer than ${MIN_SECRET_CHARACTERS} characters: it could not be ` +
      'kept out of results. Take a longer one.';
    throw new ClientError(code, message, {
      ...(pointer === undefined ? {} : { details: { problems: [{ pointer, code, message }] } }),
    });
  }
  const bytes = Buffer.byteLength(value);
  if (bytes > MAX_SECRET_BYTES) {
    throw new ClientError('payload_too_large', `The secret has ${bytes} bytes; the limit is ${MAX_SECRET_BYTES}.`);
  }
}

/**
 * Stores a secret, and replaces one of that name.
 * @throws ClientError `secret_too_short`, `payload_too_large`, `too_large`, `too_many`.
 */
export async function putSecret(
  access: WriteAccess,
  org: string,
  name: string,
  { value, ...given }: SecretWrite,
): Promise<{ created: boolean; secret: SecretSummary }> {
  demandSecretLength(name, value, '/value');
  const before = await readEntry<SealedSecret>(access, org, COLLECTION, name);
  const entry = sealedEntry(access, org, name, value, boundsOf({ ...before, ...given }));
  const { created } = await putEntry(access, org, COLLECTION, name, entry);
  return { created, secret: summary(name, entry) };
}

function sealedEntry(access: WriteAccess, org: string, name: string, value: string, bounds: Bounds): SealedSecret {
  const sealed = seal(access.keys.secrets, secretSealContext(org, name, bounds), value);
  return { sealed, ...bounds, updatedAt: new Date().toISOString() };
}

/**
 * Seals secrets that were extracted from a definition which is not stored, for its run. `hash` is the definition's.
 * @throws ClientError `secret_too_short`, `payload_too_large`.
 */
export function sealExtractedSecrets(
  access: WriteAccess,
  org: string,
  hash: string,
  secrets: readonly { readonly name: string; readonly value: string }[],
): { readonly [name: string]: SealedSecret } {
  const sealed = secrets.map(({ name, value }) => {
    demandSecretLength(name, value);
    return [name, sealedEntry(access, org, name, value, { allowedWorkflows: [hash] })] as const;
  });
  return Object.fromEntries(sealed);
}

/**
 * Stores secrets that were extracted from a definition, for its workflow only. `owner` is the slug of the workflow.
 * Bounds that a person has changed since stay.
 */
export async function putExtractedSecrets(
  access: WriteAccess,
  org: string,
  owner: string,
  secrets: readonly { readonly name: string; readonly value: string }[],
): Promise<void> {
  for (const { name, value } of secrets) {
    const before = await readEntry<SealedSecret>(access, org, COLLECTION, name);
    await putSecret(access, org, name, { value, allowedWorkflows: before?.allowedWorkflows ?? [owner] });
  }
}

/**
 * Checks that putExtractedSecrets will find room, before a definition is written that needs the secrets.
 * @throws ClientError `secret_too_short`, `payload_too_large`, `too_many`, `too_large`.
 */
export async function demandRoomForSecrets(
  access: WriteAccess,
  org: string,
  extracted: readonly { readonly name: string; readonly value: string; readonly owner: string }[],
): Promise<void> {
  for (const { name, value } of extracted) demandSecretLength(name, value);
  if (extracted.length === 0) return;
  const entries = new Map(await allEntries(access, org));
  for (const { name, value, owner } of extracted) {
    const field = `${COLLECTION}/${name}`;
    const entry = asJson(sealedEntry(access, org, name, value, { allowedWorkflows: [owner] }));
    const problem = capacityProblemOf(entries, field, entry);
    if (problem !== undefined) throw new ClientError(problem.code, problem.message);
    entries.set(field, entry);
  }
}

/** @throws ClientError `not_found`. */
export function deleteSecret(access: WriteAccess, org: string, name: string): Promise<void> {
  const missing = () => new ClientError('not_found', `There is no secret called ${name}.`);
  return deleteEntry(access, org, COLLECTION, name, missing);
}

/** All secrets by name, without values. */
export async function listSecrets(access: Access, org: string): Promise<SecretSummary[]> {
  const entries = await listEntries<SealedSecret>(access, org, COLLECTION);
  return entries.map(([name, entry]) => summary(name, entry));
}

/**
 * The value of a secret for one use. The organization is always the run's own.
 * @throws ClientError `secret_not_found`, `secret_not_allowed` (bound to other hosts or workflows), `secret_unreadable`
 * (sealed under another master key).
 */
export async function readSecret(
  access: Access,
  org: string,
  name: string,
  use: SecretUse,
  sealedInRun: (name: string, executionId: string) => Promise<SealedSecret | undefined> = () =>
    Promise.resolve(undefined),
): Promise<string> {
  const { executionId } = use;
  const isOfRun = name.startsWith(INLINE_SECRET_PREFIX) && executionId !== undefined;
  // Runs that began before version 0.4 have theirs in the organization.
  const entry =
    (isOfRun ? await sealedInRun(name, executionId) : undefined) ??
    (await readEntry<SealedSecret>(access, org, COLLECTION, name));
  if (entry === undefined) {
    throw new ClientError(
      'secret_not_found',
      `There is no secret called ${name}. Store it with PUT /api/secrets/${encodeURIComponent(name)}.`,
    );
  }
  const bounds = boundsOf(entry);
  if (bounds.allowedWorkflows !== undefined) await demandWorkflow(access, org, name, use, bounds.allowedWorkflows);
  if (
    bounds.allowedHosts !== undefined &&
    (use.host === undefined || !bounds.allowedHosts.some((host) => hostMatches(host, use.host ?? '')))
  ) {
    throw new ClientError(
      'secret_not_allowed',
      `The secret ${name} may not be sent to ${use.host ?? 'this place'}. Add the host to its allowedHosts.`,
    );
  }
  const clear = unsealWithAny(keysFor(access, 'secrets'), secretSealContext(org, name, bounds), entry.sealed);
  if (clear === undefined) {
    throw new ClientError(
      'secret_unreadable',
      `The secret ${name} was stored under another master key. Name that one in SIGNALBOX_FORMER_MASTER_KEYS, or ` +
        'store the secret again.',
    );
  }
  return clear;
}

/**
 * Checks that the workflow may use the secret. A run counts to a workflow if it walks a version of its history: any
 * other definition could claim the name, and everybody who may run the workflow may propose one. A definition that is
 * not stored may use the secrets that were extracted from it, which are bound to its hash.
 * @throws ClientError `secret_not_allowed`
 */
async function demandWorkflow(
  access: Access,
  org: string,
  name: string,
  { workflow, definition }: SecretUse,
  allowed: readonly string[],
): Promise<void> {
  const hash = definition?.hash;
  if (hash !== undefined && allowed.includes(hash)) return;
  if (!allowed.includes(workflow))
    throw new ClientError(
      'secret_not_allowed',
      `The secret ${name} is not allowed in workflow ${workflow}. Add it to its allowedWorkflows.`,
    );
  if (definition === undefined) return;
  const isApproved =
    definition.inline !== true && hash !== undefined && (await isVersionOf(access, org, workflow, hash));
  if (isApproved) return;
  throw new ClientError(
    'secret_not_allowed',
    `The secret ${name} is allowed in workflow ${workflow}, and this run walks no version of its history. ` +
      'Store the definition, and start it from there.',
  );
}

/** Reads secrets for activities. */
export interface SecretReader {
  read(organizationId: string, name: string, use: SecretUse): Promise<string>;
}

export function secretReader(access: Access): SecretReader {
  const cache = new BoundedMap<string, SealedSecret>(MAX_CACHED_SECRETS);
  const sealedInRun = async (name: string, executionId: string): Promise<SealedSecret | undefined> => {
    const cacheKey = JSON.stringify([executionId, name]);
    const known = cache.get(cacheKey);
    if (known !== undefined) return known;
    const argument = runInputOf(await readArgument<unknown>(access, executionId));
    const { sealedSecrets = {} } = argument ?? {};
    const found = Object.hasOwn(sealedSecrets, name) ? sealedSecrets[name] : undefined;
    if (found === undefined) return undefined;
    cache.set(cacheKey, found);
    return found;
  };
  return { read: (org, name, use) => readSecret(access, org, name, use, sealedInRun) };
}

type Bounds = Pick<SecretValue, 'allowedHosts' | 'allowedWorkflows'>;

const boundsOf = ({ allowedHosts, allowedWorkflows }: Omit<SecretWrite, 'value'>): Bounds => ({
  ...(allowedHosts == null ? {} : { allowedHosts }),
  ...(allowedWorkflows == null ? {} : { allowedWorkflows }),
});

const summary = (name: string, entry: SealedSecret): SecretSummary => ({
  name,
  ...boundsOf(entry),
  updatedAt: entry.updatedAt,
});

/** The place that a secret is sealed for: its name, and where it may be used. */
export const secretSealContext = (org: string, name: string, bounds: Bounds): string =>
  JSON.stringify([org, name, bounds.allowedHosts ?? null, bounds.allowedWorkflows ?? null]);

/**
 * `api.example.com` matches itself. `*.example.com` matches every name below it. With a port, only that port matches.
 */
export function hostMatches(allowed: string, host: string): boolean {
  const [wanted, given] = [allowed.toLowerCase(), host.toLowerCase()];
  const withoutPort = given.replace(/:\d+$/, '');
  if (wanted.startsWith('*.')) return given.endsWith(wanted.slice(1)) || withoutPort.endsWith(wanted.slice(1));
  return wanted === given || wanted === withoutPort;
}

/** The names, each once, under which the organization stores no secret. */
export async function missingSecrets(access: Access, org: string, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const stored = new Set((await listSecrets(access, org)).map(({ name }) => name));
  return [...new Set(names)].filter((name) => !stored.has(name));
}
