/**
 * The visits of a run, from its rows and from the events that follow. Rows may be newer than the event at which the
 * stream begins: an event that a row already contains changes nothing, so no visit is duplicated.
 */
import type { StepRow, Wait } from '../data/types.ts';
import type { Visit, VisitStatus } from '../graph/scope.ts';

/** The data of an event `step`: a visit has started or ended. */
export interface StepEvent {
  readonly path: string;
  readonly stepSlug?: string;
  readonly stepType?: string;
  readonly status: VisitStatus;
  readonly port?: string;
  readonly attempts?: number;
  readonly error?: { readonly code: string; readonly message: string };
  readonly frame?: string;
  readonly container?: string;
  readonly branch?: string;
  readonly index?: number;
  readonly tick?: number;
  readonly visit?: number;
  readonly inner?: boolean;
  readonly at: string;
}

/** The data of an event `attempt`: an attempt has failed, and another follows. */
export interface AttemptEvent {
  readonly path: string;
  readonly attempt: number;
}

/** Lists of waits are truncated at this length. */
const MAX_WAITS = 20;

export class Visits {
  readonly #visits: Visit[] = [];
  /** The number of the last visit of each path. */
  readonly #latest = new Map<string, number>();

  /** In order of start. The same array is never changed: read it again after a change. */
  all(): readonly Visit[] {
    return [...this.#visits];
  }

  /** Rows in order of start, the oldest first. */
  addRows(rows: readonly StepRow[]): void {
    for (const row of rows) this.#add(visitOf(row));
  }

  applyStep(event: StepEvent): void {
    const at = Date.parse(event.at);
    const number = this.#latest.get(event.path);
    const known = number === undefined ? undefined : this.#visits[number]!;
    if (event.status === 'running') {
      // A retried run visits the path again, after the end of its former visit.
      if (known !== undefined && (known.completedAt === undefined || at <= known.completedAt)) return;
      this.#add({ ...startedVisit(event), startedAt: at });
    } else if (known === undefined) this.#add({ ...startedVisit(event), startedAt: at, completedAt: at });
    else if (known.completedAt === undefined) {
      const { status, port, attempts = known.attempts, error } = event;
      this.#set(known, { status, port, attempts, error, completedAt: Math.max(at, known.startedAt) });
    }
  }

  applyAttempt({ path, attempt }: AttemptEvent): void {
    const known = this.#visits[this.#latest.get(path) ?? -1];
    if (known !== undefined && known.completedAt === undefined && known.attempts <= attempt)
      this.#set(known, { attempts: attempt + 1 });
  }

  /** Open visits wait, or run. */
  applyWaits(waits: readonly Pick<Wait, 'path'>[]): void {
    const paths = new Set(waits.map(({ path }) => path));
    for (const path of paths) {
      const known = this.#visits[this.#latest.get(path) ?? -1];
      if (known?.status === 'running') this.#set(known, { status: 'waiting' });
    }
    if (waits.length >= MAX_WAITS) return;
    for (const visit of this.#visits)
      if (visit.status === 'waiting' && !paths.has(visit.path)) this.#set(visit, { status: 'running' });
  }

  /** The run has ended: what is open has ended with it. */
  endOpenVisits(at: number): void {
    for (const visit of this.#visits)
      if (visit.completedAt === undefined)
        this.#set(visit, { status: 'cancelled', completedAt: Math.max(at, visit.startedAt) });
  }

  #add(visit: Omit<Visit, 'number'>): void {
    const number = this.#visits.length;
    this.#visits.push({ ...visit, number });
    this.#latest.set(visit.path, number);
  }

  #set(visit: Visit, change: Partial<Visit>): void {
    this.#visits[visit.number] = { ...visit, ...change };
  }
}

function visitOf(row: StepRow): Omit<Visit, 'number'> {
  const { path, stepSlug, stepType, status, port, attempts, error, frame, container, branch, index, tick } = row;
  return {
    ...{ path, stepSlug, stepType, status, port, attempts, frame, container, branch, index, tick },
    ...{ visit: row.visit, inner: row.inner },
    error: error === undefined ? undefined : { code: error.code, message: error.message },
    startedAt: Date.parse(row.startedAt),
    completedAt: row.completedAt === undefined ? undefined : Date.parse(row.completedAt),
  };
}

function startedVisit(event: StepEvent): Omit<Visit, 'number' | 'startedAt'> {
  const { path, stepSlug, stepType, status, port, attempts = 1, error, frame, container, branch } = event;
  return {
    ...{ path, stepSlug: stepSlug ?? path, stepType: stepType ?? '', status, port, attempts, error },
    ...{ frame, container, branch, index: event.index, tick: event.tick, visit: event.visit, inner: event.inner },
  };
}

/** What `attempts=true` answers of one visit: its attempts, the last with its end. */
export function attemptsOf(rows: readonly StepRow[], startedAt: number): readonly StepRow[] {
  const groups: StepRow[][] = [];
  for (const row of rows) {
    if (groups.length === 0 || (row.attempt ?? 1) <= (groups.at(-1)!.at(-1)!.attempt ?? 1)) groups.push([]);
    groups.at(-1)!.push(row);
  }
  return groups.find((group) => Date.parse(group.at(-1)!.startedAt) === startedAt) ?? groups.at(-1) ?? [];
}
