/**
 * Finds the definition for a run: the current version, or a named version of the workflow's history, in the run's
 * organization.
 */
import type { Definition } from '../../definition/document/types.ts';
import { ClientError } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { recentDefinition, recentHead } from './definition-head.ts';
import { readDefinitionHistory } from './definition-history.ts';
import { holdsVersion } from './version-history.ts';
import { readVersion } from './versions.ts';

export interface WantedWorkflow {
  readonly workflow: string;
  /** `sha256:…`, only its digits, or a semver. Absent: the current version. */
  readonly version?: string;
  /** Whether the workflow must be an employee (`type: employee`). */
  readonly employee?: boolean;
}

export interface ResolvedWorkflow {
  readonly definition: Definition;
  readonly hash: string;
}

const HASH = /^(?:sha256:)?([0-9a-f]{64})$/;

/**
 * The definition with its version, ready to be run.
 * @throws ClientError `workflow_not_found`, `workflow_disabled`, `version_not_found`, `not_an_employee`.
 */
export async function resolveWorkflow(access: Access, org: string, wanted: WantedWorkflow): Promise<ResolvedWorkflow> {
  const { workflow, version } = wanted;
  const head = await recentHead(access, org, workflow);
  if (head === undefined)
    throw new ClientError(
      'workflow_not_found',
      `There is no workflow called '${workflow}' in this organization. Store it first.`,
    );
  if (!head.enabled)
    throw new ClientError('workflow_disabled', `The workflow '${workflow}' is disabled. Enable it to run it.`);
  const found = await versionOf(access, org, workflow, version, head);
  const stored = found === undefined ? undefined : await readVersion(access, org, workflow, found.hash);
  if (found === undefined || stored === undefined)
    throw new ClientError(
      'version_not_found',
      `The workflow '${workflow}' has no version ${version ?? head.version}. Name one of its history, by its ` +
        'hash or its number.',
    );
  if (wanted.employee === true && stored.type !== 'employee')
    throw new ClientError(
      'not_an_employee',
      `The workflow '${workflow}' is no employee. Run it with run_workflow, or give it type: employee.`,
    );
  const number = found.version === undefined ? {} : { version: found.version };
  return { definition: { ...stored, ...number }, hash: found.hash };
}

/**
 * The current version as the API shows it: with `enabled`, and with the present secrets of its triggers.
 * @throws ClientError `not_found`, `workflow_disabled`, `version_missing`.
 */
export async function shownWorkflow(access: Access, org: string, slug: string): Promise<ResolvedWorkflow> {
  const found = await recentDefinition(access, org, slug);
  if (found === undefined) throw new ClientError('not_found', `There is no workflow called ${slug}.`);
  if (!found.head.enabled)
    throw new ClientError('workflow_disabled', `Workflow ${slug} is disabled. Store it with enabled: true to run it.`);
  return { definition: found.definition, hash: found.head.hash };
}

interface Version {
  readonly hash: string;
  readonly version?: string;
}

async function versionOf(
  access: Access,
  org: string,
  slug: string,
  wanted: string | undefined,
  head: Version,
): Promise<Version | undefined> {
  if (wanted === undefined || wanted === head.version || wanted === head.hash) return head;
  const digits = HASH.exec(wanted)?.[1];
  const hash = digits === undefined ? undefined : `sha256:${digits}`;
  if (hash === head.hash) return head;
  const history = await readDefinitionHistory(access, org, slug);
  if (history === undefined) return undefined;
  // A rollback may repeat a version number: the latest change with that number counts.
  const change = history.changes.findLast((one) => (hash === undefined ? one.version === wanted : one.hash === hash));
  if (change !== undefined || hash === undefined) return change;
  return (await holdsVersion(access, org, slug, history, hash)) ? { hash } : undefined;
}
