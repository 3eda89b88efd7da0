/** Stores an organization's definitions: reads, writes, lists and deletes them (ARCHITECTURE.md §4, §5). */

import {
  DEFINITION_WORKFLOW,
  type DefinitionStart,
  type HookOwner,
  type HookPath,
  type PutDefinition,
  type PutDefinitionAnswer,
  type RecordVersions,
  type RecordVersionsAnswer,
  type RemoveDefinition,
  type RemovedDefinition,
  tagOfHead,
} from '../../contract/actors.ts';
import type { TextReference } from '../../contract/text-reference.ts';
import { triggerSecretsOf } from '../../definition/document/trigger-secrets.ts';
import type { Definition } from '../../definition/document/types.ts';
import { defined } from '../../json/defined.ts';
import { ClientError, hasCode } from '../errors.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { readMemo, writeOrStart, writeTo } from '../temporal/actor-calls.ts';
import { definitionId } from '../temporal/ids.ts';
import { hooksOf } from '../triggers/hook-config.ts';
import { claimHooks, freeHooks } from '../triggers/hooks.ts';
import { demandSchedules, triedTriggers } from '../triggers/schedule-trial.ts';
import { claimTriggers, dropTriggers, putTriggers, removeTriggersOf } from '../triggers/triggers.ts';
import { forgetHead, readHead } from '../versions/definition-head.ts';
import { readDefinitionHistory, versionsBefore } from '../versions/definition-history.ts';
import { referenceOf, storeText, type WrittenText } from '../versions/texts.ts';
import { storeVersion } from '../versions/versions.ts';

const LONGEST_SHOWN = 1_000;
const TRIES = 5;

/** An `until` that keeps every trigger that the API made. */
const NONE_OF_API = new Date(0).toISOString();

/** Refusals of the head. They change nothing. */
const NOT_WRITTEN = [
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
  readonly along?: () => Promise<void>;
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
  const { definition, text, key, along, ...rest } = request;
  const { slug, name, triggers = [], enabled = true, tags = [], version } = definition;
  // With a key, the write may have happened already. The actor knows.
  if (key === undefined) await demand(access, org, slug, request);
  await demandSchedules(access, org, triedTriggers(triggers));
  const names = triggers.map((trigger) => trigger.name);
  const giveBack = await claimTriggers(access, org, slug, names);
  const wanted = hooksOf(definition);
  let claimed: readonly HookPath[];
  try {
    await storeVersion(access, org, rest.hash, definition);
    if (text !== undefined && 'text' in text) await storeText(access, org, slug, text);
    claimed = await claimHooks(access, org, slug, wanted);
  } catch (error) {
    await giveBack();
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
    ...(definition.description === undefined ? {} : { description: shortened(definition.description) }),
    ...defined({ version, text: text && referenceOf(text) }),
  };
  let answer: PutDefinitionAnswer;
  try {
    answer = await writeOrStart<PutDefinition, PutDefinitionAnswer>(access, actor, 'put', put, key);
  } catch (error) {
    if (hasCode(error, ...NOT_WRITTEN)) {
      await freeHooks(access, org, slug, claimed, 0);
      await giveBack();
    }
    throw error;
  } finally {
    forgetHead(access, org, slug);
  }
  await along?.();
  const { revision } = answer.head;
  const { dropped = [] } = answer;
  await putTriggers(access, org, slug, { triggers, revision, dropped, ...defined({ by: rest.by }) });
  await freeHooks(access, org, slug, answer.freed, revision);
  if (answer.lacksOlder) await recordOlder(access, org, slug);
  return answer;
}

/** Gives the actor the versions of changes that it has removed before it kept their versions. */
async function recordOlder(access: WriteAccess, org: string, slug: string): Promise<void> {
  const history = await readDefinitionHistory(access, org, slug);
  if (history === undefined) return;
  const hashes = [...(await versionsBefore(access, org, slug, history))];
  await writeTo<RecordVersions, RecordVersionsAnswer>(access, definitionId(org, slug), 'recordVersions', { hashes });
}

/**
 * Runs `act`, which reads a definition and writes it again. Repeats it, a few times at most, where another write came
 * in.
 */
export async function onCurrent<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (tries >= TRIES || !hasCode(error, 'entry_changed')) throw error;
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
  const takeAlong = async (removed: RemovedDefinition) => {
    await removeTriggersOf(access, org, slug, removed);
    await freeHooks(access, org, slug, removed.hooks, removed.revision);
  };
  let removed: RemovedDefinition;
  try {
    removed = await writeTo<RemoveDefinition, RemovedDefinition>(access, actor, 'remove', request);
  } catch (error) {
    if (!hasCode(error, 'not_found')) throw error;
    // An earlier deletion may have been interrupted here.
    const left = await readMemo<RemovedDefinition>(access, actor, 'removed');
    if (left !== undefined) await takeAlong(left);
    throw new ClientError('not_found', `There is no workflow called ${slug}.`);
  } finally {
    forgetHead(access, org, slug);
  }
  await takeAlong(removed);
}

/**
 * Whether the definition has that webhook path. A path that it no longer has, because the write or deletion that
 * dropped it was interrupted, is freed now, and its trigger is deleted.
 */
export async function keepsHook(
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
    await dropTriggers(access, org, workflow, [trigger], now.revision, NONE_OF_API);
  await freeHooks(access, org, workflow, [{ path, trigger }], now.revision);
  return false;
}

/** The description in lists, shortened. The definition has the whole text. */
const shortened = (description: string): string =>
  description.length <= LONGEST_SHOWN ? description : `${description.slice(0, LONGEST_SHOWN - 1)}…`;

async function demand(
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
  if (ifMatch !== '*' && ifMatch !== tagOfHead(head)) {
    throw new ClientError(
      'hash_mismatch',
      `Workflow ${slug} has the tag ${tagOfHead(head)}. Read it again, and repeat your change on that.`,
    );
  }
}
