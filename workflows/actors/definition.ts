/**
 * The actor `def.{org}.{workflow}`: the current version of a definition, whether it is enabled, and its changes
 * (ARCHITECTURE.md §4). The version actors hold the definitions themselves. The actor outlives the deletion of the
 * definition: the list of changes stays, and a new definition of the same slug continues it.
 *
 * Changes and proposals are read without a worker, from the actor's history: the carried state and the answer of each
 * update (src/client/versions/definition-history.ts). So an answer contains everything that its update has changed.
 */
import {
  type DefinitionChange,
  type DefinitionHead,
  type DefinitionStart,
  etagOfHead,
  type HookPath,
  type PutDefinition,
  type PutDefinitionAnswer,
  type RecordVersions,
  type RecordVersionsAnswer,
  type RemoveDefinition,
  type RemovedDefinition,
} from '../../src/contract/actors.ts';
import { versionDigest } from '../../src/contract/definitions/version-digest.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import {
  type Actor,
  type Effect,
  firstFittingIndex,
  isRefusal,
  type Operation,
  type Refusal,
  refuse,
} from './actor.ts';
import { applyProposal, expireProposals, failProposal, nextExpiry, propose, review } from './definition-proposals.ts';
import type { DefinitionActorState as State } from './definition-state.ts';
import { definitionAttributes } from './search-attributes.ts';
import { nextVersion } from './version-number.ts';

const MAX_CHANGES = 5_000;
/** Of one change as JSON, besides its notes. */
const CHANGE_OVERHEAD_BYTES = 250;
const TEXT_OVERHEAD_BYTES = 110;
/** Of the changes together, as JSON: one payload carries them. */
const MAX_CHANGES_BYTES = 1_000_000;
/** Of a change with the longest notes. */
const MAX_CHANGE_BYTES = 2_000;
/** Digests take up to 35 bytes each as JSON, in the same payload as the changes. */
const MAX_OLDER_DIGESTS = 8_000;

const put: Operation<State, PutDefinition, PutDefinitionAnswer> = (before, request, now) => {
  const applied =
    request.proposalId === undefined ? undefined : applyProposal(before, request.proposalId, request, now);
  if (applied !== undefined && isRefusal(applied)) return applied;
  const refused = ifMatchRefusal(before, request.ifMatch) ?? putRefused(before, request);
  if (refused !== undefined) return refused;

  const at = new Date(now).toISOString();
  const isChanged = before.head?.hash !== request.hash;
  const head = headOf(before, request, isChanged, at);
  const isRecorded = isChanged || before.head?.version !== head.version || before.head.text?.hash !== head.text?.hash;
  const change = isRecorded ? changeOf(request, head.version, at) : undefined;
  const state: State = {
    ...(applied?.state ?? before),
    ...(change === undefined ? {} : withChange(before, change)),
    head,
    deletedAt: null,
    removed: null,
    revision: head.revision,
  };
  // An interrupted deletion has left hooks and triggers behind, which the new definition does not own either.
  const previousHead = before.head ?? before.removed;
  const dropped = (previousHead?.triggers ?? []).filter((name) => !(request.triggers ?? []).includes(name));
  return {
    state,
    answer: {
      created: before.head === null,
      changed: isChanged,
      head,
      freed: removedHooks(previousHead?.hooks ?? [], request.hooks),
      dropped,
      ...omitUndefined({ change, proposal: applied?.answer.proposal }),
      ...(state.lacksOlder ? { lacksOlder: true as const } : {}),
    },
    effects: visibilityEffects(state),
  };
};

const remove: Operation<State, RemoveDefinition, RemovedDefinition> = (before, { ifMatch }, now) => {
  if (before.head === null) return refuse('not_found', `Workflow ${before.start.slug} does not exist.`);
  const refused = ifMatchRefusal(before, ifMatch);
  if (refused !== undefined) return refused;
  const { hooks, triggers = [] } = before.head;
  const deletedAt = new Date(now).toISOString();
  const revision = before.revision + 1;
  const ended = before.proposals.length;
  const removed = { hooks, triggers, revision, at: deletedAt, ...(ended === 0 ? {} : { proposals: ended }) };
  const state: State = { ...before, head: null, revision, deletedAt, removed, proposals: [] };
  return { state, answer: removed, effects: visibilityEffects(state) };
};

const recordVersions: Operation<State, RecordVersions, RecordVersionsAnswer> = (state, { hashes }) => {
  const recorded = [...new Set(hashes.map(versionDigest))];
  return { state: { ...state, older: addDigests(state.older, recorded), lacksOlder: false }, answer: { recorded } };
};

