/**
 * Definitions that mirror another place, such as a repository: a single one, or a whole set. Definitions
 * that left the set are deleted.
 */

import { etagOfHead } from '../../contract/actors.ts';
import {
  type ChangeSynced,
  DEFAULT_SET,
  SYNC_WORKFLOW,
  type SyncedAnswer,
  type SyncStart,
} from '../../contract/definitions/sync.ts';
import { idPart, shortHash } from '../../contract/workflow-ids.ts';
import { triggerSecretsOf } from '../../definition/document/trigger-secrets.ts';
import type { Definition } from '../../definition/document/types.ts';
import { canonicalText } from '../../json/canonical-text.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { mapInBatches } from '../concurrency/each-concurrently.ts';
import { onCode } from '../errors.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { updateWithStart } from '../temporal/actor-calls.ts';
import { read } from '../temporal/rpc.ts';
import { hooksOf } from '../triggers/hook-config.ts';
import { demandFreePaths } from '../triggers/hooks.ts';
import { demandValidSchedules, triggersToValidate } from '../triggers/schedule-validation.ts';
import { readHead } from '../versions/definition-head.ts';
import { textReferenceOf, type WrittenText } from '../versions/texts.ts';
import { putDefinition, removeDefinition, retryOnConflict } from './definitions.ts';

export interface SyncedDefinition {
  readonly definition: Definition;
  readonly hash: string;
  readonly text?: WrittenText;
  /** As in DefinitionWrite. It also runs where the definition does not change. */
  readonly afterWrite?: () => Promise<void>;
}

export interface SyncOptions {
  /** The set. Default: the set of all syncs without a name. */
  readonly source?: string;
  /** Writes nothing. */
  readonly dryRun?: boolean;
  readonly by?: string;
  readonly notes?: string;
}

type SyncAction = 'created' | 'updated' | 'unchanged';

interface SyncReport {
  readonly created: readonly string[];
  readonly updated: readonly string[];
  readonly unchanged: readonly string[];
  readonly deleted: readonly string[];
}

/** The number of concurrent writes. */
const WRITE_CONCURRENCY = 5;

/** Writes one definition. @throws ClientError as putDefinition. */
export async function syncDefinition(
  access: WriteAccess,
  org: string,
  synced: SyncedDefinition,
  options: SyncOptions = {},
): Promise<SyncAction> {
  await demandValidSchedules(access, org, triggersToValidate(synced.definition.triggers ?? []));
  if (options.dryRun !== true) await changeSet(access, org, options, { add: [synced.definition.slug], remove: [] });
  return writeIfChanged(access, org, synced, options);
}

/**
 * Makes the stored set equal to the given one: writes what differs, then deletes definitions that this set has written
 * and no longer contains. Repeating it after any interruption completes it. Definitions of other sets and of other
 * writers stay.
 * @throws ClientError as putDefinition, or `too_many`.
 */
export async function syncSet(
  access: WriteAccess,
  org: string,
  synced: readonly SyncedDefinition[],
  options: SyncOptions = {},
): Promise<SyncReport> {
  const slugs = synced.map(({ definition }) => definition.slug);
  await demandValidSchedules(
    access,
    org,
    synced.flatMap(({ definition: { triggers = [] } }, index) => triggersToValidate(triggers, `/workflows/${index}`)),
  );
  await demandFreePaths(
    access,
    org,
    synced.map(({ definition }) => ({ workflow: definition.slug, places: hooksOf(definition) })),
  );
  const isDry = options.dryRun === true;
  const known = isDry
    ? await readSet(access, org, options)
    : await changeSet(access, org, options, { add: slugs, remove: [] });
  const actions: SyncAction[] = await mapInBatches(synced, WRITE_CONCURRENCY, (one) =>
    writeIfChanged(access, org, one, options),
  );
  const wantedSlugs = new Set(slugs);
  const staleSlugs = known.filter((slug) => !wantedSlugs.has(slug));
  const deleted = (
    await mapInBatches(staleSlugs, WRITE_CONCURRENCY, (slug) => removeIfOwned(access, org, slug, options))
  ).flat();
  if (!isDry && staleSlugs.length > 0) await changeSet(access, org, options, { add: [], remove: staleSlugs });
  const slugsWith = (action: SyncAction): string[] => slugs.filter((_, index) => actions[index] === action);
  return { created: slugsWith('created'), updated: slugsWith('updated'), unchanged: slugsWith('unchanged'), deleted };
}

