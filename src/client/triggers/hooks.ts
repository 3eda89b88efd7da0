/** Webhook paths: claimed before a definition is written, configured after it, freed when the definition drops them. */
import {
  type ClaimHook,
  type ConfigureHook,
  type FreeHook,
  HOOK_WORKFLOW,
  type HookConfig,
  type HookOwner,
  type HookPath,
  type HookStart,
  type HookState,
} from '../../contract/actors.ts';
import { DEFAULT_ORGANIZATION } from '../../contract/organization/organization.ts';
import { eachConcurrently } from '../concurrency/each-concurrently.ts';
import { ClientError, onCode } from '../errors.ts';
import { isOrganization } from '../organization/organizations.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { type Actor, readMemo, updateActor, updateWithStart } from '../temporal/actor-calls.ts';
import { hookId } from '../temporal/ids.ts';

/** One webhook trigger of a definition. */
export interface ConfiguredHook extends HookPath {
  readonly config: HookConfig;
}

/** The definition of a workflow, unless it names a trigger of the API. */
const ownerOf = (owner: HookOwner | string): HookOwner => (typeof owner === 'string' ? { workflow: owner } : owner);

/** The present config of a path. Undefined where the path has none. */
export async function readHook(access: Access, org: string, path: string): Promise<HookState | undefined> {
  const hook = await readMemo<HookState>(access, hookId(org, path), 'hook');
  return hook?.owner === null ? undefined : hook;
}

/**
 * Claims the paths for an owner, all or none. Answers the paths that it did not have before.
 * @throws ClientError `path_taken`, `path_resting`, `path_reserved`.
 */
export async function claimHooks(
  access: WriteAccess,
  org: string,
  by: HookOwner | string,
  wanted: readonly HookPath[],
): Promise<readonly HookPath[]> {
  const owner = ownerOf(by);
  const claimed: HookPath[] = [];
  try {
    for (const hook of wanted) {
      await demandUnreservedPath(access, org, hook.path);
      const now = await readHook(access, org, hook.path);
      const isOurs = now?.owner?.workflow === owner.workflow && now.owner.api === owner.api;
      if (isOurs && now.config !== null) continue;
      await updateWithStart<ClaimHook, HookState>(access, hookActor(access, org, hook.path), 'claim', {
        ...owner,
        trigger: hook.trigger,
      });
      claimed.push(hook);
    }
  } catch (error) {
    await freeHooks(access, org, owner, claimed, 0);
    throw error;
  }
  return claimed;
}

/**
 * Refuses paths of definitions that one of them, or another workflow, has already. Asked before the first of several
 * definitions is written; each of them claims its paths all the same.
 * @throws ClientError `path_taken`, `path_reserved`.
 */
export async function demandFreePaths(
  access: Access,
  org: string,
  wanted: readonly { readonly workflow: string; readonly places: readonly HookPath[] }[],
): Promise<void> {
  const owners = new Map<string, string>();
  for (const { workflow, places } of wanted) {
    for (const { path } of places) {
      const other = owners.get(path);
      if (other !== undefined && other !== workflow) throw pathTaken(path, other);
      owners.set(path, workflow);
    }
  }
  await eachConcurrently([...owners], async ([path, workflow]) => {
    await demandUnreservedPath(access, org, path);
    const { owner, config } = (await readHook(access, org, path)) ?? {};
    if (owner == null || config == null) return;
    if (owner.workflow !== workflow || owner.api !== undefined) throw pathTaken(path, owner.workflow);
  });
}

const pathTaken = (path: string, workflow: string): ClientError =>
  new ClientError('path_taken', `The webhook path ${path} belongs to workflow ${workflow}. Choose another path.`);

/**
 * Addresses of `default` do not contain its name. So a path of `default` must not begin as the paths of another
 * organization do.
 * @throws ClientError `path_reserved`.
 */
async function demandUnreservedPath(access: Access, org: string, path: string): Promise<void> {
  const [first = '', ...rest] = path.split('/');
  if (org !== DEFAULT_ORGANIZATION || rest.length === 0 || !(await isOrganization(access, first))) return;
  throw new ClientError(
    'path_reserved',
    `The path ${path} begins with '${first}', which is the name of an organization, whose webhooks are there. ` +
      'Begin it with another word.',
  );
}

/** Writes the config of each path, by the definition's write with that revision. */
export async function configureHooks(
  access: WriteAccess,
  org: string,
  by: HookOwner | string,
  wanted: readonly ConfiguredHook[],
  revision: number,
): Promise<void> {
  await Promise.all(
    wanted.map((hook) =>
      updateWithStart<ConfigureHook, HookState>(access, hookActor(access, org, hook.path), 'configure', {
        ...ownerOf(by),
        trigger: hook.trigger,
        revision,
        config: hook.config,
      }),
    ),
  );
}

/** Frees paths. A path that was in use stays reserved for a day. */
export async function freeHooks(
  access: WriteAccess,
  org: string,
  by: HookOwner | string,
  places: readonly HookPath[],
  revision: number,
): Promise<void> {
  await Promise.all(
    places.map(({ path }) => {
      const freed = updateActor<FreeHook, HookState>(access, hookId(org, path), 'free', { ...ownerOf(by), revision });
      return freed.catch(onCode('not_found', () => undefined));
    }),
  );
}

const hookActor = (access: Access, org: string, path: string): Actor<HookStart> => ({
  workflowId: hookId(org, path),
  workflowType: HOOK_WORKFLOW,
  start: { organizationId: org, historyLimit: access.historyLimit, path },
});