function putRefused({ start, head }: State, { ifNew, ifRevision }: PutDefinition): Refusal | undefined {
  if (ifNew === true && head !== null) return refuse('already_exists', `Workflow ${start.slug} exists already.`);
  if (ifRevision !== undefined && ifRevision !== head?.revision)
    return refuse('entry_changed', `Workflow ${start.slug} was written meanwhile. Read it again.`);
  return undefined;
}

/** The refusal where the definition does not have the tag that the request expects; `*` stands for any. */
function ifMatchRefusal({ start, head }: State, ifMatch: string | undefined): Refusal | undefined {
  if (ifMatch === undefined || (head !== null && (ifMatch === '*' || ifMatch === etagOfHead(head)))) return undefined;
  const has = head === null ? 'it does not exist' : `its tag is ${etagOfHead(head)}`;
  return refuse(
    'hash_mismatch',
    `Workflow ${start.slug} is not what you expect: ${has}. Read it again, and repeat your change on that.`,
  );
}

function headOf(before: State, request: PutDefinition, isChanged: boolean, at: string): DefinitionHead {
  const version = before.head?.version ?? before.changes.at(-1)?.version;
  return {
    slug: before.start.slug,
    name: request.name,
    ...omitUndefined({ description: request.description }),
    version: nextVersion(version, request.version, isChanged),
    hash: request.hash,
    enabled: request.enabled,
    tags: request.tags,
    createdAt: before.head?.createdAt ?? at,
    updatedAt: at,
    revision: before.revision + 1,
    hooks: request.hooks,
    ...omitUndefined({
      triggers: request.triggers,
      triggerSecrets: request.triggerSecrets,
      origin: request.origin ?? before.head?.origin,
      text: request.text ?? (isChanged ? undefined : before.head?.text),
    }),
  };
}

function changeOf(
  { hash, source, by, notes, proposalId, text }: PutDefinition,
  version: string,
  at: string,
): DefinitionChange {
  return { hash, version, source, at, ...omitUndefined({ by, notes, proposalId, text }) };
}

/** The latest changes that fit. The versions of the others are kept. */
function withChange({ changes, older }: State, change: DefinitionChange): Pick<State, 'changes' | 'older'> {
  const all = [...changes, change];
  const from = firstFittingIndex(all, MAX_CHANGES, bytesOf, MAX_CHANGES_BYTES);
  if (from === 0) return { changes: all, older };
  const removed = all.slice(0, from).map(({ hash }) => versionDigest(hash));
  return { changes: all.slice(from), older: addDigests(older, removed) };
}

/** The digests with others, each once. The first ones go where there are too many. */
const addDigests = (older: readonly string[], others: readonly string[]): readonly string[] =>
  [...new Set([...older, ...others])].slice(-MAX_OLDER_DIGESTS);

/** Whether an actor of a version before 0.4 may have removed changes, of which it kept nothing. */
function mayHaveRemovedChanges(changes: readonly DefinitionChange[]): boolean {
  const bytes = changes.reduce((sum, change) => sum + bytesOf(change), 0);
  return changes.length >= MAX_CHANGES || bytes > MAX_CHANGES_BYTES - MAX_CHANGE_BYTES;
}

function bytesOf({ notes = '', text }: DefinitionChange): number {
  return CHANGE_OVERHEAD_BYTES + 3 * notes.length + (text === undefined ? 0 : TEXT_OVERHEAD_BYTES);
}

const removedHooks = (before: readonly HookPath[], now: readonly HookPath[]): readonly HookPath[] =>
  before.filter((place) => !now.some((other) => other.path === place.path));

function visibilityEffects({ start, head, deletedAt, removed }: State): Effect[] {
  return [
    { type: 'memo', fields: { head, deletedAt, removed } },
    { type: 'searchAttributes', values: definitionAttributes(start.organizationId, start.slug, head) },
  ];
}

export const definitionActor: Actor<DefinitionStart, State> = {
  begin: ({ organizationId, slug, proposalMs, carried }) => ({
    start: { organizationId, slug, ...omitUndefined({ proposalMs }) },
    head: carried?.head ?? null,
    changes: carried?.changes ?? [],
    older: carried?.older ?? [],
    lacksOlder:
      carried?.lacksOlder ?? (carried !== undefined && !carried.older && mayHaveRemovedChanges(carried.changes)),
    deletedAt: carried?.deletedAt ?? null,
    removed: carried?.removed ?? null,
    revision: carried?.revision ?? 0,
    proposals: carried?.proposals ?? [],
  }),
  carry: ({ start: _start, ...carried }) => carried,
  updates: { propose, review, failProposal, put, remove, recordVersions },
  next: ({ proposals }) => {
    const at = nextExpiry(proposals);
    return at === undefined ? 'wait' : { at };
  },
  act: (state, now) => ({ state: expireProposals(state, now) }),
};
