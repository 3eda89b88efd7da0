/**
 * The limits of a run (LANGUAGE.md §1): those of its definition, and those that the organization and the
 * host set for all runs of a user, an organization, or the host. Where two limits have one scope, the lower counts.
 *
 * A run that another run started has only the limits of its definition, because the first run holds the other slots.
 */

import type { AppliedLimit, Overflow } from '../../contract/limits/limiter.ts';
import { LIMIT_SCOPES, type LimitEntry, type LimitScope } from '../../contract/limits/limits.ts';
import type { RunTrigger } from '../../contract/run/run.ts';
import type { Definition } from '../../definition/document/types.ts';
import { definitionLimits, limiterId } from '../../engine/state/definition-limits.ts';
import type { Json } from '../../json/json.ts';
import { ClientError } from '../errors.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { perClient } from '../temporal/per-client.ts';
import { deleteEntry, listEntries, putEntry } from './organization-entries.ts';

const COLLECTION = 'limits';
/**
 * How long the limits are cached, so that runs without limits cost nothing. A change by another gateway shows after
 * this.
 */
const CACHE_TTL_MS = 5_000;
/** Limits of the host belong to no organization. */
const HOST = 'host';

interface EffectiveLimit {
  readonly limit: number;
  readonly overflow: Overflow;
}
type EffectiveLimits = { readonly [scope in LimitScope | 'global']?: EffectiveLimit };

type Entries = { readonly [scope in LimitScope]?: LimitEntry };

/** By organization. */
const cacheOf = perClient(() => new Map<string, { readonly at: number; readonly entries: Promise<Entries> }>());

/** The organization's own limits. */
export async function readLimits(access: Access, org: string): Promise<Entries> {
  return Object.fromEntries(await listEntries<LimitEntry>(access, org, COLLECTION)) as Entries;
}

/**
 * Sets a limit of the organization. It applies to runs that start from now on, and counts active ones.
 * @throws ClientError `too_large`, `too_many`.
 */
export async function putLimit(
  access: WriteAccess,
  org: string,
  scope: LimitScope,
  limit: EffectiveLimit,
): Promise<{ created: boolean; entry: LimitEntry }> {
  const entry: LimitEntry = { ...limit, updatedAt: new Date().toISOString() };
  const { created } = await putEntry(access, org, COLLECTION, scope, entry);
  cacheOf(access).delete(org);
  return { created, entry };
}

/** @throws ClientError `not_found`. */
export async function deleteLimit(access: WriteAccess, org: string, scope: LimitScope): Promise<void> {
  const missing = () => new ClientError('not_found', `The organization has no limit called ${scope} of its own.`);
  try {
    await deleteEntry(access, org, COLLECTION, scope, missing);
  } finally {
    cacheOf(access).delete(org);
  }
}

/** The limits that apply to the organization's runs now. */
export async function effectiveLimits(access: Access, org: string): Promise<EffectiveLimits> {
  const counted = Object.entries(await limitsWithBasis(access, org));
  return Object.fromEntries(counted.map(([scope, { limit, overflow }]) => [scope, { limit, overflow }]));
}

async function limitsWithBasis(access: Access, org: string): Promise<LimitsWithBasis> {
  const { limits: host } = access;
  const own = await cachedEntriesOf(access, org);
  const limits: { [scope in LimitScope | 'global']?: LimitWithBasis } = {};
  for (const scope of LIMIT_SCOPES) {
    const limit = lowerLimit(organizationLimit(own[scope]), hostLimit(host[scope], host.overflow));
    if (limit !== undefined) limits[scope] = limit;
  }
  const globalLimit = hostLimit(host.global, host.overflow);
  if (globalLimit !== undefined) limits.global = globalLimit;
  return limits;
}

/** A limit, with the name under which it was switched on (AppliedLimit). */
type LimitWithBasis = EffectiveLimit & { readonly basis: string };
type LimitsWithBasis = { readonly [scope in LimitScope | 'global']?: LimitWithBasis };

/** The facts about a run that determine its limits. */
interface LimitedRun {
  readonly definition: Definition;
  readonly input: Json;
  readonly initiator?: string;
  /** The author of the trigger that starts the run. */
  readonly owner?: string;
  readonly trigger: Pick<RunTrigger, 'type'>;
}

/** Triggers that a person or a program fires, unlike webhooks and schedules. */
const MANUAL_TRIGGER_TYPES: ReadonlySet<string> = new Set<RunTrigger['type']>(['manual', 'inline']);

/**
 * The user to whom a run counts: its initiator, or else the author of its trigger. Without API keys there are no
 * persons, and all runs count to one user. Undefined where neither is known.
 */
export const userOf = (run: {
  readonly initiator?: string;
  readonly owner?: string;
  readonly trigger: { readonly type: string };
}): string | undefined => run.initiator ?? run.owner ?? (MANUAL_TRIGGER_TYPES.has(run.trigger.type) ? '' : undefined);

/**
 * The limiters of a run that no other run starts, in the order in which the run asks them: the widest first. So a run
 * that waits at its definition's limit holds the wider slots. In the other order, a parent
 * that waits for a limited child could wait for a run that waits for the parent's slot.
 */
export async function limitersOf(access: Access, org: string, run: LimitedRun): Promise<AppliedLimit[]> {
  const { definition, input } = run;
  const { user, organization, global } = await limitsWithBasis(access, org);
  const own = definitionLimits({ organizationId: org, definition, input });
  const group = own[0]?.gate ?? definition.slug;
  const limiters: AppliedLimit[] = [];
  if (global !== undefined) limiters.push({ gate: limiterId(HOST, 'global'), scope: 'global', ...global, group: org });
  if (organization !== undefined)
    limiters.push({ gate: limiterId(org, 'organization'), scope: 'organization', ...organization, group });
  const person = userOf(run);
  if (user !== undefined && person !== undefined)
    limiters.push({ gate: userLimiterId(org, person), scope: 'user', ...user, group });
  return [...limiters, ...own];
}

/** The limiter of one user's runs. */
export const userLimiterId = (org: string, person: string): string => limiterId(org, 'user', person);

function cachedEntriesOf(access: Access, org: string): Promise<Entries> {
  const cache = cacheOf(access);
  const now = Date.now();
  const found = cache.get(org);
  if (found !== undefined && found.at + CACHE_TTL_MS > now) return found.entries;
  const entries = readLimits(access, org);
  cache.set(org, { at: now, entries });
  // A failed read is not cached.
  entries.catch(() => cache.delete(org));
  return entries;
}

const organizationLimit = (entry: LimitEntry | undefined): LimitWithBasis | undefined =>
  entry === undefined ? undefined : { limit: entry.limit, overflow: entry.overflow, basis: entry.updatedAt };

const hostLimit = (limit: number | undefined, overflow: Overflow): LimitWithBasis | undefined =>
  limit === undefined ? undefined : { limit, overflow, basis: `host ${limit}` };

function lowerLimit(a: LimitWithBasis | undefined, b: LimitWithBasis | undefined): LimitWithBasis | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.limit <= b.limit ? a : b;
}
