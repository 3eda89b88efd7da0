/**
 * Prepares a run of a stored workflow: makes its input from the payload, and checks it against the definition
 * (LANGUAGE.md §10).
 */

import { inputOf, type Mapping, type TriggerParts } from '../../definition/document/trigger-mapping.ts';
import { coerceState } from '../../definition/payload/format.ts';
import type { JsonObject } from '../../json/json.ts';
import { ClientError } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { resolveWorkflow } from '../versions/resolve-workflow.ts';
import { acceptedInput, acceptedState } from './accepted-input.ts';
import type { RunStart } from './begin-run.ts';

/** A run that is ready to start. StartRequest describes the start. */
export type PreparedRun = Omit<RunStart, 'trigger' | 'key' | 'initiator' | 'notify' | 'origin'>;

export interface RunSource {
  readonly workflow: string;
  /** Makes the input from `parts`. Default: the input is the body. */
  readonly mapping?: Mapping;
  readonly targetState?: JsonObject;
  readonly parts: TriggerParts;
  /** The JSON pointer of the payload in the request. Default: the payload is the whole body. */
  readonly at?: string;
}

/**
 * Reads the current definition and makes the run's input.
 * @throws ClientError `workflow_not_found`, `workflow_disabled`, `version_not_found`, `invalid_mapping`,
 * `invalid_input`.
 */
export async function prepareRun(access: Access, org: string, source: RunSource): Promise<PreparedRun> {
  const { definition, hash } = await resolveWorkflow(access, org, { workflow: source.workflow });
  const made = inputOf(source.mapping, source.parts);
  if ('problem' in made) throw new ClientError('invalid_mapping', made.problem);
  const state = acceptedState(definition, source.targetState ?? {}, coerceState);
  return { definition, hash, input: acceptedInput(definition, made.input, source.at), state };
}