const writeIfChanged = (
  access: WriteAccess,
  org: string,
  synced: SyncedDefinition,
  options: SyncOptions,
): Promise<SyncAction> => retryOnConflict(() => writeOnce(access, org, synced, options));

async function writeOnce(
  access: WriteAccess,
  org: string,
  { definition, hash, text, afterWrite }: SyncedDefinition,
  options: SyncOptions,
): Promise<SyncAction> {
  const head = await readHead(access, org, definition.slug);
  // A document without `enabled` keeps the present setting.
  const enabled = definition.enabled ?? head?.enabled ?? true;
  const isSame =
    head !== undefined &&
    head.hash === hash &&
    (text === undefined || textReferenceOf(text).hash === head.text?.hash) &&
    canonicalText(triggerSecretsOf(definition)) === canonicalText(head.triggerSecrets ?? {}) &&
    head.origin === originOf(options) &&
    (definition.version === undefined || definition.version === head.version) &&
    head.enabled === enabled;
  if (isSame) {
    if (options.dryRun !== true) await afterWrite?.();
    return 'unchanged';
  }
  if (options.dryRun === true) return head ? 'updated' : 'created';
  const { created } = await putDefinition(access, org, {
    definition: { ...definition, enabled },
    hash,
    source: 'sync',
    origin: originOf(options),
    ...omitUndefined({ afterWrite, text }),
    // Members that the document omits keep their values.
    ...(head === undefined ? {} : { ifRevision: head.revision }),
    ...omitUndefined({ by: options.by, notes: options.notes }),
  });
  return created ? 'created' : 'updated';
}

/** The slug, if a definition was deleted. A definition that another set has taken over stays. */
async function removeIfOwned(access: WriteAccess, org: string, slug: string, options: SyncOptions): Promise<string[]> {
  const head = await readHead(access, org, slug);
  if (head?.origin !== originOf(options)) return [];
  if (options.dryRun === true) return [slug];
  const removed = removeDefinition(access, org, slug, {
    ifMatch: etagOfHead(head),
    ...omitUndefined({ by: options.by }),
  });
  // Another request may have deleted it, or written it again.
  return removed.then(
    () => [slug],
    onCode(['not_found', 'hash_mismatch'], () => []),
  );
}

const originOf = ({ source }: SyncOptions): string => source ?? DEFAULT_SET;

const setId = (org: string, origin: string): string => `sync.${idPart(org)}.${shortHash(origin)}`;

async function changeSet(
  access: WriteAccess,
  org: string,
  options: SyncOptions,
  change: Omit<ChangeSynced, 'key'>,
): Promise<readonly string[]> {
  const origin = originOf(options);
  const start: SyncStart = { organizationId: org, historyLimit: access.historyLimit, origin };
  const actor = { workflowId: setId(org, origin), workflowType: SYNC_WORKFLOW, start };
  return (await updateWithStart<ChangeSynced, SyncedAnswer>(access, actor, 'change', change)).slugs;
}

async function readSet(access: Access, org: string, options: SyncOptions): Promise<readonly string[]> {
  const handle = access.client.workflow.getHandle(setId(org, originOf(options)));
  const answer = read(access, () => handle.query<SyncedAnswer>('slugs'));
  return (await answer.catch(onCode('not_found', () => ({ slugs: [] })))).slugs;
}
