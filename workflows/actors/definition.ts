/**
 * The actor `def.{org}.{workflow}`: which version of a definition counts, whether it is enabled, and what changed when
 * (ARCHITECTURE.md §4). The definitions themselves lie in the version actors. It outlives the deletion of the definition: the
 * list of changes stays, and a new write of the slug goes on from there.
 *
 * Changes and proposals are read without a worker, from the actor's history: what was carried, and what each update has
 * answered (src/client/versions/definition-history.ts). So an answer holds what its update has changed.
 */

import { allHandlersFinished, condition, upsertMemo, upsertSearchAttributes } from '@temporalio/workflow';
import type {
  DefinitionChange,
  DefinitionHead,
  DefinitionStart,
  DefinitionState,
  HookPlace,
  PutDefinition,
  PutDefinitionAnswer,
  RemoveDefinition,
  RemovedDefinition,
} from '../../src/contract/actors.ts';
import { defined } from '../../src/json/defined.ts';
import { becomeNew, isFull, refuse, stored, writes } from './actor.ts';
import { definitionAttributes } from './actor-attributes.ts';
import { nextVersion } from './actor-version-number.ts';
import { proposalsOf } from './definition-proposals.ts';

const CHANGES_KEPT = 5_000;
/** What one takes besides its notes. */
const CHANGE_OVERHEAD = 250;
/** Of the changes together, as JSON: they are carried in one payload. */
const CHANGES_BYTES = 1_000_000;

export function definition(start: DefinitionStart): Promise<never> {
  return stored(() => keepDefinition(start));
}

async function keepDefinition(start: DefinitionStart): Promise<never> {
  let head: DefinitionHead | null = start.carried?.head ?? null;
  let changes: readonly DefinitionChange[] = start.carried?.changes ?? [];
  let deletedAt: string | null = start.carried?.deletedAt ?? null;
  let removed: RemovedDefinition | null = start.carried?.removed ?? null;
  let revision = start.carried?.revision ?? 0;
  const taken = writes(start.carried?.answers ?? []);
  const proposals = proposalsOf(taken, start, () => head?.hash);

  const show = () => {
    upsertMemo({ head, deletedAt, removed });
    upsertSearchAttributes(definitionAttributes(start.organizationId, start.slug, head));
  };
  const matches = (ifMatch: string | undefined) =>
    ifMatch === undefined || (head !== null && (ifMatch === '*' || ifMatch === head.hash));
  const demand = (ifMatch: string | undefined) => {
    if (matches(ifMatch)) return;
    const has = head === null ? 'it does not exist' : `its hash is ${head.hash}`;
    refuse(
      'hash_mismatch',
      `Workflow ${start.slug} is not what you expect: ${has}. Read it again, and repeat your change on that.`,
    );
  };

  taken.on<PutDefinition, PutDefinitionAnswer>(
    'put',
    (request) => {
      if (request.proposalId !== undefined) proposals.demandApplicable(request.proposalId, head?.hash, request.hash);
      demand(request.ifMatch);
      if (request.ifNew === true && head !== null) refuse('already_exists', `Workflow ${start.slug} exists already.`);
      if (request.ifRevision !== undefined && request.ifRevision !== head?.revision)
        refuse('entry_changed', `Workflow ${start.slug} was written meanwhile. Read it again.`);
    },
    (request) => {
      const at = new Date().toISOString();
      const before = head;
      // A deletion may have been interrupted: what it has left behind is not this one's either.
      const left = {
        hooks: before?.hooks ?? removed?.hooks ?? [],
        triggers: before?.triggers ?? removed?.triggers ?? [],
      };
      const changed = before?.hash !== request.hash;
      const origin = request.origin ?? before?.origin;
      revision += 1;
      const version = nextVersion(before?.version ?? lastVersion(changes), request.version, changed);
      head = {
        slug: start.slug,
        name: request.name,
        ...defined({ description: request.description }),
        version,
        hash: request.hash,
        enabled: request.enabled,
        tags: request.tags,
        createdAt: before?.createdAt ?? at,
        updatedAt: at,
        revision,
        hooks: request.hooks,
        ...defined({ triggers: request.triggers, triggerSecrets: request.triggerSecrets, origin }),
      };
      deletedAt = null;
      removed = null;
      const change = changed || before?.version !== version ? changeOf(request, version, at) : undefined;
      if (change !== undefined) changes = kept([...changes, change]);
      const proposal = request.proposalId === undefined ? undefined : proposals.applied(request.proposalId, request.by);
      show();
      const dropped = left.triggers.filter((name) => !(request.triggers ?? []).includes(name));
      return {
        created: before === null,
        changed,
        head,
        freed: missing(left.hooks, request.hooks),
        dropped,
        ...defined({ change, proposal }),
      };
    },
  );

  taken.on<RemoveDefinition, RemovedDefinition>(
    'remove',
    (request) => {
      if (head === null) refuse('not_found', `Workflow ${start.slug} does not exist.`);
      demand(request.ifMatch);
    },
    () => {
      const { hooks, triggers = [] } = head ?? refuse('not_found', `Workflow ${start.slug} does not exist.`);
      head = null;
      revision += 1;
      deletedAt = new Date().toISOString();
      const ended = proposals.end();
      removed = { hooks, triggers, revision, at: deletedAt, ...(ended === 0 ? {} : { proposals: ended }) };
      show();
      return removed;
    },
  );

  while (!isFull(start.historyLimit)) {
    const expiry = proposals.nextExpiry();
    const isOther = () => isFull(start.historyLimit) || proposals.nextExpiry() !== expiry;
    if (expiry === undefined) await condition(isOther);
    else if (!(await condition(isOther, Math.max(1, expiry - Date.now())))) proposals.expire();
  }
  await condition(allHandlersFinished);
  const carried: DefinitionState = {
    head,
    changes,
    deletedAt,
    removed,
    revision,
    proposals: proposals.all(),
    answers: taken.answers(),
  };
  return becomeNew<typeof definition>({ ...start, carried });
}

function changeOf(request: PutDefinition, version: string, at: string): DefinitionChange {
  return {
    hash: request.hash,
    version,
    source: request.source,
    at,
    ...defined({ by: request.by, notes: request.notes, proposalId: request.proposalId }),
  };
}

/** As many of the latest as fit. */
function kept(changes: readonly DefinitionChange[]): readonly DefinitionChange[] {
  let from = Math.max(0, changes.length - CHANGES_KEPT);
  let bytes = 0;
  for (let at = changes.length - 1; at >= from; at--) {
    bytes += CHANGE_OVERHEAD + 3 * (changes[at]?.notes?.length ?? 0);
    if (bytes > CHANGES_BYTES) from = at + 1;
  }
  return from === 0 ? changes : changes.slice(from);
}

const lastVersion = (changes: readonly DefinitionChange[]): string | undefined => changes.at(-1)?.version;

const missing = (before: readonly HookPlace[], now: readonly HookPlace[]): readonly HookPlace[] =>
  before.filter((place) => !now.some((other) => other.path === place.path));
