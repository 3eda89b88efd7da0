/** The activity `resolveWorkflow`: reads the definition for a child run, which starts with this snapshot. */
import { type HostActions, lightTypes } from '../../src/actions/load.ts';
import { lightActionsOf } from '../../src/definition/document/light-actions.ts';
import { exactJsonBytes } from '../../src/json/bytes.ts';
import { isObject, type Json } from '../../src/json/json.ts';
import { ActivityError } from '../runtime/failure.ts';
import { type ActivityHandler, RESULT_LIMIT_BYTES } from '../runtime/wrap-activity.ts';
import type { RunReader } from './run-reader.ts';

/** Codes that a retry does not change. */
const FINAL: ReadonlySet<string> = new Set([
  'workflow_not_found',
  'workflow_disabled',
  'version_not_found',
  'version_missing',
  'not_an_employee',
]);

/**
 * Config `{workflow, version?, employee?, inputBytes}`; data `{definition, hash, light}`. `light` is RunInput.light of
 * the child. `inputBytes` is the size of the
 * input of the child. If both do not fit into one start, the activity fails with `payload_too_large`.
 */
export function resolveWorkflowActivity(reader: RunReader | undefined, actions: HostActions): ActivityHandler {
  return async (config, { input }) => {
    const { workflow, version, employee, inputBytes } = isObject(config) ? config : {};
    const { definition, hash } = await resolveDefinition(reader, input.execution.organizationId, {
      workflow: String(workflow),
      ...(typeof version === 'string' ? { version } : {}),
      ...(employee === true ? { employee } : {}),
    });
    const bytes = exactJsonBytes(definition) + (typeof inputBytes === 'number' ? inputBytes : 0);
    if (bytes > RESULT_LIMIT_BYTES)
      throw new ActivityError(
        'payload_too_large',
        `The definition of '${String(workflow)}' and its input have ${bytes} bytes; the limit is ` +
          `${RESULT_LIMIT_BYTES}. Pass less.`,
        { details: { bytes, limit: RESULT_LIMIT_BYTES } },
      );
    const light = lightActionsOf(definition, lightTypes(actions)) ?? [];
    return { data: { definition: definition as unknown as Json, hash, light: [...light] } };
  };
}

/** @throws ActivityError with one of the codes above, `runs_unavailable` or `definitions_unavailable` */
export async function resolveDefinition(
  reader: RunReader | undefined,
  ...wanted: Parameters<RunReader['resolve']>
): ReturnType<RunReader['resolve']> {
  if (reader === undefined)
    throw new ActivityError('runs_unavailable', 'This worker cannot read definitions. Start it with the master key.');
  try {
    return await reader.resolve(...wanted);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code === 'string' && FINAL.has(code)) throw new ActivityError(code, (error as Error).message);
    throw new ActivityError('definitions_unavailable', 'The definition could not be read.', { retryable: true });
  }
}
