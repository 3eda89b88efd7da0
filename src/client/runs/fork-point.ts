/** The state of a run where a fork begins. The history is replayed with that one visit postponed. */

import type { RunError } from '../../contract/run/run.ts';
import { type RewindTarget, rewindOpenVisit } from '../../engine/resume/rewind.ts';
import type { RunState } from '../../engine/state/state.ts';
import type { FoldOptions } from '../../history/fold.ts';
import { RequestTargets } from '../../history/request-targets.ts';
import { NotRetryable, RetryPlan } from '../../history/retry-plan.ts';
import type { RunTrace } from '../../history/run-trace.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { Program } from '../../steps/program-types.ts';
import { ClientError, hasCode } from '../errors.ts';
import { foldSingleRun } from '../history/histories.ts';
import type { Access } from '../temporal/access.ts';

export interface ForkPoint {
  readonly program: Program;
  readonly state: RunState;
  /** The visit at which the fork begins. */
  readonly path: string;
  readonly target: RewindTarget;
}

/** The most paths that a refusal names. */
const MAX_PATHS = 100;

/**
 * The state at the end of the run as if the visit had not begun. Parallel branches keep their progress; failed branches
 * are in their state before the failure. Where the end removed the visit's place (a race that another branch won), it
 * is the state when the visit began. `from` is the path of a visit, or a slug that was visited once; it defaults to the
 * first visit. `error` is the run's failure.
 * @throws ClientError `no_such_step`, `ambiguous_step`, `not_retryable`.
 */
export async function findForkPoint(
  access: Access,
  executionId: string,
  lastRunId: string,
  from: string | undefined,
  error: RunError | undefined,
): Promise<ForkPoint> {
  const { runs, program, requestTargets } = await visitsOf(access, executionId, lastRunId);
  const visit = resolveVisit(runs, from);
  // Omits the effects of a retry after the visit.
  const end = runs.findIndex(({ restarted }, n) => n > visit.run && restarted);
  const part = runs.slice(visit.run, end < 0 ? runs.length : end).map(({ runId }) => runId);
  const replay = (options: Pick<ReplayOptions, 'runs' | 'error' | 'stopAtVisit'>) =>
    replayTo({ access, executionId, program, requestTargets, path: visit.path, ...options });
  const found =
    (end < 0 && error !== undefined ? await replay({ runs: part, error }) : undefined) ??
    (await replay({ runs: part })) ??
    (await replay({ runs: part.slice(0, 1), stopAtVisit: true }));
  if (found !== undefined) return found;
  throw new ClientError('not_retryable', `The history of the run does not tell how it stood at ${visit.path}.`);
}

export const unwalkable = (): ClientError =>
  new ClientError('not_retryable', 'The definition of this run cannot be walked. Mend it, and start a new run.');

interface VisitedRun {
  readonly runId: string;
  readonly restarted: boolean;
  /** Path → slug of the visits that began in it. */
  readonly visits: ReadonlyMap<string, string>;
}

/** The visits by run, oldest first. Where a part of the history is missing, the visits of the rest. */
async function visitsOf(
  access: Access,
  executionId: string,
  lastRunId: string,
): Promise<{ runs: VisitedRun[]; program: Program; requestTargets: RequestTargets }> {
  const runs: VisitedRun[] = [];
  const requestTargets = new RequestTargets();
  let program: Program | undefined;
  for (let runId: string | undefined = lastRunId; runId !== undefined; ) {
    const visits = new Map<string, string>();
    const onTraceLine: FoldOptions['onTraceLine'] = (line) => {
      if (line.t === 'begin' && line.stepType !== 'rollback') visits.set(line.path, line.slug);
    };
    let trace: RunTrace;
    try {
      const place = `${runId} `;
      trace = await foldSingleRun(access, executionId, runId, {
        onTraceLine,
        mapEvent: (event, at) => {
          requestTargets.note(at.program, at.state, event, place + at.place);
          return event;
        },
      });
    } catch (error) {
      if (runs.length > 0 && hasCode(error, 'not_retryable')) break;
      throw error;
    }
    program ??= trace.program;
    runs.unshift({ runId, restarted: trace.restarted, visits });
    runId = trace.continuedFrom;
  }
  if (program === undefined) throw unwalkable();
  return { runs, program, requestTargets };
}

