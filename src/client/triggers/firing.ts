/**
 * Starts the run of a stored trigger: by a schedule, an event or by hand (LANGUAGE.md §10). Webhooks do not read their
 * trigger, because their path holds what they need (hooks.ts).
 */

import type { RunTrigger } from '../../contract/run/run.ts';
import { ownerOfTrigger, type Trigger } from '../../contract/triggers/trigger.ts';
import type { TriggerRequest } from '../../definition/document/trigger-mapping.ts';
import type { Definition } from '../../definition/document/types.ts';
import type { JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { ClientError, hasCode } from '../errors.ts';
import { type PreparedRun, prepareRun, type RunSource } from '../starts/prepare-run.ts';
import { type StartRequest, type StartResult, startRun } from '../starts/start.ts';
import type { StartedRun } from '../starts/start-prepared-run.ts';
import type { WriteAccess } from '../temporal/access.ts';
import { resolveWorkflow } from '../versions/resolve-workflow.ts';
import { deleteDroppedTriggers, workflowOfTrigger } from './triggers.ts';

/** The workflow that gets the prompt of a trigger whose own workflow is not an agent. */
export const ORCHESTRATOR = 'orchestrator';

/**
 * A stored trigger that fires. Its id is known before it is read, so a repeat finds the run of a deleted trigger too.
 */
interface FireRequest extends Omit<StartRequest, 'run' | 'trigger'> {
  readonly triggerId: string;
  readonly read: () => Promise<Trigger> | Trigger;
  readonly parts: TriggerRequest;
  readonly type: RunTrigger['type'];
  readonly metadata?: JsonObject;
  /** As in RunSource. */
  readonly at?: string;
}

/** Starts the run of a stored trigger. @throws ClientError as prepareTrigger and startRun. */
export async function fireTrigger(
  access: WriteAccess,
  org: string,
  request: FireRequest & { readonly debounces: true },
): Promise<StartResult>;
export async function fireTrigger(access: WriteAccess, org: string, request: FireRequest): Promise<StartedRun>;
export async function fireTrigger(access: WriteAccess, org: string, request: FireRequest): Promise<StartResult> {
  const { triggerId, read, parts, type, metadata, at, ...start } = request;
  return startRun(access, org, {
    ...start,
    trigger: { type, id: triggerId, ...omitUndefined({ metadata }) },
    run: {
      // A trigger with the target `orchestrator` starts its own workflow or the orchestrator.
      workflows: [...new Set([workflowOfTrigger(triggerId), ORCHESTRATOR])],
      prepare: async () => prepareTrigger(access, org, await read(), parts, at),
    },
  });
}

/**
 * The run of a stored trigger. Deletes a trigger that its definition no longer has.
 * @throws ClientError `trigger_disabled`, `not_an_agent`, and the errors of prepareRun.
 */
async function prepareTrigger(
  access: WriteAccess,
  org: string,
  trigger: Trigger,
  parts: TriggerRequest,
  at?: string,
): Promise<PreparedRun> {
  if (!trigger.enabled)
    throw new ClientError('trigger_disabled', `The trigger ${trigger.id} is disabled. Enable it first.`);
  const { config = {}, workflow, variableMapping, targetState } = trigger;
  const source: RunSource = {
    definitionRef: { workflow },
    owner: ownerOfTrigger(trigger),
    // The output of a mapping has no place in the request.
    ...(variableMapping === undefined ? { at: at ?? '' } : { mapping: variableMapping }),
    ...omitUndefined({ targetState }),
    parts,
  };
  if (config['target'] === 'orchestrator') {
    const prompted = { ...source, parts: { ...parts, body: { prompt: config['prompt'] ?? '' } } };
    return prepareAgent(access, org, workflow, prompted);
  }
  try {
    const prepared = await prepareRun(access, org, source);
    if (isInDefinition(prepared.definition, trigger)) return prepared;
  } catch (error) {
    if (!hasCode(error, 'workflow_not_found')) throw error;
    if (trigger.source.of === 'api') throw error;
  }
  // The write that removed it was interrupted before it deleted the trigger.
  await deleteDroppedTriggers(access, org, workflow, [trigger.name], writtenRevision(trigger));
  throw new ClientError('not_found', `The definition of ${workflow} no longer has the trigger ${trigger.name}.`);
}

/** The prompt goes to the trigger's own workflow if that is an agent, else to the orchestrator. */
async function prepareAgent(access: WriteAccess, org: string, own: string, source: RunSource): Promise<PreparedRun> {
  for (const workflow of new Set([own, ORCHESTRATOR])) {
    const { definition } = await resolveWorkflow(access, org, { workflow });
    if (definition.type === 'agent' || definition.type === 'employee')
      return prepareRun(access, org, { ...source, definitionRef: { workflow } });
  }
  throw new ClientError(
    'not_an_agent',
    `The prompt of an orchestrator's trigger goes to an agent, and neither ${own} nor ` +
      `${ORCHESTRATOR} is one. Give one of them type: agent.`,
  );
}

const isInDefinition = (definition: Definition, { source, name, type }: Trigger): boolean =>
  source.of === 'api' || (definition.triggers ?? []).some((one) => one.name === name && one.type === type);

const writtenRevision = ({ source }: Trigger): number => (source.of === 'definition' ? source.revision : 0);
