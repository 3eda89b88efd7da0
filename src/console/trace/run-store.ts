/**
 * The state of a run on a page: first the run, its graph and its summary, then its visits, then its events, from the
 * summary's last event on. The state changes at most once per animation frame.
 */
import { useEffect, useMemo } from 'preact/hooks';
import { apiPath, get } from '../data/api.ts';
import { type ApiProblem, asApiProblem } from '../data/problem.ts';
import { followRunEvents, type StreamState } from '../data/run-events.ts';
import { isOpen } from '../data/run-text.ts';
import { createStore, useStore } from '../data/store.ts';
import type { Execution, RunSummary, StepPage, StepRow, Wait } from '../data/types.ts';
import { isWorse, type StepSum, type Visit, type VisitStatus } from '../graph/scope.ts';
import type { GraphInput } from '../graph/step-graph.ts';
import { type AttemptEvent, type StepEvent, Visits } from './visits.ts';

export interface FollowedRunState {
  readonly run?: Execution;
  readonly graph?: GraphInput;
  /** Why there is no graph: the definition cannot be walked. */
  readonly graphProblem?: ApiProblem;
  readonly summary?: RunSummary;
  /** The loaded visits; `isComplete`: all visits are loaded. */
  readonly visits: readonly Visit[];
  readonly isLoaded: boolean;
  readonly isComplete: boolean;
  /** All visits of the run. */
  readonly total: number;
  readonly stream: StreamState;
  readonly problem?: ApiProblem;
}

/** Of a longer run the newest visits are loaded. */
export const MAX_VISITS = 50_000;
const PAGE_SIZE = 10_000;
const POLL_MS = 5_000;
/** The run is reloaded this long after an event, since events do not contain its waits in full. */
const REFRESH_DEBOUNCE_MS = 250;

export const hasEnded = (run: Pick<Execution, 'status' | 'completedAt'> | undefined): boolean =>
  run !== undefined && (!isOpen(run) || run.completedAt !== undefined);

/** Loads and follows the run while the component is mounted. */
export function useRun(id: string): FollowedRunState & { readonly reload: () => void } {
  const store = useMemo(() => new FollowedRun(id), [id]);
  useEffect(() => {
    store.start();
    return () => store.stop();
  }, [store]);
  const state = useStore(store.state);
  return { ...state, reload: store.reload };
}

class FollowedRun {
  readonly state = createStore<FollowedRunState>({
    visits: [],
    isLoaded: false,
    isComplete: true,
    total: 0,
    stream: 'connecting',
  });
  readonly #path: string;
  #visits = new Visits();
  #abort = new AbortController();
  #unfollow = (): void => undefined;
  #settling: ReturnType<typeof setTimeout> | undefined;
  #polling: ReturnType<typeof setInterval> | undefined;

  constructor(id: string) {
    this.#path = apiPath`/api/executions/${id}`;
  }

