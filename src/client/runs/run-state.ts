/** The state and definition of a run, read from its history. It needs no worker, and works for ended runs too. */

import type { RunStatus } from '../../contract/run/run.ts';
import { extractSecrets } from '../../definition/document/extract-secrets.ts';
import type { Definition } from '../../definition/document/types.ts';
import { runInputOf } from '../../engine/state/start.ts';
import type { RunState } from '../../engine/state/state.ts';
import { waitsOf } from '../../engine/state/waits.ts';
import { openVisits } from '../../engine/walk/address.ts';
import type { Unreadable } from '../../history/events.ts';
import type { RunTrace } from '../../history/run-trace.ts';
import { asJson, type Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { ClientError } from '../errors.ts';
import { readArgument } from '../history/start-and-close-events.ts';
import { definitionOf } from '../starts/start-prepared-run.ts';
import type { Access } from '../temporal/access.ts';
import { isOpen } from '../temporal/run-status.ts';
import { withoutTooDeep } from '../temporal/unreadable-data.ts';
import { describeRun, executionOf } from './run-read.ts';
import { executionView } from './run-view.ts';
import { readFolded } from './trace-chain.ts';

/** An open visit. Of nested visits only the innermost is listed. */
interface CurrentStep {
  readonly path: string;
  readonly stepSlug: string;
  readonly stepType: string;
  readonly status: 'running' | 'waiting';
  /** ISO 8601. */
  readonly since: string;
}

export interface ExecutionState {
  readonly status: RunStatus;
  readonly variables: Json;
  readonly state: Json;
  readonly outputs: Json;
  readonly currentSteps: readonly CurrentStep[];
  /** The history is ambiguous (E6). */
  readonly uncertain: boolean;
  readonly unreadable?: Unreadable;
}

/** @throws ClientError `not_found`, `temporal_unreachable`. */
export async function readState(access: Access, org: string, executionId: string): Promise<ExecutionState> {
  const description = await describeRun(access, org, executionId);
  const execution = executionOf(description);
  const folded = await readFolded(access, executionId, description.runId);
  const { variables = {}, state = {}, outputs = {} }: Partial<RunState> = folded.state ?? {};
  const answer: ExecutionState = {
    status: executionView(access, execution).status,
    variables,
    state,
    outputs,
    currentSteps: isOpen(execution.status) ? currentSteps(folded) : [],
    uncertain: folded.guesses.length > 0,
  };
  const { value, unreadable = folded.unreadable } = withoutTooDeep(answer, ['variables', 'state', 'outputs']);
  return unreadable === undefined ? value : { ...value, unreadable };
}

function currentSteps({ state, program, waiting }: RunTrace): CurrentStep[] {
  if (state === undefined || state.ending !== undefined) return [];
  return openVisits(state).flatMap(({ visit }): CurrentStep[] => {
    const step = program?.steps.get(visit.key ?? visit.slug);
    if (step === undefined || step.kind.class === 'container') return [];
    const waits = waiting.has(visit.path) || waitsOf(visit).length > 0;
    return [
      {
        path: visit.path,
        stepSlug: visit.slug,
        stepType: step.type,
        status: waits ? 'waiting' : 'running',
        since: new Date(visit.startedAt).toISOString(),
      },
    ];
  });
}

export interface ExecutionDefinition {
  readonly workflowId: string;
  readonly workflowVersion?: string;
  readonly workflowHash?: string;
  readonly definition: Definition;
}

/**
 * The definition that the run walks, as it was when the run began, and as its hash has it. Works for inline runs too,
 * and for workflows that were changed or deleted since.
 * @throws ClientError `not_found`, `payload_unreadable`, `temporal_unreachable`.
 */
export async function readSnapshot(access: Access, org: string, executionId: string): Promise<ExecutionDefinition> {
  const description = await describeRun(access, org, executionId);
  // A run that was continued as new, or is retried, carries its definition.
  const input = runInputOf(await readArgument<unknown>(access, executionId, description.runId));
  if (input === undefined)
    throw new ClientError('not_found', 'This run was started by hand with something that is no definition.');
  const { workflowId, workflowVersion, workflowHash } = executionView(access, executionOf(description), input);
  return {
    workflowId,
    ...omitUndefined({ workflowVersion, workflowHash }),
    definition: shownDefinition(definitionOf(input)),
  };
}

/** A definition that was started without the gateway may hold clear secrets, which must not be shown. */
export const shownDefinition = (definition: Definition): Definition =>
  extractSecrets(asJson(definition)).document as unknown as Definition;
