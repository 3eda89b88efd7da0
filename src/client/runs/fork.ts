/**
 * Fork (ARCHITECTURE.md §5): a new run that begins at a visit of a run that has ended, with the edited state of that
 * moment. The original's history is replayed up to that visit, so finished branches beside it stay finished.
 */

import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { RunInput } from '../../contract/run.ts';
import type { Definition, Problem } from '../../definition/document/types.ts';
import { type ForkEdits, forkState, forkWork, placeGone } from '../../engine/resume/fork.ts';
import { serialize } from '../../engine/state/serialize.ts';
import { runInputOf } from '../../engine/state/start.ts';
import { defined } from '../../json/defined.ts';
import { compileInParts } from '../../steps/compile/program.ts';
import type { Program } from '../../steps/program-types.ts';
import { ClientError } from '../errors.ts';
import { acceptedInput, acceptedState } from '../starts/accepted-input.ts';
import { definitionOf, type StartedRun } from '../starts/begin-run.ts';
import type { PreparedRun } from '../starts/prepare-run.ts';
import { type RequestKey, startRun } from '../starts/start.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { readArgument, readClosing } from '../temporal/first-event.ts';
import { isOpen } from '../temporal/run-status.ts';
import { Turns } from '../temporal/turns.ts';
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
    ...defined({ initiator, key: request.key }),
    run: {
      workflows: [definition.slug],
      prepare: async () => {
        const persons = defined({ initiator, requesters });
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
  const closing = await readClosing(access, executionId, description.runId);
  const error = closing?.how === 'failed' ? outcomeOf(closing).error : undefined;
  const stood = await findForkPoint(access, executionId, description.runId, request.from, error);
  const chosen =
    request.version === undefined
      ? await walkedAgain(access, org, argument)
      : await resolveWorkflow(access, org, { workflow: argument.definition.slug, version: request.version });
  const program = request.version === undefined ? stood.program : await programOf(chosen.definition);
  const work = forkWork(stood.program, stood.state, stood.target);
  const gone = placeGone(program, stood.state, work, request.version === undefined);
  if (gone !== undefined)
    throw new ClientError('place_gone', `The run cannot be forked at ${stood.path}: ${gone}. Choose another version.`);
  const edits = acceptedEdits(program, request.edits);
  const { genesis } = stood.state;
  const { initiator, requesters } = request;
  const run: PreparedRun = {
    definition: chosen.definition,
    ...defined({ hash: chosen.hash }),
    input: edits.input === undefined ? genesis.input : edits.input,
    forkOf: { executionId, path: stood.path },
    carried: (id, gates) =>
      serialize(
        program,
        forkState(program, stood.state, work, edits, {
          executionId: id,
          at: Date.now(),
          gates,
          ...defined({ hash: chosen.hash, initiator, requesters }),
        }),
      ),
    ...defined({ inline: argument.inline, sealedSecrets: argument.sealedSecrets }),
    ...defined({ timeoutMs: argument.timeoutMs, requesters }),
  };
  return { run, warnings: request.version === undefined ? [] : changedKinds(stood, program) };
}

/** What the original walks. @throws ClientError `version_not_found` where that must not run. */
async function walkedAgain(
  access: Access,
  org: string,
  argument: RunInput,
): Promise<Pick<RunInput, 'hash'> & Pick<PreparedRun, 'definition'>> {
  await demandRunnableAgain(access, org, argument);
  return { definition: definitionOf(argument), ...defined({ hash: argument.hash }) };
}

/**
 * Steps whose kind in this version differs from the kind in the run. Their outputs stay, or they begin as the new kind.
 */
function changedKinds({ program: before, state, target }: ForkPoint, program: Program): Problem[] {
  const slugs = new Set([target.slug, ...Object.values(state.frames).flatMap(({ entries }) => Object.keys(entries))]);
  return [...slugs].flatMap((slug) => {
    const [old, now] = [before.steps.get(slug)?.kind.type, program.steps.get(slug)?.kind.type];
    if (old === undefined || now === undefined || old === now) return [];
    const does = slug === target.slug ? 'It begins as that.' : 'What it has put out is kept as it was.';
    return [
      {
        pointer: `/steps/${slug}/stepType`,
        code: 'kind_changed',
        message: `The step '${slug}' was of kind '${old}' in the run, and is of kind '${now}' in this version. ${does}`,
      },
    ];
  });
}

async function programOf(definition: Definition): Promise<Program> {
  const result = await new Turns().take(compileInParts(definition));
  if ('program' in result) return result.program;
  throw unwalkable();
}

/** @throws ClientError `invalid_input`. */
function acceptedEdits(program: Program, edits: ForkEdits): ForkEdits {
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
