/** Reads the secrets of one activity, from the run's own organization only. */
import type { ActivityInput, RunDefinitionRef } from '../../src/contract/run/activity.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import type { SecretPart } from '../../src/template/join-secrets.ts';
import { callService } from './failure.ts';

/** Reads secrets. Throws errors with a `code`: `secret_not_found`, `secret_not_allowed`, `secret_unreadable`. */
export interface SecretReader {
  read(organizationId: string, name: string, use: SecretUse): Promise<string>;
}
export interface SecretUse {
  /** The host that receives the secret; if absent (not known before the read), a secret bound to hosts is refused. */
  readonly host?: string;
  readonly workflow: string;
  readonly definition?: RunDefinitionRef;
  /** The run. */
  readonly executionId: string;
}

/** What the texts of the config get: secrets, callback URLs, links of approvals. */
export const secretParts = (input: ActivityInput): SecretPart[] =>
  input.secrets.flatMap(({ parts }) => parts).filter((part) => typeof part !== 'string');

/** The values by name; each secret is read once. @throws ActivityError */
export async function readSecrets(
  input: ActivityInput,
  reader: SecretReader | undefined,
  host: string | undefined,
): Promise<ReadonlyMap<string, string>> {
  const names = new Set<string>();
  for (const part of secretParts(input)) if ('secret' in part) names.add(part.secret);
  const read = async (name: string) => [name, await readSecret(input, reader, name, host)] as const;
  return new Map(await Promise.all([...names].map(read)));
}

/** Reads one value for the run's workflow. @throws ActivityError */
export async function readSecret(
  input: ActivityInput,
  reader: SecretReader | undefined,
  name: string,
  host: string | undefined,
): Promise<string> {
  const { id: executionId, organizationId, workflow, definition } = input.execution;
  const use = { workflow, executionId, ...omitUndefined({ definition, host }) };
  const outside = {
    code: 'secrets_unavailable',
    lacking: 'cannot read secrets',
    failed: `The secret '${name}' could not be read.`,
    final: ['secret_not_found', 'secret_not_allowed', 'secret_unreadable'],
  };
  return callService(reader, outside, (secrets) => secrets.read(organizationId, name, use));
}
