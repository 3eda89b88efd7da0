/** Prepares a run, whoever starts it: finds its definition, makes its input, and checks both (LANGUAGE.md §10). */

import type { ClearSecret } from '../../definition/document/extract-secrets.ts';
import { inputOf, type Mapping, type TriggerRequest } from '../../definition/document/trigger-mapping.ts';
import type { Definition } from '../../definition/document/types.ts';
import { coerceState } from '../../definition/payload/format.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { ClientError } from '../errors.ts';
import { sealExtractedSecrets } from '../organization/secrets.ts';
import type { WriteAccess } from '../temporal/access.ts';
import {
  type ResolvedWorkflow,
  resolveWorkflow,
  shownWorkflow,
  type WantedWorkflow,
} from '../versions/resolve-workflow.ts';
import { acceptedInput, acceptedState, demandPresets } from './accepted-input.ts';
import type { RunStart } from './start-prepared-run.ts';

/** A run that is ready to start. StartRequest describes the start. */
export type PreparedRun = Omit<RunStart, 'trigger' | 'key' | 'initiator' | 'notify' | 'origin'>;

/** A definition that is not stored, with the secrets that were taken out of it. */
interface InlineDefinition extends ResolvedWorkflow {
  readonly secrets: readonly ClearSecret[];
}

export interface RunSource extends Pick<RunStart, 'presets' | 'timeoutMs' | 'owner'> {
  /**
   * The current version of a workflow, or a version of its history; the current version as the API shows it (`as`); or
   * a definition that is not stored.
   */
  readonly definitionRef: WantedWorkflow | { readonly workflow: string; readonly as: 'shown' } | InlineDefinition;
  /** Makes the input from `parts`. Default: the input is the body. */
  readonly mapping?: Mapping;
  readonly parts: TriggerRequest;
  /** The JSON pointer of the payload in the request. Default: the payload is the whole body. */
  readonly at?: string;
  /** Initial values of declared state keys. Those of a trigger (`targetState`) are converted to the declared types. */
  readonly state?: JsonObject;
  readonly targetState?: JsonObject;
  /** Whether the definition must be open to starts without an API key. */
  readonly isPublic?: true;
  /** Refuses the run, which a key may have started before. */
  readonly refusal?: ClientError;
}

/** A payload that came alone. */
export const bodyParts = (body: Json, now = Date.now()): TriggerRequest => ({
  body,
  query: {},
  headers: {},
  params: {},
  now,
});

/** Whether the definition is at hand. The run is then prepared without a call to Temporal. */
export const isInlineDefinition = (ref: RunSource['definitionRef']): ref is InlineDefinition => 'definition' in ref;

/**
 * @throws ClientError `not_found`, `workflow_not_found`, `workflow_disabled`, `version_not_found`, `version_missing`,
 * `invalid_mapping`, `unknown_preset`, `invalid_preset`, `invalid_input`, `public_start_not_allowed`,
 * `secret_too_short`, and the refusal.
 */
export async function prepareRun(access: WriteAccess, org: string, source: RunSource): Promise<PreparedRun> {
  const { definitionRef, parts, presets = {}, isPublic, refusal } = source;
  if (refusal !== undefined) throw refusal;
  const { definition, hash } = isInlineDefinition(definitionRef)
    ? definitionRef
    : await ('as' in definitionRef
        ? shownWorkflow(access, org, definitionRef.workflow)
        : resolveWorkflow(access, org, definitionRef));
  const mapped = inputOf(source.mapping, parts);
  if ('problem' in mapped) throw new ClientError('invalid_mapping', mapped.problem);
  const targetState = acceptedState(definition, source.targetState ?? {}, coerceState);
  demandPresets(definition, presets);
  const input = acceptedInput(definition, mapped.input, source.at);
  const state = { ...targetState, ...acceptedState(definition, source.state ?? {}) };
  if (isPublic === true) demandPublicStart(definition);
  return {
    definition,
    hash,
    input,
    state,
    ...(isInlineDefinition(definitionRef) ? { inline: true, ...sealedInlineSecrets(access, org, definitionRef) } : {}),
    ...omitUndefined({ presets: source.presets, timeoutMs: source.timeoutMs, owner: source.owner }),
  };
}

const sealedInlineSecrets = (
  access: WriteAccess,
  org: string,
  { hash, secrets }: InlineDefinition,
): Pick<PreparedRun, 'sealedSecrets'> =>
  secrets.length === 0 ? {} : { sealedSecrets: sealExtractedSecrets(access, org, hash, secrets) };

function demandPublicStart({ slug, config }: Definition): void {
  if (config?.publicStart === true) return;
  throw new ClientError(
    'public_start_not_allowed',
    `The workflow '${slug}' is not open to public starts. Its owner allows them by publicStart: true in its config.`,
  );
}
