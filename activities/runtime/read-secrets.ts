/** Reads the secrets of one activity, from the run's own organization only. */
import type { ActivityInput, RunsDefinition } from '../../src/contract/activity.ts';
import { defined } from '../../src/json/defined.ts';
import { ActivityError } from './failure.ts';

/** Reads secrets. Throws errors with a `code`: `secret_not_found`, `secret_not_allowed`, `secret_unreadable`. */
export interface SecretReader {
  read(organizationId: string, name: string, use: SecretUse): Promise<string>;
}
export interface SecretUse {
  /** The host that receives the secret; if absent (not known before the read), a secret bound to hosts is refused. */
  readonly host?: string;
  readonly workflow: string;
  readonly definition?: RunsDefinition;
  /** The run. */
  readonly executionId: string;
}

/** Codes that a retry does not change. */
const FINAL: ReadonlySet<string> = new Set(['secret_not_found', 'secret_not_allowed', 'secret_unreadable']);

/** The values by name; each secret is read once. @throws ActivityError */
export async function readSecrets(
  input: ActivityInput,
  reader: SecretReader | undefined,
  host: string | undefined,
): Promise<ReadonlyMap<string, string>> {
  const names = new Set<string>();
  for (const { parts } of input.secrets) {
    for (const part of parts) if (typeof part !== 'string' && 'secret' in part) names.add(part.secret);
  }
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
  if (reader === undefined)
    throw new ActivityError('secrets_unavailable', 'This worker cannot read secrets. Start it with the master key.');
  const { id: executionId, organizationId, workflow, definition } = input.execution;
  try {
    return await reader.read(organizationId, name, {
      workflow,
      executionId,
      ...defined({ definition, host }),
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code === 'string' && FINAL.has(code)) throw new ActivityError(code, (error as Error).message);
    throw new ActivityError('secrets_unavailable', `The secret '${name}' could not be read.`, { retryable: true });
  }
}