/** `run`: the number of the run in which the visit began last. */
function resolveVisit(runs: readonly VisitedRun[], from: string | undefined): { path: string; run: number } {
  if (from === undefined) return firstVisit(runs);
  const lastWith = (path: string) => runs.findLastIndex(({ visits }) => visits.has(path));
  const known = runs[lastWith(from)]?.visits.get(from);
  if (known !== undefined && !isInnerCall(runs, from, known)) return { path: from, run: lastWith(from) };
  const paths = new Set<string>();
  for (const { visits } of runs)
    for (const [path, slug] of visits) if (slug === from && !isInnerCall(runs, path, slug)) paths.add(path);
  const [path] = paths;
  if (path === undefined)
    throw new ClientError('no_such_step', `The run has no visit '${from}'. Take a path of its steps.`);
  if (paths.size > 1)
    throw new ClientError('ambiguous_step', `'${from}' was visited ${paths.size} times; name one visit by its path.`, {
      details: { paths: [...paths].slice(0, MAX_PATHS) },
    });
  return { path, run: lastWith(path) };
}

function firstVisit(runs: readonly VisitedRun[]): { path: string; run: number } {
  const run = runs.findIndex(({ visits }) => visits.size > 0);
  const path = runs[run]?.visits.keys().next().value;
  if (path === undefined)
    throw new ClientError('no_such_step', 'The run has visited no step: there is nothing to fork. Start a new run.');
  return { path, run };
}

/** A call of an agent: its path is below the path of its visit. It is not a visit, so a fork cannot begin at it. */
function isInnerCall(runs: readonly VisitedRun[], path: string, slug: string): boolean {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    if (runs.some(({ visits }) => visits.get(path.slice(0, end)) === slug)) return true;
  return false;
}

interface ReplayOptions {
  readonly access: Access;
  readonly executionId: string;
  readonly program: Program;
  readonly requestTargets: RequestTargets;
  readonly path: string;
  readonly runs: readonly string[];
  /** Also omits failures beside the visit. */
  readonly error?: RunError;
  /** Ends the replay where the visit begins. */
  readonly stopAtVisit?: true;
}

/** Undefined where the visit no longer exists at the end. */
async function replayTo({
  access,
  executionId,
  program,
  requestTargets,
  path,
  runs,
  error,
  stopAtVisit,
}: ReplayOptions): Promise<ForkPoint | undefined> {
  let target: RewindTarget | undefined;
  let state: RunState | undefined;
  try {
    const failures = error === undefined ? undefined : new RetryPlan(error);
    if (failures !== undefined)
      for (const runId of runs) await foldSingleRun(access, executionId, runId, failures.searchOptions(runId));
    for (const runId of runs) {
      const replay = failures?.replayOptions(runId);
      const trace = await foldSingleRun(access, executionId, runId, {
        ...omitUndefined({ initialState: state }),
        postpone: (at, work) => {
          if (at !== path) return replay?.postpone?.(at, work) ?? false;
          target = work;
          return true;
        },
        mapEvent: (event, at) => {
          // A retry may have begun at it.
          target ??= rewindOpenVisit(program, at.state, path);
          if (stopAtVisit === true && target !== undefined) return undefined;
          return replay?.mapEvent === undefined
            ? requestTargets.withTarget(event, `${runId} ${at.place}`)
            : replay.mapEvent(event, at);
        },
      });
      state = trace.state;
    }
    if (state === undefined) return undefined;
    target ??= rewindOpenVisit(program, state, path);
    const { frames, ending } = state;
    if (target === undefined || ending !== undefined || frames[target.frame] === undefined) return undefined;
    state.work.push(...(failures?.postponed ?? []).filter(({ frame }) => frames[frame] !== undefined));
    return { program, state, path, target };
  } catch (reason) {
    if (reason instanceof NotRetryable) return undefined;
    throw reason;
  }
}
