/**
 * Makes the state of a fork (ARCHITECTURE.md §3) from the state of a run that has ended. The fork has the outputs,
 * variables and state from before its target, and the frames outside the target. It has no inbox, no rollbacks and no
 * open waits: other visits that were open then begin again.
 */

import type { AppliedLimit } from '../../contract/limits/limiter.ts';
import { assert } from '../../json/assert.ts';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { DAG_STEP } from '../../steps/kinds/dag.ts';
import type { Program } from '../../steps/program-types.ts';
import { defaultsOf } from '../state/initial.ts';
import type { Frame, RunState } from '../state/state.ts';
import { type RewindTarget, resumedState, rewindOpenVisit } from './rewind.ts';

/** Changes of the fork. Members are merged into the existing values; `steps` has the data of outputs by slug. */
export interface ForkEdits {
  readonly input?: Json;
  readonly variables?: { readonly [name: string]: Json };
  readonly state?: { readonly [key: string]: Json };
  readonly outputs?: { readonly [name: string]: Json };
  readonly steps?: { readonly [slug: string]: Json };
}

interface ForkStart {
  readonly executionId: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly limiters: readonly AppliedLimit[];
  readonly hash?: string;
  /** Who forks, and who started the runs before. */
  readonly initiator?: string;
  readonly requesters?: readonly string[];
}

/** The visits that begin in the fork: the target, then the others that were open then. Rewinds them in `state`. */
export function forkWork(program: Program, state: RunState, target: RewindTarget): RewindTarget[] {
  const reopened: RewindTarget[] = [];
  for (const { visit } of Object.values(state.frames)) {
    if (visit === undefined || visit.frames.length > 0) continue;
    const work = rewindOpenVisit(program, state, visit.path);
    if (work !== undefined) reopened.push(work);
  }
  return [target, ...reopened];
}

/** `program`: the version that the fork runs. It has every step of `work` (`missingStepReason`). */
export function forkState(
  program: Program,
  ended: RunState,
  work: readonly RewindTarget[],
  edits: ForkEdits,
  { executionId, at, limiters, hash, initiator, requesters }: ForkStart,
): RunState {
  const { parentId: _parent, hash: _hash, initiator: _initiator, requesters: _requesters, ...genesis } = ended.genesis;
  const { draining: _drain, rollback: _rolling, ending: _ending, costs: _costs, model: _model, ...others } = ended;
  const {
    models: _models,
    droppedCount: _dropped,
    refusedUpTo: _refused,
    decided: _decided,
    ...carriedMembers
  } = others;
  const { definition } = program;
  const state: RunState = {
    ...carriedMembers,
    genesis: {
      ...genesis,
      executionId,
      startedAt: at,
      input: edits.input === undefined ? genesis.input : edits.input,
      ...omitUndefined({ hash, initiator, requesters }),
    },
    // Results of commands are dropped. Other frames that have ended still resume their container.
    work: ended.work.filter((one) => one.do === 'visit' || (one.do === 'resume' && one.event.on === 'frame')),
    openCommands: {},
    sentCount: 0,
    backlog: [],
    variables: { ...definition.config?.variables, ...ended.variables, ...edits.variables },
    state: { ...defaultsOf(definition), ...ended.state, ...edits.state },
    outputs: { ...ended.outputs, ...edits.outputs },
    inbox: [],
    inboxBytes: 0,
    messageIds: [],
    requestAnswers: {},
    rollbackSteps: [],
    visits: 0,
    viewDigest: '',
  };
  for (const [slug, data] of Object.entries(edits.steps ?? {})) setOutput(program, state, work[0]!.frame, slug, data);
  return resumedState(program, state, { work, at, limiters });
}

/** Sets the output where the target reads it: in the nearest frame with the entry, else in its own frame. */
function setOutput(program: Program, state: RunState, frameId: string, slug: string, data: Json): void {
  const step = program.steps.get(slug);
  if (step === undefined) return;
  const own = state.frames[frameId];
  assert(own !== undefined, 'The fork begins in a frame that it has kept.');
  let frame: Frame | undefined = own;
  while (frame !== undefined && !Object.hasOwn(frame.entries, slug))
    frame = frame.parent === undefined ? undefined : state.frames[frame.parent];
  const at = frame ?? own;
  const before = at.entries[slug]?.output;
  const output = { ...before, type: step.kind.type, data };
  at.entries[slug] = { stepType: step.type, name: step.name, output };
  for (const one of Object.values(state.frames))
    if (before !== undefined && one.lastOutput === before) one.lastOutput = output;
}

/** Which step of `work` the program lacks; undefined if it has them all. `same`: it is the version of the run. */
export function missingStepReason(
  program: Program,
  state: RunState,
  work: readonly RewindTarget[],
  same: boolean,
): string | undefined {
  if (same) return undefined;
  if (
    program.start === DAG_STEP ||
    state.frames['']?.visit?.key === DAG_STEP ||
    state.frames['']?.visit?.slug === DAG_STEP
  )
    return 'a graph (flow: dag) is forked in the version that it ran in';
  for (const { frame: id, slug } of work) {
    const missing = enclosingSteps(state, id, slug).find(
      ({ slug: inner, within, branch }) => !hasStepInBody(program, inner, within, branch),
    );
    if (missing !== undefined) return `the step '${missing.slug}' ${describeBody(missing)} is not in this version`;
  }
  return undefined;
}

const describeBody = ({ within }: StepNesting): string =>
  within === undefined ? 'at the top' : `in the body of '${within}'`;

interface StepNesting {
  readonly slug: string;
  readonly within: string | undefined;
  readonly branch?: string;
}

/** The step, and the containers around it from the inside out. */
function enclosingSteps(state: RunState, frameId: string, slug: string): StepNesting[] {
  const line: StepNesting[] = [];
  let inner = slug;
  for (let frame = state.frames[frameId]; frame !== undefined; ) {
    for (const { slug: loop } of [...frame.loops].reverse()) {
      line.push({ slug: inner, within: loop });
      inner = loop;
    }
    const parent: Frame | undefined = frame.parent === undefined ? undefined : state.frames[frame.parent];
    const within = parent?.visit?.slug;
    line.push({
      slug: inner,
      within,
      ...(frame.name === undefined || frame.item !== undefined ? {} : { branch: frame.name }),
    });
    inner = within ?? inner;
    frame = parent;
  }
  return line;
}

function hasStepInBody(
  program: Program,
  slug: string,
  within: string | undefined,
  branch: string | undefined,
): boolean {
  const step = program.steps.get(slug);
  if (step === undefined) return false;
  // finish, return and fail belong to no region.
  if (step.kind.class === 'end') return true;
  if (program.regions.containerOf.get(slug) !== within) return false;
  if (within === undefined || branch === undefined) return true;
  return program.regions.regions.get(within)?.branches.get(branch)?.has(slug) === true;
}
