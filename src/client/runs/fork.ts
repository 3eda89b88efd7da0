/**
 * Fork (ARCHITECTURE.md §3): a new run that begins at a visit of a run that has ended, with the edited state of that
 * moment. The original's history is replayed up to that visit, so finished branches beside it stay finished.
 */

import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { RunInput } from '../../contract/run/run.ts';
import type { Definition, Problem } from '../../definition/document/types.ts';
import { type ForkEdits, forkState, forkWork, missingStepReason } from '../../engine/resume/fork.ts';
import { serialize } from '../../engine/state/serialize.ts';
import { runInputOf } from '../../engine/state/start.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { compileInChunks } from '../../steps/compile/program.ts';
import type { Program } from '../../steps/program-types.ts';
import { CooperativeScheduler } from '../concurrency/cooperative-scheduler.ts';
import { ClientError } from '../errors.ts';
import { readArgument, readCloseOutcome } from '../history/start-and-close-events.ts';
import { acceptedInput, acceptedState } from '../starts/accepted-input.ts';
import type { PreparedRun } from '../starts/prepare-run.ts';
import { type RequestKey, startRun } from '../starts/start.ts';
import { definitionOf, type StartedRun } from '../starts/start-prepared-run.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { isOpen } from '../temporal/run-status.ts';
import { resolveWorkflow } from '../versions/resolve-workflow.ts';
import { demandRunnableAgain } from '../versions/version-history.ts';
import { type ForkPoint, findForkPoint, unwalkable } from './fork-point.ts';
import { describeRun } from './run-read.ts';
import { outcomeOf } from './run-view.ts';

interface ForkRequest {
  /** The path of a visit, or the slug of a step that was visited once. Default: the first visit of the run. */
  readonly from?: string;
  readonly edits: ForkEdits;
  /** A hash or a number of the workflow; default: the definition that the original ran. */
  readonly version?: string;
  readonly initiator?: string;
  readonly key?: RequestKey;
}

/**
 * @throws ClientError `not_found`, `idempotency_conflict`, `still_open`, `no_such_step`, `ambiguous_step`,
 * `place_gone`, `not_retryable`, `invalid_input`, `version_not_found`, and the errors of startRun.
 */
export async function forkRun(
  access: WriteAccess,
  org: string,
  executionId: string,
  request: ForkRequest,
): Promise<StartedRun & { readonly warnings?: readonly Problem[] }> {
  const description = await describeRun(access, org, executionId);
  const argument = runInputOf(await readArgument<unknown>(access, executionId, description.runId));
  if (argument === undefined) throw unwalkable();
  const { definition, trigger = { type: 'temporal' as const } } = argument;
  const initiator = request.initiator ?? argument.initiator;
  const requesters = requestersOf(argument, initiator);
  let warnings: readonly Problem[] = [];
  const started = await startRun(access, org, {
    trigger,
    // A repeated request gets the earlier fork, even while the original continues after a retry.
    ...omitUndefined({ initiator, key: request.key }),
    run: {
      workflows: [definition.slug],
      prepare: async () => {
        const persons = omitUndefined({ initiator, requesters });
        const planned = await planFork(access, org, description, argument, { ...request, ...persons });
        warnings = planned.warnings;
        return planned.run;
      },
    },
  });
  return warnings.length === 0 ? started : { ...started, warnings };
}

/** Those who started the original, or what it was forked from, without who forks. */
function requestersOf(
  { initiator: first, requesters: before = [] }: RunInput,
  initiator: string | undefined,
): readonly string[] | undefined {
  const others = new Set([...(first === undefined ? [] : [first]), ...before]);
  if (initiator !== undefined) others.delete(initiator);
  return others.size === 0 ? undefined : [...others];
}

