/** Stores an organization's definitions: reads, writes, lists and deletes them (ARCHITECTURE.md §4, §5). */

import {
  DEFINITION_WORKFLOW,
  type DefinitionStart,
  etagOfHead,
  type HookOwner,
  type HookPath,
  type PutDefinition,
  type PutDefinitionAnswer,
  type RecordVersions,
  type RecordVersionsAnswer,
  type RemoveDefinition,
  type RemovedDefinition,
} from '../../contract/actors.ts';
import type { TextReference } from '../../contract/definitions/text-reference.ts';
import { triggerSecretsOf } from '../../definition/document/trigger-secrets.ts';
import type { Definition } from '../../definition/document/types.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { ClientError, hasCode } from '../errors.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { readMemo, updateActor, updateWithStart } from '../temporal/actor-calls.ts';
import { definitionId } from '../temporal/ids.ts';
import { hooksOf } from '../triggers/hook-config.ts';
import { claimHooks, freeHooks } from '../triggers/hooks.ts';
import { demandValidSchedules, triggersToValidate } from '../triggers/schedule-validation.ts';
import { claimTriggers, deleteDroppedTriggers, deleteTriggersOfWorkflow, putTriggers } from '../triggers/triggers.ts';
import { forgetHead, readHead } from '../versions/definition-head.ts';
import { olderVersions, readDefinitionHistory } from '../versions/definition-history.ts';
import { storeText, textReferenceOf, type WrittenText } from '../versions/texts.ts';
import { storeVersion } from '../versions/versions.ts';

const MAX_DESCRIPTION_LENGTH = 1_000;
const MAX_WRITE_ATTEMPTS = 5;

/** An `until` that keeps every trigger that the API made. */
const KEEP_API_TRIGGERS = new Date(0).toISOString();

/** Refusals of the head. They change nothing. */
const REFUSAL_CODES = [
  'hash_mismatch',
  'already_exists',
  'entry_changed',
  'proposal_not_found',
  'proposal_not_approved',
  'proposal_closed',
  'proposal_stale',
];

/** The write of a head, as PutDefinition has it, and what goes with it. */
export interface DefinitionWrite
  extends Pick<
    PutDefinition,
    'hash' | 'source' | 'by' | 'notes' | 'ifMatch' | 'ifNew' | 'ifRevision' | 'origin' | 'proposalId'
  > {
  /** Canonical, without secrets in clear text. */
  readonly definition: Definition;
  /** The text as the author wrote it, without clear secrets, or the reference to one that is stored. */
  readonly text?: WrittenText | TextReference;
  /** A repeated key gets the same answer. */
  readonly key?: string;
  /**
   * Stores what the definition names but does not contain, such as its secrets. It runs once the head is written, so
   * that a refused write changes no secret.
   */
  readonly afterWrite?: () => Promise<void>;
}

/**
 * Writes a definition: its version, the names of its triggers, its webhook paths, then the head, which decides, and at
 * last its triggers and the configuration of its paths. Repeating it after any interruption completes it.
 * @throws ClientError `hash_mismatch`, `already_exists`, `entry_changed`, `trigger_exists`, `path_taken`,
 * `path_resting`, `invalid_trigger` (Temporal refuses the schedule of a trigger). Where it applies a proposal also
 * `proposal_not_found`, `proposal_not_approved`, `proposal_closed`, `proposal_stale`.
 */
export async function putDefinition(
  access: WriteAccess,
  org: string,
  request: DefinitionWrite,
): Promise<PutDefinitionAnswer> {
  const { definition, text, key, afterWrite, ...rest } = request;
  const { slug, name, triggers = [], enabled = true, tags = [], version } = definition;
  // With a key, the write may have happened already. The actor knows.
  if (key === undefined) await demandPreconditions(access, org, slug, request);
  await demandValidSchedules(access, org, triggersToValidate(triggers));
  const names = triggers.map((trigger) => trigger.name);
  const releaseClaims = await claimTriggers(access, org, slug, names);
  const wanted = hooksOf(definition);
  let claimed: readonly HookPath[];
  try {
    await storeVersion(access, org, rest.hash, definition);
    if (text !== undefined && 'text' in text) await storeText(access, org, slug, text);
    claimed = await claimHooks(access, org, slug, wanted);
  } catch (error) {
    await releaseClaims();
    throw error;
  }
  const start: DefinitionStart = { organizationId: org, slug, historyLimit: access.historyLimit };
  const actor = { workflowId: definitionId(org, slug), workflowType: DEFINITION_WORKFLOW, start };
  const put: Omit<PutDefinition, 'key'> = {
    ...rest,
    name,
    enabled,
    tags,
    hooks: wanted.map(({ path, trigger }) => ({ path, trigger })),
    triggers: names,
    triggerSecrets: triggerSecretsOf(definition),
    ...(definition.description === undefined ? {} : { description: shortenDescription(definition.description) }),
    ...omitUndefined({ version, text: text && textReferenceOf(text) }),
  };
  let answer: PutDefinitionAnswer;
  try {
    answer = await updateWithStart<PutDefinition, PutDefinitionAnswer>(access, actor, 'put', put, key);
  } catch (error) {
    if (hasCode(error, ...REFUSAL_CODES)) {
      await freeHooks(access, org, slug, claimed, 0);
      await releaseClaims();
    }
    throw error;
  } finally {
    forgetHead(access, org, slug);
  }
  await afterWrite?.();
  const { revision } = answer.head;
  const { dropped = [] } = answer;
  await putTriggers(access, org, slug, { triggers, revision, dropped, ...omitUndefined({ by: rest.by }) });
  await freeHooks(access, org, slug, answer.freed, revision);
  if (answer.lacksOlder) await recordOlderVersions(access, org, slug);
  return answer;
}

