/** Rollback of a definition to an earlier version. */

import type { DefinitionHead } from '../../contract/actors.ts';
import { withCurrentTriggerSecrets } from '../../definition/document/trigger-secrets.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { ClientError } from '../errors.ts';
import type { WriteAccess } from '../temporal/access.ts';
import { readHead } from '../versions/definition-head.ts';
import { readDefinitionHistory } from '../versions/definition-history.ts';
import { holdsVersion } from '../versions/version-history.ts';
import { readVersion } from '../versions/versions.ts';
import { putDefinition, retryOnConflict } from './definitions.ts';

interface Rollback {
  readonly hash: string;
  readonly notes?: string;
  readonly by?: string;
  /** A repeated key gets the same answer. */
  readonly key?: string;
}

interface RolledBack {
  readonly head: DefinitionHead;
  readonly alreadyAtVersion: boolean;
}

/**
 * Writes the version with that hash again, under a new version number. Writes nothing where it is the current version.
 * @throws ClientError `not_found`, `version_not_found` (also for a version that was only proposed), `entry_changed`
 * where other writes keep coming in between, and the errors of putDefinition.
 */
export const rollBack = (access: WriteAccess, org: string, slug: string, request: Rollback): Promise<RolledBack> =>
  retryOnConflict(() => rollBackOnce(access, org, slug, request));

async function rollBackOnce(
  access: WriteAccess,
  org: string,
  slug: string,
  { hash, notes, by, key }: Rollback,
): Promise<RolledBack> {
  const head = await readHead(access, org, slug);
  if (head === undefined) throw new ClientError('not_found', `There is no workflow called ${slug}.`);
  // With a key, this request may have made it the current version. The actor knows.
  if (head.hash === hash && key === undefined) return { head, alreadyAtVersion: true };
  const history = await readDefinitionHistory(access, org, slug);
  const change = history?.changes.findLast((one) => one.hash === hash);
  const isHeld = history !== undefined && (await holdsVersion(access, org, slug, history, hash));
  const version = isHeld ? await readVersion(access, org, slug, hash) : undefined;
  if (version === undefined)
    throw new ClientError(
      'version_not_found',
      `The history of workflow ${slug} has no ${hash}. Give the hash of one of its versions.`,
    );
  const { version: _version, ...definition } = version;
  const answer = await putDefinition(access, org, {
    definition: { ...withCurrentTriggerSecrets(definition, head.triggerSecrets), enabled: head.enabled },
    hash,
    source: 'rollback',
    ifRevision: head.revision,
    ...omitUndefined({ key, notes, by, text: change?.text }),
  });
  return { head: answer.head, alreadyAtVersion: !answer.changed };
}
