/**
 * Sums of a run in a scope: the whole run, or only chosen iterations. Choosing an iteration excludes the other
 * iterations of that container.
 */
import { REPEATING_KINDS } from './step-graph.ts';

export type VisitStatus = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'skipped';

/** A visit of a step, without its values. Times are epoch milliseconds. */
export interface Visit {
  /** Unique in the run: a retried run visits a path again. In the order of the starts. */
  readonly number: number;
  readonly path: string;
  readonly stepSlug: string;
  readonly stepType: string;
  readonly status: VisitStatus;
  readonly port?: string | undefined;
  readonly attempts: number;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  readonly frame?: string | undefined;
  readonly container?: string | undefined;
  readonly branch?: string | undefined;
  readonly index?: number | undefined;
  readonly tick?: number | undefined;
  readonly visit?: number | undefined;
  readonly inner?: boolean | undefined;
  readonly startedAt: number;
  readonly completedAt?: number | undefined;
}

/** A chosen iteration: the `n`-th, from 0, of one visit of its container. */
interface ChosenIteration {
  readonly slug: string;
  /** The number of the container's visit in its own frame, from 1. */
  readonly visit: number;
  readonly n: number;
}

/** The outer containers first. */
export type Scope = readonly ChosenIteration[];

/** A frame of the run: an iteration, a tick, or a branch. */
export interface Frame {
  readonly id: string;
  /** The step whose body it is. */
  readonly slug: string;
  readonly visit: number;
  /** Of an iteration or a tick. Undefined for a branch. */
  readonly n: number | undefined;
  readonly parent: Frame | undefined;
}

/** The worst first. */
const SEVERITY: readonly VisitStatus[] = ['failed', 'running', 'waiting', 'cancelled', 'completed', 'skipped'];
/** For a step, completed is worse than cancelled: a step that has completed a visit shows it. */
const STEP_SEVERITY: readonly VisitStatus[] = ['failed', 'running', 'waiting', 'completed', 'cancelled', 'skipped'];
const ROLLBACK = 'rollback';

/** `each:7`, `shops:1,pages@2:3`: pages of shop 1, in the second visit of `pages` the tick 3. */
export const formatScope = (scope: Scope): string =>
  scope.map(({ slug, visit, n }) => `${slug}${visit === 1 ? '' : `@${visit}`}:${n}`).join(',');

/** Parses `formatScope`. Invalid parts are ignored. */
export function parseScope(text: string | undefined): Scope {
  return (text ?? '').split(',').flatMap((part) => {
    const [, slug, visit, n] = /^([^@:,]+)(?:@(\d{1,9}))?:(\d{1,9})$/.exec(part) ?? [];
    return slug === undefined ? [] : [{ slug, visit: Number(visit ?? 1), n: Number(n) }];
  });
}

/** The scope of an iteration, with the iterations around it. */
export function scopeOfFrame(frame: Frame | undefined): Scope {
  const chain: ChosenIteration[] = [];
  for (let at = frame; at !== undefined; at = at.parent)
    if (at.n !== undefined) chain.unshift({ slug: at.slug, visit: at.visit, n: at.n });
  return chain;
}

const isSameIteration = (a: ChosenIteration, b: ChosenIteration | undefined): boolean =>
  b !== undefined && a.slug === b.slug && a.visit === b.visit && a.n === b.n;

/** The scope without the iterations of that container and of those inside it. */
export function withoutContainer(scope: Scope, slug: string): Scope {
  const at = scope.findIndex((choice) => choice.slug === slug);
  return at === -1 ? scope : scope.slice(0, at);
}

/** The frames of a run, of its visits in order of start. */
export class Frames {
  readonly #frames = new Map<string, Frame>();
  readonly #visits = new Map<string, Visit>();

  constructor(visits: Iterable<Visit>) {
    for (const visit of visits) this.add(visit);
  }