/** Gives the actor the versions of changes that it has removed before it kept their versions. */
async function recordOlderVersions(access: WriteAccess, org: string, slug: string): Promise<void> {
  const history = await readDefinitionHistory(access, org, slug);
  if (history === undefined) return;
  const hashes = [...(await olderVersions(access, org, slug, history))];
  await updateActor<RecordVersions, RecordVersionsAnswer>(access, definitionId(org, slug), 'recordVersions', {
    hashes,
  });
}

/**
 * Runs `act`, which reads a definition and writes it again. Repeats it, a few times at most, where another write came
 * in.
 */
export async function retryOnConflict<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (tries >= MAX_WRITE_ATTEMPTS || !hasCode(error, 'entry_changed')) throw error;
    }
  }
}

/**
 * Deletes a definition and frees its webhook paths. Its runs continue, and its history of changes stays.
 * @throws ClientError `not_found`, `hash_mismatch`.
 */
export async function removeDefinition(
  access: WriteAccess,
  org: string,
  slug: string,
  request: { ifMatch?: string; by?: string } = {},
): Promise<void> {
  const actor = definitionId(org, slug);
  const removeDependents = async (removed: RemovedDefinition) => {
    await deleteTriggersOfWorkflow(access, org, slug, removed);
    await freeHooks(access, org, slug, removed.hooks, removed.revision);
  };
  let removed: RemovedDefinition;
  try {
    removed = await updateActor<RemoveDefinition, RemovedDefinition>(access, actor, 'remove', request);
  } catch (error) {
    if (!hasCode(error, 'not_found')) throw error;
    // An earlier deletion may have been interrupted here.
    const interrupted = await readMemo<RemovedDefinition>(access, actor, 'removed');
    if (interrupted !== undefined) await removeDependents(interrupted);
    throw new ClientError('not_found', `There is no workflow called ${slug}.`);
  } finally {
    forgetHead(access, org, slug);
  }
  await removeDependents(removed);
}

/**
 * Whether the definition has that webhook path. A path that it no longer has, because the write or deletion that
 * dropped it was interrupted, is freed now, and its trigger is deleted.
 */
export async function checkHookOwner(
  access: WriteAccess,
  org: string,
  path: string,
  owner: HookOwner & { readonly trigger: string },
): Promise<boolean> {
  const { workflow, trigger } = owner;
  const head = await readHead(access, org, workflow);
  if (head?.hooks.some((place) => place.path === path)) return true;
  const now = head ?? (await readMemo<RemovedDefinition>(access, definitionId(org, workflow), 'removed'));
  if (now === undefined) return false;
  if (head?.triggers?.includes(trigger) !== true)
    await deleteDroppedTriggers(access, org, workflow, [trigger], now.revision, KEEP_API_TRIGGERS);
  await freeHooks(access, org, workflow, [{ path, trigger }], now.revision);
  return false;
}

/** The description in lists, shortened. The definition has the whole text. */
const shortenDescription = (description: string): string =>
  description.length <= MAX_DESCRIPTION_LENGTH ? description : `${description.slice(0, MAX_DESCRIPTION_LENGTH - 1)}…`;

async function demandPreconditions(
  access: Access,
  org: string,
  slug: string,
  { ifMatch, ifNew }: Pick<DefinitionWrite, 'ifMatch' | 'ifNew'>,
): Promise<void> {
  if (ifMatch === undefined && ifNew !== true) return;
  const head = await readHead(access, org, slug);
  if (ifNew === true && head !== undefined) throw new ClientError('already_exists', `Workflow ${slug} exists already.`);
  if (ifMatch === undefined) return;
  if (head === undefined) {
    throw new ClientError(
      'hash_mismatch',
      `Workflow ${slug} does not exist, so it cannot have the tag that you expect.`,
    );
  }
  if (ifMatch !== '*' && ifMatch !== etagOfHead(head)) {
    throw new ClientError(
      'hash_mismatch',
      `Workflow ${slug} has the tag ${etagOfHead(head)}. Read it again, and repeat your change on that.`,
    );
  }
}
