/**
 * What all triggers do when they fire, whoever noticed it: the current definition, the input that the mapping makes of what
 * came, held against what the definition declares, and a run (LANGUAGE.md §10).
 */

import type { RunTrigger } from '../../contract/run.ts';
import { ownerOfTrigger, type Trigger } from '../../contract/trigger.ts';
import { inputOf, type Mapping, type TriggerParts } from '../../definition/document/trigger-mapping.ts';
import type { Definition } from '../../definition/document/types.ts';
import { coerceState } from '../../definition/payload/format.ts';
import { defined } from '../../json/defined.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { ClientError, hasCode } from '../errors.ts';
import { acceptedInput, acceptedState } from '../runs/accepted-input.ts';
import { findKeyedRun, orAsBefore, type RunStart, type StartedRun, startRun } from '../runs/run-start.ts';
import type { Access } from '../temporal/access.ts';
import { resolveWorkflow } from '../versions/resolve-workflow.ts';
import { dropTriggers, workflowOfTrigger } from './triggers.ts';

/** What a trigger without a workflow of its own, or with one that is no agent, sends its prompt to. */
export const ORCHESTRATOR = 'orchestrator';

/** A run that could be started. */
export interface Prepared {
  readonly definition: Definition;
  readonly hash: string;
  readonly input: Json;
  readonly state: NonNullable<RunStart['state']>;
}

export interface Occasion {
  readonly workflow: string;
  readonly mapping?: Mapping;
  readonly targetState?: JsonObject;
  readonly parts: TriggerParts;
  /** Where in the request the payload stands; default: it is the whole of it. */
  readonly at?: string;
}

/**
 * Reads the workflow and makes the run's input.
 * @throws ClientError `workflow_not_found`, `workflow_disabled`, `version_not_found`, `invalid_mapping`, `invalid_input`.
 */
export async function prepareRun(access: Access, org: string, occasion: Occasion): Promise<Prepared> {
  const { definition, hash } = await resolveWorkflow(access, org, { workflow: occasion.workflow });
  const made = inputOf(occasion.mapping, occasion.parts);
  if ('problem' in made) throw new ClientError('invalid_mapping', made.problem);
  const state = acceptedState(definition, occasion.targetState ?? {}, coerceState);
  return { definition, hash, input: acceptedInput(definition, made.input, occasion.at), state };
}

/** What a run knows of its start, beside what it is. */
export type Start = Pick<RunStart, 'trigger' | 'key' | 'initiator' | 'owner' | 'notify' | 'origin'>;

/** @throws ClientError as startRun. */
export function startPrepared(access: Access, org: string, prepared: Prepared, start: Start): Promise<StartedRun> {
  return startRun(access, org, { ...prepared, ...start });
}

/**
 * Starts the run of a trigger that is stored, or answers what the key had started before. `at`: as of Occasion.
 * @throws ClientError as prepareTrigger and startRun.
 */
export async function fireTrigger(
  access: Access,
  org: string,
  trigger: Trigger,
  parts: TriggerParts,
  start: Omit<Start, 'trigger'> & { readonly trigger: Omit<RunTrigger, 'id'> },
  at?: string,
): Promise<StartedRun> {
  const { key } = start;
  return orAsBefore(
    async () => {
      const prepared = await prepareTrigger(access, org, trigger, parts, at);
      const owner = ownerOfTrigger(trigger);
      return startPrepared(access, org, prepared, { ...start, owner, trigger: { ...start.trigger, id: trigger.id } });
    },
    async () => key && findFired(access, org, targetsOf(trigger), key),
  );
}

/**
 * What the key had started by a trigger that there is no longer, whatever that started.
 * @throws ClientError `idempotency_conflict`.
 */
export const findFiredBefore = (
  access: Access,
  org: string,
  triggerId: string,
  key: NonNullable<Start['key']>,
): Promise<StartedRun | undefined> => findFired(access, org, [workflowOfTrigger(triggerId), ORCHESTRATOR], key);

async function findFired(
  access: Access,
  org: string,
  workflows: readonly string[],
  key: NonNullable<Start['key']>,
): Promise<StartedRun | undefined> {
  for (const slug of workflows) {
    const known = await findKeyedRun(access, org, slug, key);
    if (known !== undefined) return known;
  }
  return undefined;
}

/**
 * The run of a trigger that is stored. One that its definition no longer has takes itself away.
 * @throws ClientError `trigger_disabled`, `not_an_agent`, and what prepareRun throws.
 */
export async function prepareTrigger(
  access: Access,
  org: string,
  trigger: Trigger,
  parts: TriggerParts,
  at?: string,
): Promise<Prepared> {
  if (!trigger.enabled)
    throw new ClientError('trigger_disabled', `The trigger ${trigger.id} is disabled. Enable it first.`);
  const { config = {}, variableMapping, targetState } = trigger;
  const occasion = {
    workflow: trigger.workflow,
    // What a mapping makes stands nowhere in the request.
    ...(variableMapping === undefined ? { at: at ?? '' } : { mapping: variableMapping }),
    ...defined({ targetState }),
    parts,
  };
  if (config['target'] === 'orchestrator') {
    const prompted = { ...occasion, parts: { ...parts, body: { prompt: config['prompt'] ?? '' } } };
    return prepareAgent(access, org, prompted);
  }
  try {
    const prepared = await prepareRun(access, org, occasion);
    if (isWrittenIn(prepared.definition, trigger)) return prepared;
  } catch (error) {
    if (!hasCode(error, 'workflow_not_found')) throw error;
    if (trigger.source.of === 'api') throw error;
  }
  // The write that dropped it was interrupted before it came here.
  await dropTriggers(access, org, trigger.workflow, [trigger.name], writtenAt(trigger));
  throw new ClientError(
    'not_found',
    `The definition of ${trigger.workflow} no longer has the trigger ${trigger.name}.`,
  );
}

/** The workflows that the trigger may start. */
const targetsOf = ({ workflow, config }: Trigger): readonly string[] =>
  config?.['target'] === 'orchestrator' ? [...new Set([workflow, ORCHESTRATOR])] : [workflow];

/** The prompt goes to the trigger's own workflow if that is an agent, else to the orchestrator (document 002). */
async function prepareAgent(access: Access, org: string, occasion: Occasion): Promise<Prepared> {
  for (const workflow of new Set([occasion.workflow, ORCHESTRATOR])) {
    const { definition } = await resolveWorkflow(access, org, { workflow });
    if (definition.type === 'agent' || definition.type === 'employee')
      return prepareRun(access, org, { ...occasion, workflow });
  }
  throw new ClientError(
    'not_an_agent',
    `The prompt of an orchestrator's trigger goes to an agent, and neither ${occasion.workflow} nor ${ORCHESTRATOR} is one. Give one of them type: agent.`,
  );
}

const isWrittenIn = (definition: Definition, { source, name, type }: Trigger): boolean =>
  source.of === 'api' || (definition.triggers ?? []).some((one) => one.name === name && one.type === type);

const writtenAt = ({ source }: Trigger): number => (source.of === 'definition' ? source.revision : 0);