/** The run that begins at the visit, and warnings. @throws ClientError as forkRun. */
async function planFork(
  access: Access,
  org: string,
  description: WorkflowExecutionDescription,
  argument: RunInput,
  request: ForkRequest & Pick<RunInput, 'requesters'>,
): Promise<{ readonly run: PreparedRun; readonly warnings: readonly Problem[] }> {
  const executionId = description.workflowId;
  if (isOpen(description.status.name))
    throw new ClientError('still_open', 'The execution has not ended. Cancel or terminate it, or wait for its end.');
  if (request.from === undefined && argument.definition.flow === 'dag')
    throw new ClientError(
      'invalid_input',
      'Several steps of a graph (flow: dag) may come first: say in `from` where the fork begins.',
    );
  const closing = await readCloseOutcome(access, executionId, description.runId);
  const error = closing?.how === 'failed' ? outcomeOf(closing).error : undefined;
  const forkPoint = await findForkPoint(access, executionId, description.runId, request.from, error);
  const chosen =
    request.version === undefined
      ? await originalDefinition(access, org, argument)
      : await resolveWorkflow(access, org, { workflow: argument.definition.slug, version: request.version });
  const program = request.version === undefined ? forkPoint.program : await programOf(chosen.definition);
  const work = forkWork(forkPoint.program, forkPoint.state, forkPoint.target);
  const problem = missingStepReason(program, forkPoint.state, work, request.version === undefined);
  if (problem !== undefined)
    throw new ClientError(
      'place_gone',
      `The run cannot be forked at ${forkPoint.path}: ${problem}. Choose another version.`,
    );
  const edits = validatedEdits(program, request.edits);
  const { genesis } = forkPoint.state;
  const { initiator, requesters } = request;
  const run: PreparedRun = {
    definition: chosen.definition,
    ...omitUndefined({ hash: chosen.hash }),
    input: edits.input === undefined ? genesis.input : edits.input,
    forkOf: { executionId, path: forkPoint.path },
    carried: (id, limiters) =>
      serialize(
        program,
        forkState(program, forkPoint.state, work, edits, {
          executionId: id,
          at: Date.now(),
          limiters,
          ...omitUndefined({ hash: chosen.hash, initiator, requesters }),
        }),
      ),
    ...omitUndefined({ inline: argument.inline, sealedSecrets: argument.sealedSecrets }),
    ...omitUndefined({ timeoutMs: argument.timeoutMs, requesters }),
  };
  return { run, warnings: request.version === undefined ? [] : changedKinds(forkPoint, program) };
}

/** What the original walks. @throws ClientError `version_not_found` where that must not run. */
async function originalDefinition(
  access: Access,
  org: string,
  argument: RunInput,
): Promise<Pick<RunInput, 'hash'> & Pick<PreparedRun, 'definition'>> {
  await demandRunnableAgain(access, org, argument);
  return { definition: definitionOf(argument), ...omitUndefined({ hash: argument.hash }) };
}

/**
 * Steps whose kind in this version differs from the kind in the run. Their outputs stay, or they begin as the new kind.
 */
function changedKinds({ program: before, state, target }: ForkPoint, program: Program): Problem[] {
  const slugs = new Set([target.slug, ...Object.values(state.frames).flatMap(({ entries }) => Object.keys(entries))]);
  return [...slugs].flatMap((slug) => {
    const [old, now] = [before.steps.get(slug)?.kind.type, program.steps.get(slug)?.kind.type];
    if (old === undefined || now === undefined || old === now) return [];
    const change = `was of kind '${old}' in the run, and is of kind '${now}' in this version`;
    const effect = slug === target.slug ? 'It begins as that.' : 'What it has put out is kept as it was.';
    const message = `The step '${slug}' ${change}. ${effect}`;
    return [{ pointer: `/steps/${slug}/stepType`, code: 'kind_changed', message }];
  });
}

async function programOf(definition: Definition): Promise<Program> {
  const result = await new CooperativeScheduler().run(compileInChunks(definition));
  if ('program' in result) return result.program;
  throw unwalkable();
}

/** @throws ClientError `invalid_input`. */
function validatedEdits(program: Program, edits: ForkEdits): ForkEdits {
  const { definition } = program;
  const unknown = Object.keys(edits.steps ?? {}).find((slug) => !program.steps.has(slug));
  if (unknown !== undefined)
    throw new ClientError('invalid_input', `The edits name a step '${unknown}', which is not in the definition.`);
  return {
    ...edits,
    ...(edits.input === undefined ? {} : { input: acceptedInput(definition, edits.input, '/edits/input') }),
    ...(edits.state === undefined ? {} : { state: acceptedState(definition, edits.state) }),
  };
}
