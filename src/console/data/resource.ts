/** What a screen loads: old data stays while newer is on its way, and while it cannot be had. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { get, type Options, withQuery } from './api.ts';
import { returns } from './connection.ts';
import { type ApiProblem, asApiProblem } from './problem.ts';

const SLOW_MS = 300;

export interface Resource<T> {
  /** The last answer; of a former key too, until that of the present one is there. */
  readonly data: T | undefined;
  /** Why the last loading failed. Data of an earlier one may still be there. */
  readonly problem: ApiProblem | undefined;
  readonly isLoading: boolean;
  /** It has been loading for so long that people should be told. */
  readonly isSlow: boolean;
  /** The data are those of the present key. */
  readonly isCurrent: boolean;
  /** Loads again. */
  again(): void;
  /** Takes what is known to be newer, such as the answer to a change. */
  set(data: T): void;
}

interface ResourceOptions {
  /** Milliseconds between the end of one loading and the next, while the page is visible. Default: no polling. */
  readonly pollMs?: number | undefined;
  /** While it says so, a poll is left out. */
  readonly isPaused?: (() => boolean) | undefined;
}

interface Polling<T> extends ResourceOptions {
  /** Whether nothing more is to come after such an answer: then it is polled no more. */
  readonly isLast?: (data: T) => boolean;
}

interface Loaded<T> {
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
  { pollMs, isPaused, isLast }: Polling<T> = {},
): Resource<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ key: undefined });
  const [isLoading, setLoading] = useState(key !== undefined);
  const [isSlow, setSlow] = useState(false);
  const [round, setRound] = useState(0);
  const latest = useRef({ load, isPaused, isLast });
  latest.current = { load, isPaused, isLast };

  useEffect(() => {
    if (key === undefined) return undefined;
    const abort = new AbortController();
    const slow = setTimeout(() => setSlow(true), SLOW_MS);
    let next: ReturnType<typeof setTimeout> | undefined;
    let unlisten = (): void => undefined;
    const once = async (): Promise<void> => {
      setLoading(true);
      let isOver = false;
      try {
        const data = await latest.current.load(abort.signal);
        isOver = latest.current.isLast?.(data) ?? false;
        if (!abort.signal.aborted) setLoaded({ key, data });
      } catch (thrown) {
        if (!abort.signal.aborted) setLoaded((old) => ({ ...old, problem: asApiProblem(thrown) }));
      }
      if (abort.signal.aborted) return;
      clearTimeout(slow);
      setLoading(false);
      setSlow(false);
      if (pollMs !== undefined && !isOver) next = setTimeout(whenVisible, pollMs);
    };
    const whenVisible = (): void => {
      if (latest.current.isPaused?.() === true) {
        next = setTimeout(whenVisible, pollMs);
        return;
      }
      if (document.visibilityState === 'visible') {
        void once();
        return;
      }
      const listener = (): void => {
        unlisten();
        void once();
      };
      document.addEventListener('visibilitychange', listener);
      unlisten = () => document.removeEventListener('visibilitychange', listener);
    };
    void once();
    return () => {
      abort.abort();
      clearTimeout(slow);
      clearTimeout(next);
      unlisten();
      setSlow(false);
    };
  }, [key, round, pollMs]);

  const again = useCallback(() => setRound((count) => count + 1), []);
  const set = useCallback((data: T) => setLoaded({ key, data }), [key]);
  useEffect(() => returns.subscribe(again), [again]);
  return {
    data: loaded.data,
    problem: loaded.problem,
    isLoading,
    isSlow,
    isCurrent: loaded.key === key && 'data' in loaded,
    again,
    set,
  };
}

/** Loads what a GET of a path answers. Without a path nothing is loaded. */
export function useGet<T>(
  path: string | undefined,
  { query, ...options }: Polling<T> & Pick<Options, 'query'> = {},
): Resource<T> {
  const address = path === undefined ? undefined : withQuery(path, query);
  return useResource(address, (signal) => get<T>(address!, { signal }), options);
}

/** Counts up every `ms` while the page is visible, so that times that are told relative to now stay true. */
export function useTicks(ms: number): number {
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

/** A change that a screen asks for: once at a time, and its refusal is kept to be shown. */
export function useAction<Args extends readonly unknown[]>(act: (...args: Args) => Promise<unknown>): Action<Args> {
  const [state, setState] = useState<{ isRunning: boolean; problem?: ApiProblem }>({ isRunning: false });
  const running = useRef(false);
  const latest = useRef(act);
  latest.current = act;
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
