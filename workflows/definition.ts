/**
 * The actor `def.{org}.{workflow}`: which version of a definition counts, whether it is enabled, and what changed when
 * (design.md §4). The definitions themselves lie in the version actors. It outlives the deletion of the definition: the
 * list of changes stays, and a new write of the slug goes on from there.
 */
import { defineQuery, setHandler, upsertMemo, upsertSearchAttributes } from '@temporalio/workflow';
import type {
  DefinitionChange,
  DefinitionHead,
  DefinitionStart,
  DefinitionState,
  HookPlace,
  PutDefinition,
  PutDefinitionAnswer,
  RemoveDefinition,
  RemoveDefinitionAnswer,
} from '../src/definition/actors.ts';
import { becomeNew, refuse, untilFull, writes } from './actor.ts';
import { definitionAttributes } from './actor-attributes.ts';
import { nextVersion } from './actor-version-number.ts';

const CHANGES_KEPT = 1_000;

export async function definition(start: DefinitionStart): Promise<never> {
  let head: DefinitionHead | null = start.carried?.head ?? null;
  let changes: readonly DefinitionChange[] = start.carried?.changes ?? [];
  let deletedAt: string | null = start.carried?.deletedAt ?? null;
  let revision = start.carried?.revision ?? 0;
  const taken = writes(start.carried?.answers ?? []);

  const show = () => {
    upsertMemo({ head, deletedAt });
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
      demand(request.ifMatch);
      if (request.ifNew === true && head !== null) refuse('already_exists', `Workflow ${start.slug} exists already.`);
    },
    (request) => {
      const at = new Date().toISOString();
      const before = head;
      const changed = before?.hash !== request.hash;
      revision += 1;
      const version = nextVersion(before?.version ?? lastVersion(changes), request.version, changed);
      head = {
        slug: start.slug,
        name: request.name,
        ...(request.description === undefined ? {} : { description: request.description }),
        version,
        hash: request.hash,
        enabled: request.enabled,
        tags: request.tags,
        createdAt: before?.createdAt ?? at,
        updatedAt: at,
        revision,
        hooks: request.hooks,
        ...(request.triggers === undefined ? {} : { triggers: request.triggers }),
      };
      deletedAt = null;
      if (changed || before?.version !== version) {
        changes = [...changes, change(request, version, at)].slice(-CHANGES_KEPT);
      }
      show();
      const dropped = (before?.triggers ?? []).filter((name) => !(request.triggers ?? []).includes(name));
      return { created: before === null, changed, head, freed: missing(before?.hooks ?? [], request.hooks), dropped };
    },
  );

  taken.on<RemoveDefinition, RemoveDefinitionAnswer>(
    'remove',
    (request) => {
      if (head === null) refuse('not_found', `Workflow ${start.slug} does not exist.`);
      demand(request.ifMatch);
    },
    () => {
      const removed = head ?? refuse('not_found', `Workflow ${start.slug} does not exist.`);
      head = null;
      revision += 1;
      deletedAt = new Date().toISOString();
      show();
      return { head: removed, revision };
    },
  );

  setHandler(defineQuery<readonly DefinitionChange[]>('changes'), () => changes);

  await untilFull(start.historyLimit);
  const carried: DefinitionState = { head, changes, deletedAt, revision, answers: taken.answers() };
  return becomeNew<typeof definition>({ ...start, carried });
}

function change(request: PutDefinition, version: string, at: string): DefinitionChange {
  return {
    hash: request.hash,
    version,
    source: request.source,
    at,
    ...(request.by === undefined ? {} : { by: request.by }),
    ...(request.notes === undefined ? {} : { notes: request.notes }),
  };
}

const lastVersion = (changes: readonly DefinitionChange[]): string | undefined => changes.at(-1)?.version;

const missing = (before: readonly HookPlace[], now: readonly HookPlace[]): readonly HookPlace[] =>
  before.filter((place) => !now.some((other) => other.path === place.path));
