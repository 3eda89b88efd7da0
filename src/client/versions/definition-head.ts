/** Reads the definitions of an organization: the head under a slug, its definition, and lists of heads. */

import { DEFINITION_WORKFLOW, type DefinitionHead } from '../../contract/actors.ts';
import { withTriggerSecrets } from '../../definition/document/trigger-secrets.ts';
import type { Definition } from '../../definition/document/types.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { ClientError } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { readMemo } from '../temporal/actor-calls.ts';
import { actorQuery } from '../temporal/division.ts';
import { definitionId } from '../temporal/ids.ts';
import { any, type Clause, compare } from '../temporal/query.ts';
import { searchAttributes } from '../temporal/search-attributes.ts';
import { SteadyUse } from '../temporal/steady-use.ts';
import { holdsAll, listsWanted } from '../visibility/exact-lists.ts';
import { listPage, type Page, type PageRequest, partedRows, type Unread } from '../visibility/listing.ts';
import { readVersion } from './versions.ts';

/** The head under a slug. Undefined where the workflow does not exist. */
export async function readHead(access: Access, org: string, slug: string): Promise<DefinitionHead | undefined> {
  return readMemo<DefinitionHead>(access, definitionId(org, slug), 'head');
}

/** How long starts use a head that was read before. A change by another process shows after this. */
const KEPT_MS = 1_000;
const MOST_KEPT = 10_000;

interface KeptHead {
  readonly at: number;
  readonly head: Promise<DefinitionHead | undefined>;
}

/** By namespace and actor, the oldest first. */
const kept = new BoundedMap<string, KeptHead>(MOST_KEPT);
const steady = new SteadyUse(KEPT_MS);

const keptName = ({ namespace }: Pick<Access, 'namespace'>, actor: string): string => `${namespace} ${actor}`;

/**
 * The head for a start, as it was within the last second. Writes of this process show at once; whatever compares or
 * changes a definition reads its actor (readHead).
 */
export function recentHead(access: Access, org: string, slug: string): Promise<DefinitionHead | undefined> {
  const name = keptName(access, definitionId(org, slug));
  const now = performance.now();
  steady.note(name, {
    age: () => ageOf(kept.get(name)),
    readAgain: () => refreshHead(access, org, slug),
  });
  const known = kept.get(name);
  if (known !== undefined && now - known.at < KEPT_MS) return known.head;
  const head = readHead(access, org, slug);
  const entry = { at: now, head };
  kept.set(name, entry);
  const drop = () => {
    if (kept.get(name) === entry) kept.delete(name);
  };
  // Neither a failure nor an absence is kept.
  head.then((found) => found ?? drop(), drop);
  return head;
}

const ageOf = (entry: KeptHead | undefined): number | undefined =>
  entry === undefined ? undefined : performance.now() - entry.at;

/** For a later start. What was forgotten or read meanwhile is newer than what this reads. */
async function refreshHead(access: Access, org: string, slug: string): Promise<void> {
  const name = keptName(access, definitionId(org, slug));
  const before = kept.get(name);
  const at = performance.now();
  const head = await readHead(access, org, slug);
  if (before === undefined || kept.get(name) !== before) return;
  if (head === undefined) kept.delete(name);
  else kept.set(name, { at, head: Promise.resolve(head) });
}

/** Whoever writes to the actor of a definition calls it when the write has ended, however it ended. */
export function forgetHead(access: Pick<Access, 'namespace'>, org: string, slug: string): void {
  kept.delete(keptName(access, definitionId(org, slug)));
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

export interface DefinitionPage extends Page<DefinitionHead> {
  /** Definitions of the page whose head cannot be read. */
  readonly unreadable: readonly Unread<{ readonly slug: string }>[];
}

export async function listDefinitions(access: Access, org: string, filter: DefinitionFilter): Promise<DefinitionPage> {
  const clauses: Clause[] = [compare('executionStatus', '=', 'Running')];
  if (filter.enabled === undefined)
    clauses.push(any(compare('status', '=', 'enabled'), compare('status', '=', 'disabled')));
  else clauses.push(compare('status', '=', filter.enabled ? 'enabled' : 'disabled'));
  if (filter.tag !== undefined) clauses.push(compare('tags', '=', filter.tag));
  const page = await listPage(access, await actorQuery(access, org, DEFINITION_WORKFLOW, clauses), filter);
  const wanted = listsWanted(filter);
  const rows = page.items.filter((row) => holdsAll(row, wanted));
  const { readable, unreadable } = partedRows(rows, ({ attributes }) => ({
    slug: attributes.get(searchAttributes.workflow) ?? '',
  }));
  const items = readable.flatMap((row) => (row.memo['head'] ? [row.memo['head'] as DefinitionHead] : []));
  return { ...page, items, unreadable };
}
