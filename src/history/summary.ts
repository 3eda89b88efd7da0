/**
 * What a run did, in an answer of bounded size: its steps with counts, and the iterations of its containers in ranges.
 * It is made of the visits without their values (`outlinesOf`), so a part of the run costs no more than all of it.
 */
import { assert } from '../json/assert.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { CHUNK_STEPS, type Chunks } from '../steps/chunks.ts';
import type { RowOutline, TraceRow } from './trace-rows.ts';

export type VisitStatus = TraceRow['status'];
export type Counts = { readonly [status in VisitStatus]?: number };

/** Times are epoch milliseconds. */
export interface StepSummary {
  readonly stepSlug: string;
  readonly stepType: string;
  readonly visits: number;
  readonly statuses: Counts;
  /** Of ended visits. */
  readonly ports: { readonly [port: string]: number };
  /** Attempts beyond the first of each visit. */
  readonly retries: number;
  readonly firstStartedAt: number;
  readonly lastStartedAt: number;
  readonly lastCompletedAt?: number;
  /** The sum over ended visits. */
  readonly durationMs: number;
  /** The newest visit, the oldest open one, and the newest that failed. */
  readonly last: RowOutline;
  readonly open?: RowOutline;
  readonly failed?: RowOutline;
}

export interface ContainerSummary {
  readonly stepSlug: string;
  readonly visits: number;
  /** The path of the newest visit. */
  readonly path: string;
  readonly kind: 'iterations' | 'ticks' | 'branches';
  /** Those that have begun. */
  readonly iterations: number;
  /** Those whose worst status is failed. */
  readonly failed: number;
  readonly ranges: readonly IterationRange[];
}

/** Iterations that follow one another, or a branch. Their ordinals are over all visits of the container, from 0. */
export interface IterationRange {
  readonly from: number;
  readonly to: number;
  /** Of the first of them. */
  readonly frame: string;
  readonly index?: number;
  readonly tick?: number;
  readonly branch?: string;
  readonly worst: VisitStatus;
  /** The iterations by their worst status. */
  readonly statuses: Counts;
  readonly firstFailed?: { readonly frame: string; readonly ordinal: number };
  readonly startedAt: number;
  /** Absent while one is open. */
  readonly completedAt?: number;
}

interface Summary {
  /** The visits that are counted, with inner rows and rollbacks. */
  readonly counted: number;
  /** In the order of their first visits. */
  readonly steps: readonly StepSummary[];
  readonly containers: readonly ContainerSummary[];
}

export interface SummaryQuery {
  /** Only visits in this frame, at any depth. */
  readonly within?: string;
  /** The most ranges of a container. */
  readonly ranges: number;
  /** The path of a container's visit: the ranges are of its iterations only, from one ordinal to another. */
  readonly container?: string;
  readonly from?: number;
  readonly to?: number;
}

/** The worst first. */
const SEVERITY: readonly VisitStatus[] = ['failed', 'running', 'waiting', 'cancelled', 'completed', 'skipped'];
const ROLLBACK = 'rollback';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type StepDraft = Mutable<Omit<StepSummary, 'statuses' | 'ports'>> & {
  statuses: { [status in VisitStatus]?: number };
  ports: Map<string, number>;
};

interface Iteration {
  readonly frame: string;
  readonly container: RowOutline;
  readonly place: Pick<RowOutline, 'index' | 'tick' | 'branch'>;
  worst: VisitStatus;
  startedAt: number;
  /** Infinite while one of its visits is open. */
  completedAt: number;
}

