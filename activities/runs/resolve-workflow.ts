/**
 * The activity `resolveWorkflow`: reads the definition for a child run, which starts with this snapshot, and checks the
 * child's input.
 */
import { type HostActions, lightTypes } from '../../src/actions/load.ts';
import { lightActionsOf } from '../../src/definition/document/light-actions.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import { exactJsonBytes } from '../../src/json/bytes.ts';
import { asJson, isObject, type Json } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { ActivityError, codeIn, requireService, transientError } from '../runtime/failure.ts';
import { type ActivityHandler, RESULT_LIMIT_BYTES } from '../runtime/wrap-activity.ts';
import type { RunReader } from './run-reader.ts';

/** Codes that a retry does not change. */
const PERMANENT_CODES: ReadonlySet<string> = new Set([
  'workflow_not_found',
  'workflow_disabled',
  'version_not_found',
  'version_missing',
  'not_an_employee',
  'invalid_input',
]);

/**
 * Config `{workflow, version?, employee?, input}`; data `{definition, hash, light, input?}`. `light` is RunInput.light
 * of the child. `input` is the child's, in the data only where defaults were added. Workers before 0.4 send its size as
 * `inputBytes` in its place. If definition and input do not fit into one start, the activity fails with
 * `payload_too_large`.
 */
export function resolveWorkflowActivity(reader: RunReader | undefined, actions: HostActions): ActivityHandler {
  return async (config, { input }) => {
    const { workflow, version, employee, inputBytes, input: given } = isObject(config) ? config : {};
    const { definition, hash } = await resolveDefinition(reader, input.execution.organizationId, {
      workflow: String(workflow),
      ...(typeof version === 'string' ? { version } : {}),
      ...(employee === true ? { employee } : {}),
    });
    const accepted = given === undefined ? undefined : acceptInput(reader, definition, given);
    const inputSize = accepted === undefined ? inputBytes : exactJsonBytes(accepted);
    const bytes = exactJsonBytes(definition) + (typeof inputSize === 'number' ? inputSize : 0);
    if (bytes > RESULT_LIMIT_BYTES)
      throw new ActivityError(
        'payload_too_large',
        `The definition of '${String(workflow)}' and its input have ${bytes} bytes; the limit is ` +
          `${RESULT_LIMIT_BYTES}. Pass less.`,
        { details: { bytes, limit: RESULT_LIMIT_BYTES } },
      );
    const light = lightActionsOf(definition, lightTypes(actions)) ?? [];
    const changed = accepted === given ? {} : omitUndefined({ input: accepted });
    return { data: { definition: asJson(definition), hash, light: [...light], ...changed } };
  };
}

/** @throws ActivityError with one of the codes above, `runs_unavailable` or `definitions_unavailable` */
export async function resolveDefinition(
  reader: RunReader | undefined,
  ...wanted: Parameters<RunReader['resolve']>
): ReturnType<RunReader['resolve']> {
  const definitions = requireService(reader, { code: 'runs_unavailable', lacking: 'cannot read definitions' });
  try {
    return await definitions.resolve(...wanted);
  } catch (error) {
    throw failureOf(error);
  }
}

/** @throws ActivityError `invalid_input`. */
function acceptInput(reader: RunReader | undefined, definition: Definition, input: Json): Json {
  try {
    return reader?.accept(definition, input) ?? input;
  } catch (error) {
    throw failureOf(error);
  }
}

function failureOf(error: unknown): ActivityError {
  const code = codeIn(error);
  if (code === undefined || !PERMANENT_CODES.has(code))
    return transientError('definitions_unavailable', 'The definition could not be read.');
  const { message, details } = error as Error & { details?: Json };
  return new ActivityError(code, message, omitUndefined({ details }));
}