  start(): void {
    void this.#load();
    this.#polling = setInterval(() => {
      const { run, stream } = this.state.get();
      if (document.visibilityState === 'visible' && run !== undefined && !hasEnded(run) && stream !== 'polling')
        void this.#readRun();
    }, POLL_MS);
  }

  stop(): void {
    this.#abort.abort();
    this.#unfollow();
    clearTimeout(this.#settling);
    clearInterval(this.#polling);
  }

  /** Reloads everything: after a refused stream, and after a retry of the run. */
  readonly reload = (): void => {
    this.#abort.abort();
    this.#unfollow();
    this.#abort = new AbortController();
    this.#patch({ problem: undefined });
    void this.#load();
  };

  #patch(change: { [Member in keyof FollowedRunState]?: FollowedRunState[Member] | undefined }): void {
    this.state.set({ ...this.state.get(), ...change } as FollowedRunState);
  }

  async #load(): Promise<void> {
    const { signal } = this.#abort;
    const path = this.#path;
    try {
      const graph = get<GraphInput>(`${path}/graph`, { signal }).then(
        (body) => this.#patch({ graph: body, graphProblem: undefined }),
        (thrown: unknown) => {
          if (!signal.aborted) this.#patch({ graphProblem: asApiProblem(thrown) });
        },
      );
      const [run, summary] = await Promise.all([
        get<Execution>(path, { signal }),
        get<RunSummary>(`${path}/summary`, { signal }),
      ]);
      this.#patch({ run, summary, total: summary.total });
      this.#follow(summary.lastEventId);
      await this.#readVisits(signal, summary.total);
      await graph;
    } catch (thrown) {
      if (!signal.aborted) this.#patch({ problem: asApiProblem(thrown) });
    }
  }

  /** Events that come before the rows are there wait for them. */
  #waiting: (() => void)[] | undefined = [];

  async #readVisits(signal: AbortSignal, total: number): Promise<void> {
    const isLong = total > MAX_VISITS;
    this.#waiting ??= [];
    const rows: StepRow[] = [];
    let cursor: string | undefined;
    do {
      const page: StepPage = await get<StepPage>(`${this.#path}/steps`, {
        query: { limit: PAGE_SIZE, exclude: 'input,output', cursor, order: isLong ? 'desc' : undefined },
        signal,
      });
      rows.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== undefined && rows.length < MAX_VISITS);
    const visits = new Visits();
    visits.addRows(isLong ? rows.reverse() : rows);
    this.#visits = visits;
    const events = this.#waiting;
    this.#waiting = undefined;
    for (const event of events) event();
    this.#show({ isLoaded: true, isComplete: cursor === undefined });
  }

  #show(change: Partial<FollowedRunState> = {}): void {
    const visits = this.#visits.all();
    const { total, isComplete } = { ...this.state.get(), ...change };
    this.#patch({ ...change, visits, total: isComplete ? visits.length : Math.max(total, visits.length) });
  }

  async #readRun(): Promise<void> {
    const { signal } = this.#abort;
    try {
      const run = await get<Execution>(this.#path, { signal });
      this.#patch({ run });
      // No event reports activity attempts that Temporal retries.
      for (const { path, attempt } of run.retrying ?? []) this.#visits.applyAttempt({ path, attempt: attempt - 1 });
      if (run.retrying !== undefined && this.#waiting === undefined) this.#show();
    } catch {
      // The last state stays. The page frame reports an unreachable gateway.
    }
  }

  #follow(after: string): void {
    this.#unfollow();
    this.#unfollow = followRunEvents(
      `${this.#path}/events`,
      {
        onEvents: (events) => this.#take(events),
        onState: (stream, problem) => this.#patch(problem === undefined ? { stream } : { stream, problem }),
        onPoll: () => {
          void this.#readRun();
          void this.#readVisits(this.#abort.signal, this.state.get().total).catch(() => undefined);
        },
      },
      { after, query: { exclude: 'input,output' } },
    );
  }

  #take(events: readonly { readonly event: string; readonly data: unknown }[]): void {
    const act = (): void => {
      for (const one of events) this.#apply(one);
    };
    if (this.#waiting !== undefined) this.#waiting.push(act);
    else {
      act();
      this.#show();
    }
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => void this.#readRun(), REFRESH_DEBOUNCE_MS);
  }

  #apply({ event, data }: { readonly event: string; readonly data: unknown }): void {
    if (event === 'step') this.#visits.applyStep(data as StepEvent);
    else if (event === 'attempt') this.#visits.applyAttempt(data as AttemptEvent);
    else if (event === 'status') {
      const { status, waitingFor } = data as { status: Execution['status']; waitingFor: Wait[] };
      this.#visits.applyWaits(waitingFor);
      const { run } = this.state.get();
      if (run !== undefined) this.#patch({ run: { ...run, status, waitingFor } });
    } else if (event === 'end') {
      const { status } = data as { status: Execution['status'] };
      this.#visits.endOpenVisits(Date.now());
      const { run } = this.state.get();
      if (run !== undefined) this.#patch({ run: { ...run, status, waitingFor: [] } });
    }
  }
}

/** The sums of the steps by the summary of the run: shown until the visits are loaded. */
export function stepSums({ steps }: RunSummary): Map<string, StepSum> {
  return new Map(
    steps.map((step) => {
      const statuses = Object.keys(step.statuses) as VisitStatus[];
      const status = statuses.reduce((worst, one) => (isWorse(one, worst) ? one : worst), 'skipped');
      const open = (step.statuses.running ?? 0) + (step.statuses.waiting ?? 0);
      const { stepSlug, visits, retries, durationMs } = step;
      const ports = new Map(Object.entries(step.ports));
      return [stepSlug, { status, visits, failed: step.statuses.failed ?? 0, open, retries, durationMs, ports }];
    }),
  );
}