  add(visit: Visit): void {
    this.#visits.set(visit.path, visit);
    const { frame: id, container = '', index, tick } = visit;
    if (id === undefined || this.#frames.has(id)) return;
    const around = this.#visits.get(container);
    this.#frames.set(id, {
      id,
      slug: around?.stepSlug ?? slugOfPath(container),
      visit: around?.visit ?? 1,
      n: tick ?? index,
      parent: around?.frame === undefined ? undefined : this.#frames.get(around.frame),
    });
  }

  frameOf({ frame }: Pick<Visit, 'frame'>): Frame | undefined {
    return frame === undefined ? undefined : this.#frames.get(frame);
  }

  /** The frames that a scope chooses, by container. Null where the run has no such iteration. */
  chosen(scope: Scope): ReadonlyMap<string, Frame | null> {
    const chosen = new Map<string, Frame | null>();
    for (const choice of scope) {
      const fits = (frame: Frame): boolean =>
        isSameIteration(choice, { ...frame, n: frame.n ?? -1 }) && isInScope(frame.parent, chosen);
      chosen.set(choice.slug, this.#find(fits) ?? null);
    }
    return chosen;
  }

  #find(fits: (frame: Frame) => boolean): Frame | undefined {
    for (const frame of this.#frames.values()) if (fits(frame)) return frame;
    return undefined;
  }

  /** The iterations of all containers, in order of start. */
  *iterations(): Generator<Frame> {
    for (const frame of this.#frames.values()) if (frame.n !== undefined) yield frame;
  }
}

/** The step of a container whose visit is not known. */
const slugOfPath = (path: string): string => /[\w-]+/.exec(path.slice(path.lastIndexOf('/') + 1))?.[0] ?? '';

/** Whether a frame is in the scope: each container around it has no chosen iteration, or this one. */
function isInScope(frame: Frame | undefined, chosen: ReadonlyMap<string, Frame | null>): boolean {
  for (let at = frame; at !== undefined; at = at.parent) {
    const only = at.n === undefined ? undefined : chosen.get(at.slug);
    if (only !== undefined && only !== at) return false;
  }
  return true;
}

/** The sum of a step's visits in the scope. */
export interface StepSum {
  status: VisitStatus;
  visits: number;
  /** Visits that failed and that no later visit of the same frame followed. */
  failed: number;
  open: number;
  retries: number;
  /** Of ended visits. */
  durationMs: number;
  ports: Map<string, number>;
}

/** Of a step that was not visited yet. */
export const emptySum = (): StepSum => ({
  ...{ status: 'skipped', visits: 0, failed: 0, open: 0, retries: 0, durationMs: 0 },
  ports: new Map(),
});

/** An iteration in a strip. */
export interface Iteration {
  readonly frame: Frame;
  worstStatus: VisitStatus;
}

export interface Sums {
  readonly steps: ReadonlyMap<string, StepSum>;
  /** By container: its iterations within the scope of those around it, in their order. */
  readonly strips: ReadonlyMap<string, readonly Iteration[]>;
  /** The chosen iterations. */
  readonly chosen: ReadonlyMap<string, Frame | null>;
  /** Visits in the scope by status, containers included. */
  readonly counts: ReadonlyMap<VisitStatus, number>;
  /** The visits in the scope, in order of start. */
  readonly visits: readonly Visit[];
  readonly frames: Frames;
}

export function sumUp(visits: readonly Visit[], scope: Scope): Sums {
  const frames = new Frames(visits);
  const chosen = frames.chosen(scope);
  const inside = new Map<Frame | undefined, boolean>([[undefined, true]]);
  const isFrameInScope = (frame: Frame | undefined): boolean => {
    let known = inside.get(frame);
    if (known === undefined) {
      known = isInScope(frame, chosen);
      inside.set(frame, known);
    }
    return known;
  };
  const steps = new Map<string, StepSum>();
  const counts = new Map<VisitStatus, number>();
  const visitsInScope: Visit[] = [];
  const latest = latestVisits(visits, frames);
  const worst = worstStatuses(latest, frames);
  for (const visit of visits) {
    const frame = frames.frameOf(visit);
    if (!isFrameInScope(frame)) continue;
    visitsInScope.push(visit);
    if (visit.inner === true || visit.stepType === ROLLBACK) continue;
    counts.set(visit.status, (counts.get(visit.status) ?? 0) + 1);
    addVisit(steps, visit, latest.has(visit));
  }
  const strips = new Map<string, Iteration[]>();
  for (const frame of frames.iterations()) {
    if (!isFrameInScope(frame.parent)) continue;
    const strip = strips.get(frame.slug) ?? [];
    strips.set(frame.slug, strip);
    strip.push({ frame, worstStatus: worst.get(frame) ?? 'completed' });
  }
  for (const strip of strips.values()) strip.sort((a, b) => a.frame.visit - b.frame.visit || compareSiblings(a, b));
  return { steps, strips, chosen, counts, visits: visitsInScope, frames };
}

/** Iterations of one visit of a container are in the order of their items, also where they run side by side. */
function compareSiblings(a: Iteration, b: Iteration): number {
  return a.frame.parent === b.frame.parent ? (a.frame.n ?? 0) - (b.frame.n ?? 0) : 0;
}

export const isWorse = (a: VisitStatus, b: VisitStatus): boolean => SEVERITY.indexOf(a) < SEVERITY.indexOf(b);

/**
 * The visits that determine the status of their steps: the last visit of a step in a frame. A failed visit that was
 * retried, or that another visit followed, does not count.
 */
function latestVisits(visits: readonly Visit[], frames: Frames): ReadonlySet<Visit> {
  const latest = new Map<Frame | undefined, Map<string, Visit>>();
  for (const visit of visits) {
    const frame = frames.frameOf(visit);
    const bySlug = latest.get(frame) ?? new Map<string, Visit>();
    latest.set(frame, bySlug);
    const isStep = visit.inner !== true && visit.stepType !== ROLLBACK;
    bySlug.set(isStep ? visit.stepSlug : visit.path, visit);
  }
  return new Set([...latest.values()].flatMap((bySlug) => [...bySlug.values()]));
}

/** The worst status in each frame, inner frames included. */
function worstStatuses(visits: ReadonlySet<Visit>, frames: Frames): ReadonlyMap<Frame, VisitStatus> {
  const worst = new Map<Frame, VisitStatus>();
  for (const visit of visits) {
    for (let at = frames.frameOf(visit); at !== undefined; at = at.parent) {
      const known = worst.get(at);
      if (known === undefined || isWorse(visit.status, known)) worst.set(at, visit.status);
    }
  }
  return worst;
}

/** Adds a visit to the sum of its step. `isLatest`: the visit determines the status of the step in its frame. */
function addVisit(steps: Map<string, StepSum>, visit: Visit, isLatest: boolean): void {
  const { stepSlug, status, port, attempts, startedAt, completedAt } = visit;
  const sum = steps.get(stepSlug) ?? emptySum();
  steps.set(stepSlug, sum);
  sum.visits++;
  if (isLatest && status === 'failed') sum.failed++;
  if (isLatest && STEP_SEVERITY.indexOf(status) < STEP_SEVERITY.indexOf(sum.status)) sum.status = status;
  if (port !== undefined) sum.ports.set(port, (sum.ports.get(port) ?? 0) + 1);
  sum.retries += Math.max(0, attempts - 1);
  if (completedAt === undefined) sum.open++;
  else sum.durationMs += completedAt - startedAt;
}

/** The iteration of a visit as text: `eachShop 1 · pages 3`. Empty outside of iterations. */
export function frameText(frame: Frame | undefined): string {
  const parts: string[] = [];
  for (let at = frame; at !== undefined; at = at.parent)
    if (at.n !== undefined) parts.unshift(`${at.slug}${at.visit === 1 ? '' : ` (visit ${at.visit})`} ${at.n}`);
  return parts.join(' · ');
}

/** Groups adjacent iterations, so that a strip has at most MAX_CELLS cells. */
interface Cell {
  readonly from: number;
  readonly to: number;
  readonly failed: number;
  readonly status: VisitStatus;
}

export const MAX_CELLS = 24;

export function cellsOf(strip: readonly Iteration[]): Cell[] {
  const size = Math.max(1, Math.ceil(strip.length / MAX_CELLS));
  return Array.from({ length: Math.ceil(strip.length / size) }, (_, at) => {
    const part = strip.slice(at * size, (at + 1) * size);
    const failed = part.filter(({ worstStatus }) => worstStatus === 'failed').length;
    // A cell of several iterations shows the worst status besides failed, and the share that failed.
    const others = part.filter(({ worstStatus }) => worstStatus !== 'failed');
    const status = others.reduce<VisitStatus>(
      (worst, { worstStatus: one }) => (isWorse(one, worst) ? one : worst),
      'skipped',
    );
    return {
      from: at * size,
      to: at * size + part.length - 1,
      failed,
      status: others.length === 0 ? 'failed' : status,
    };
  });
}

/** The container with iterations that is nearest around a step, or the step itself. */
export function nearestRepeatingContainer(
  steps: ReadonlyMap<string, { readonly kind: string; readonly container?: string | undefined }>,
  slug: string | undefined,
): string | undefined {
  let at = slug;
  for (let n = 0; at !== undefined && n <= steps.size; n++) {
    const step = steps.get(at);
    if (step === undefined) return undefined;
    if (REPEATING_KINDS.has(step.kind)) return at;
    at = step.container;
  }
  return undefined;
}
