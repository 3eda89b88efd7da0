/** Data that a screen loads. The previous data stays while newer data loads, and if loading fails. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { get, type RequestOptions, withQuery } from './api.ts';
import { reconnectCount } from './connection.ts';
import { type ApiProblem, asApiProblem } from './problem.ts';

const SLOW_MS = 300;

export interface Resource<T> {
  /** The last answer; of a former key too, until that of the present one is there. */
  readonly data: T | undefined;
  /** Why the last loading failed. Data of an earlier one may still be there. */
  readonly problem: ApiProblem | undefined;
  readonly isLoading: boolean;
  /** Loading takes long enough that the screen shows it. */
  readonly isSlow: boolean;
  /** The data are those of the present key. */
  readonly isCurrent: boolean;
  /** Loads again. */
  reload(): void;
  /** Replaces the data by newer data, such as the response to a change. */
  set(data: T): void;
}

interface ResourceOptions {
  /** Milliseconds between the end of one loading and the next, while the page is visible. Default: no polling. */
  readonly pollMs?: number | undefined;
  /** While it returns true, polls are skipped. */
  readonly isPaused?: (() => boolean) | undefined;
}

interface PollingOptions<T> extends ResourceOptions {
  /** Whether the data is final: polling ends. */
  readonly isFinal?: (data: T) => boolean;
}

interface LoadedState<T> {
  readonly key: string | undefined;
  readonly data?: T;
  readonly problem?: ApiProblem;
}

/**
 * Loads what `key` names, and again when it changes. Without a key nothing is loaded. The loader's signal aborts when
 * its answer is no longer wanted.
 */
export function useResource<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
  { pollMs, isPaused, isFinal }: PollingOptions<T> = {},
): Resource<T> {
  const [loaded, setLoaded] = useState<LoadedState<T>>({ key: undefined });
  const [isLoading, setLoading] = useState(key !== undefined);
  const [isSlow, setSlow] = useState(false);
  const [reloadCount, setReloadCount] = useState(0);
  const latest = useRef({ load, isPaused, isFinal });
  latest.current = { load, isPaused, isFinal };

  useEffect(() => {
    if (key === undefined) return undefined;
    const abort = new AbortController();
    const slowTimer = setTimeout(() => setSlow(true), SLOW_MS);
    let pollTimer: ReturnType<typeof setTimeout> | undefined;
    let unlisten = (): void => undefined;
    const loadOnce = async (): Promise<void> => {
      setLoading(true);
      let isFinalData = false;
      try {
        const data = await latest.current.load(abort.signal);
        isFinalData = latest.current.isFinal?.(data) ?? false;
        if (!abort.signal.aborted) setLoaded({ key, data });
      } catch (thrown) {
        if (!abort.signal.aborted) setLoaded((old) => ({ ...old, problem: asApiProblem(thrown) }));
      }
      if (abort.signal.aborted) return;
      clearTimeout(slowTimer);
      setLoading(false);
      setSlow(false);
      if (pollMs !== undefined && !isFinalData) pollTimer = setTimeout(loadWhenVisible, pollMs);
    };
    const loadWhenVisible = (): void => {
      if (latest.current.isPaused?.() === true) {
        pollTimer = setTimeout(loadWhenVisible, pollMs);
        return;
      }
      if (document.visibilityState === 'visible') {
        void loadOnce();
        return;
      }
      const listener = (): void => {
        unlisten();
        void loadOnce();
      };
      document.addEventListener('visibilitychange', listener);
      unlisten = () => document.removeEventListener('visibilitychange', listener);
    };
    void loadOnce();
    return () => {
      abort.abort();
      clearTimeout(slowTimer);
      clearTimeout(pollTimer);
      unlisten();
      setSlow(false);
    };
  }, [key, reloadCount, pollMs]);

  const reload = useCallback(() => setReloadCount((count) => count + 1), []);
  const set = useCallback((data: T) => setLoaded({ key, data }), [key]);
  useEffect(() => reconnectCount.subscribe(reload), [reload]);
  return {
    data: loaded.data,
    problem: loaded.problem,
    isLoading,
    isSlow,
    isCurrent: loaded.key === key && 'data' in loaded,
    reload,
    set,
  };
}

/** Loads what a GET of a path answers. Without a path nothing is loaded. */
export function useGet<T>(
  path: string | undefined,
  { query, ...options }: PollingOptions<T> & Pick<RequestOptions, 'query'> = {},
): Resource<T> {
  const address = path === undefined ? undefined : withQuery(path, query);
  return useResource(address, (signal) => get<T>(address!, { signal }), options);
}

/** Counts up every `ms` while the page is visible, so that relative times stay correct. */
export function useNow(ms: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && setNow(Date.now()), ms);
    return () => clearInterval(timer);
  }, [ms]);
  return now;
}

interface Action<Args extends readonly unknown[]> {
  readonly isRunning: boolean;
  readonly problem: ApiProblem | undefined;
  /** Resolves to whether it was done. While it runs, further calls do nothing. */
  run(...args: Args): Promise<boolean>;
  /** Forgets the problem. */
  clear(): void;
}

/** An action of a screen: runs once at a time, and keeps the problem of its last failure. */
export function useAction<Args extends readonly unknown[]>(perform: (...args: Args) => Promise<unknown>): Action<Args> {
  const [state, setState] = useState<{ isRunning: boolean; problem?: ApiProblem }>({ isRunning: false });
  const running = useRef(false);
  const latest = useRef(perform);
  latest.current = perform;
  const run = useCallback(async (...args: Args): Promise<boolean> => {
    if (running.current) return false;
    running.current = true;
    setState({ isRunning: true });
    try {
      await latest.current(...args);
      setState({ isRunning: false });
      return true;
    } catch (thrown) {
      setState({ isRunning: false, problem: asApiProblem(thrown) });
      return false;
    } finally {
      running.current = false;
    }
  }, []);
  const clear = useCallback(() => setState({ isRunning: false }), []);
  return { isRunning: state.isRunning, problem: state.problem, run, clear };
}
