/** Reads the definitions of an organization: the head under a slug, its definition, and lists of heads. */

import { DEFINITION_WORKFLOW, type DefinitionHead } from '../../contract/actors.ts';
import { withTriggerSecrets } from '../../definition/document/trigger-secrets.ts';
import type { Definition } from '../../definition/document/types.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { RefreshAhead } from '../concurrency/refresh-ahead.ts';
import { ClientError } from '../errors.ts';
import { searchAttributes } from '../search-attributes/keys.ts';
import { any, type Clause, compare } from '../search-attributes/query.ts';
import type { Access } from '../temporal/access.ts';
import { readMemo } from '../temporal/actor-calls.ts';
import { definitionId } from '../temporal/ids.ts';
import { actorQuery } from '../temporal/namespace-division.ts';
import { listFiltersOf, matchesListFilters } from '../visibility/exact-list-filter.ts';
import { listPage, type Page, type PageRequest, partitionRows, type UnreadableRow } from '../visibility/listing.ts';
import { readVersion } from './versions.ts';

/** The head under a slug. Undefined where the workflow does not exist. */
export async function readHead(access: Access, org: string, slug: string): Promise<DefinitionHead | undefined> {
  return readMemo<DefinitionHead>(access, definitionId(org, slug), 'head');
}

/** How long starts use a head that was read before. A change by another process shows after this. */
const CACHE_TTL_MS = 1_000;
const MAX_CACHED_HEADS = 10_000;

interface CachedHead {
  readonly at: number;
  readonly head: Promise<DefinitionHead | undefined>;
}

/** By namespace and actor, the oldest first. */
const headCache = new BoundedMap<string, CachedHead>(MAX_CACHED_HEADS);
const refresher = new RefreshAhead(CACHE_TTL_MS);

const cacheKeyOf = ({ namespace }: Pick<Access, 'namespace'>, actor: string): string => `${namespace} ${actor}`;

/**
 * The head for a start, as it was within the last second. Writes of this process show at once; whatever compares or
 * changes a definition reads its actor (readHead).
 */
export function recentHead(access: Access, org: string, slug: string): Promise<DefinitionHead | undefined> {
  const name = cacheKeyOf(access, definitionId(org, slug));
  const now = performance.now();
  refresher.recordUse(name, {
    age: () => ageOf(headCache.get(name)),
    readAgain: () => refreshHead(access, org, slug),
  });
  const known = headCache.get(name);
  if (known !== undefined && now - known.at < CACHE_TTL_MS) return known.head;
  const head = readHead(access, org, slug);
  const entry = { at: now, head };
  headCache.set(name, entry);
  const evict = () => {
    if (headCache.get(name) === entry) headCache.delete(name);
  };
  // Neither a failure nor an absence is kept.
  head.then((found) => found ?? evict(), evict);
  return head;
}

const ageOf = (entry: CachedHead | undefined): number | undefined =>
  entry === undefined ? undefined : performance.now() - entry.at;

/** For a later start. What was forgotten or read meanwhile is newer than what this reads. */
async function refreshHead(access: Access, org: string, slug: string): Promise<void> {
  const name = cacheKeyOf(access, definitionId(org, slug));
  const before = headCache.get(name);
  const at = performance.now();
  const head = await readHead(access, org, slug);
  if (before === undefined || headCache.get(name) !== before) return;
  if (head === undefined) headCache.delete(name);
  else headCache.set(name, { at, head: Promise.resolve(head) });
}

/** Whoever writes to the actor of a definition calls it when the write has ended, however it ended. */
export function forgetHead(access: Pick<Access, 'namespace'>, org: string, slug: string): void {
  headCache.delete(cacheKeyOf(access, definitionId(org, slug)));
}

/** Head and definition, the definition with the head's version, `enabled`, and the secrets of its triggers. */
export async function readDefinition(
  access: Access,
  org: string,
  slug: string,
): Promise<{ head: DefinitionHead; definition: Definition } | undefined> {
  return withDefinition(access, org, slug, await readHead(access, org, slug));
}

/** As readDefinition, for a start: the head is one of the last second. */
export async function recentDefinition(
  access: Access,
  org: string,
  slug: string,
): Promise<{ head: DefinitionHead; definition: Definition } | undefined> {
  return withDefinition(access, org, slug, await recentHead(access, org, slug));
}

async function withDefinition(
  access: Access,
  org: string,
  slug: string,
  head: DefinitionHead | undefined,
): Promise<{ head: DefinitionHead; definition: Definition } | undefined> {
  if (head === undefined) return undefined;
  const stored = await readVersion(access, org, slug, head.hash);
  if (stored === undefined) {
    throw new ClientError(
      'version_missing',
      `The definition ${head.hash} of workflow ${slug} is gone from Temporal. Write it again.`,
    );
  }
  const { version, enabled, triggerSecrets } = head;
  const current = triggerSecrets === undefined ? stored : withTriggerSecrets(stored, triggerSecrets);
  return { head, definition: { ...current, version, enabled } };
}

interface DefinitionFilter extends PageRequest {
  readonly enabled?: boolean;
  readonly tag?: string;
}

interface DefinitionPage extends Page<DefinitionHead> {
  /** Definitions of the page whose head cannot be read. */
  readonly unreadable: readonly UnreadableRow<{ readonly slug: string }>[];
}

export async function listDefinitions(access: Access, org: string, filter: DefinitionFilter): Promise<DefinitionPage> {
  const clauses: Clause[] = [compare('executionStatus', '=', 'Running')];
  if (filter.enabled === undefined)
    clauses.push(any(compare('status', '=', 'enabled'), compare('status', '=', 'disabled')));
  else clauses.push(compare('status', '=', filter.enabled ? 'enabled' : 'disabled'));
  if (filter.tag !== undefined) clauses.push(compare('tags', '=', filter.tag));
  const page = await listPage(access, await actorQuery(access, org, DEFINITION_WORKFLOW, clauses), filter);
  const wanted = listFiltersOf(filter);
  const rows = page.items.filter((row) => matchesListFilters(row, wanted));
  const { readable, unreadable } = partitionRows(rows, ({ attributes }) => ({
    slug: attributes.get(searchAttributes.workflow) ?? '',
  }));
  const items = readable.flatMap((row) => (row.memo['head'] ? [row.memo['head'] as DefinitionHead] : []));
  return { ...page, items, unreadable };
}