/** `briefs`: all visits, in order of start. */
export function* summaryOf(briefs: readonly RowOutline[], query: SummaryQuery): Chunks<Summary> {
  const places = new Frames(briefs, query.within);
  const steps = new Map<string, StepDraft>();
  const iterations = new Map<string, Iteration>();
  let counted = 0;
  for (const [n, row] of briefs.entries()) {
    if (n % (CHUNK_STEPS * CHUNK_STEPS) === 0) yield;
    if (!places.holds(row)) continue;
    counted++;
    if (row.inner === undefined && row.stepType !== ROLLBACK) addTo(steps, row);
    if (!places.isLatest(row)) continue;
    for (const { frame, container, first } of places.enclosingFrames(row)) {
      const known = iterations.get(frame);
      if (known === undefined) iterations.set(frame, iterationOf(frame, container, first, row));
      else add(known, row);
    }
  }
  return {
    counted,
    steps: [...steps.values()].map(({ ports, ...step }) => ({ ...step, ports: Object.fromEntries(ports) })),
    containers: containersOf(iterations, query),
  };
}

/** The frames of a run: which row is in which, and which container each belongs to. */
class Frames {
  readonly #within: string | undefined;
  /** The last row of each path: a retry has rows of its own. */
  readonly #latest = new Map<string, RowOutline>();
  /** The first row of each frame, which has the frame's place. */
  readonly #first = new Map<string, RowOutline>();
  readonly #inside = new Map<string, boolean>();

  constructor(briefs: readonly RowOutline[], within: string | undefined) {
    this.#within = within;
    for (const row of briefs) {
      this.#latest.set(row.path, row);
      if (row.frame !== undefined && !this.#first.has(row.frame)) this.#first.set(row.frame, row);
    }
  }

  isLatest(row: RowOutline): boolean {
    return this.#latest.get(row.path) === row;
  }

  holds({ frame }: RowOutline): boolean {
    return this.#within === undefined || (frame !== undefined && this.#isInside(frame));
  }

  /** The frames around a row up to the selected one, the innermost first, each with its container. */
  *enclosingFrames({ frame }: RowOutline): Generator<{ frame: string; container: RowOutline; first: RowOutline }> {
    for (let at = frame; at !== undefined && at !== this.#within; ) {
      const first = this.#first.get(at);
      const container = this.#containerOf(at);
      if (first === undefined || container === undefined) return;
      yield { frame: at, container, first };
      at = container.frame;
    }
  }

  #containerOf(frame: string): RowOutline | undefined {
    return this.#latest.get(this.#first.get(frame)?.container ?? '');
  }

  #isInside(frame: string): boolean {
    const visited: string[] = [];
    let at: string | undefined = frame;
    let isInside = false;
    for (; at !== undefined && !isInside; at = this.#containerOf(at)?.frame) {
      const known = this.#inside.get(at);
      isInside = known ?? at === this.#within;
      visited.push(at);
      if (known !== undefined) break;
    }
    for (const one of visited) this.#inside.set(one, isInside);
    return isInside;
  }
}

/** Whether a visit is in this frame, at any depth. `briefs`: all visits, in order of start. */
export function frameMatcher(briefs: readonly RowOutline[], frame: string): (row: RowOutline) => boolean {
  const frames = new Frames(briefs, frame);
  return (row) => frames.holds(row);
}

function addTo(steps: Map<string, StepDraft>, row: RowOutline): void {
  const { stepSlug, stepType, status, port, attempts, startedAt, completedAt } = row;
  let step = steps.get(stepSlug);
  if (step === undefined) {
    step = {
      stepSlug,
      stepType,
      visits: 0,
      statuses: {},
      ports: new Map(),
      retries: 0,
      firstStartedAt: startedAt,
      lastStartedAt: startedAt,
      durationMs: 0,
      last: row,
    };
    steps.set(stepSlug, step);
  }
  step.visits++;
  step.statuses[status] = (step.statuses[status] ?? 0) + 1;
  if (port !== undefined) step.ports.set(port, (step.ports.get(port) ?? 0) + 1);
  step.retries += Math.max(0, attempts - 1);
  step.firstStartedAt = Math.min(step.firstStartedAt, startedAt);
  step.lastStartedAt = Math.max(step.lastStartedAt, startedAt);
  step.last = row;
  if (status === 'failed') step.failed = row;
  if (completedAt === undefined) {
    step.open ??= row;
    return;
  }
  step.lastCompletedAt = Math.max(step.lastCompletedAt ?? 0, completedAt);
  step.durationMs += completedAt - startedAt;
}

function iterationOf(
  frame: string,
  container: RowOutline,
  { index, tick, branch }: RowOutline,
  row: RowOutline,
): Iteration {
  const { status: worst, startedAt, completedAt = Number.POSITIVE_INFINITY } = row;
  return { frame, container, place: omitUndefined({ index, tick, branch }), worst, startedAt, completedAt };
}

function add(iteration: Iteration, { status, startedAt, completedAt = Number.POSITIVE_INFINITY }: RowOutline): void {
  iteration.worst = worse(iteration.worst, status);
  iteration.startedAt = Math.min(iteration.startedAt, startedAt);
  iteration.completedAt = Math.max(iteration.completedAt, completedAt);
}

const worse = (a: VisitStatus, b: VisitStatus): VisitStatus => (SEVERITY.indexOf(b) < SEVERITY.indexOf(a) ? b : a);

function containersOf(iterations: ReadonlyMap<string, Iteration>, query: SummaryQuery): ContainerSummary[] {
  const bySlug = new Map<string, Iteration[]>();
  for (const one of iterations.values()) {
    const { path, stepSlug } = one.container;
    if (query.container !== undefined && path !== query.container) continue;
    const list = bySlug.get(stepSlug);
    if (list === undefined) bySlug.set(stepSlug, [one]);
    else list.push(one);
  }
  return [...bySlug].map(([stepSlug, list]) => {
    const { tick, branch } = list[0]!.place;
    const isBranches = branch !== undefined;
    return {
      stepSlug,
      visits: new Set(list.map(({ container }) => container.path)).size,
      path: list.at(-1)!.container.path,
      kind: isBranches ? 'branches' : tick === undefined ? 'iterations' : 'ticks',
      iterations: list.length,
      failed: list.filter(({ worst }) => worst === 'failed').length,
      ranges: isBranches ? branchesOf(list, query) : rangesOf(list, query),
    };
  });
}

/** One range for each branch, over all visits of the container. */
function branchesOf(list: readonly Iteration[], { ranges }: SummaryQuery): IterationRange[] {
  const branches = new Map<string, Iteration[]>();
  for (const one of list) {
    const name = one.place.branch ?? '';
    const known = branches.get(name);
    if (known === undefined) branches.set(name, [one]);
    else known.push(one);
  }
  return [...branches.values()].slice(0, ranges).map((of, n) => ({ ...rangeOf(of, 0), from: n, to: n }));
}

function rangesOf(
  list: readonly Iteration[],
  { ranges, from = 0, to = list.length - 1 }: SummaryQuery,
): IterationRange[] {
  const selected = list.slice(from, to + 1);
  const size = Math.max(1, Math.ceil(selected.length / ranges));
  return Array.from({ length: Math.ceil(selected.length / size) }, (_, n) =>
    rangeOf(selected.slice(n * size, (n + 1) * size), from + n * size),
  );
}

function rangeOf(list: readonly Iteration[], from: number): IterationRange {
  const [first] = list;
  assert(first !== undefined, 'A range has at least one iteration.');
  const statuses: { [status in VisitStatus]?: number } = {};
  for (const { worst } of list) statuses[worst] = (statuses[worst] ?? 0) + 1;
  const failed = list.findIndex(({ worst }) => worst === 'failed');
  const completedAt = list.reduce((latest, one) => Math.max(latest, one.completedAt), 0);
  return {
    from,
    to: from + list.length - 1,
    frame: first.frame,
    ...first.place,
    worst: list.reduce((worst, one) => worse(worst, one.worst), first.worst),
    statuses,
    ...(failed < 0 ? {} : { firstFailed: { frame: list[failed]!.frame, ordinal: from + failed } }),
    startedAt: list.reduce((earliest, one) => Math.min(earliest, one.startedAt), first.startedAt),
    ...(Number.isFinite(completedAt) ? { completedAt } : {}),
  };
}
