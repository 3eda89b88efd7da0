/**
 * Follows a run live. By fetch and not by EventSource, which does not tell why it was refused and cannot begin after
 * an event. A stream that breaks is opened again after the last event; a page that nobody sees gives it up after a
 * minute.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { noteLost, noteReached } from './connection.ts';
import { type ApiProblem, problemIn } from './problem.ts';

/** live: events come. polling: refused for now, ask yourself. lost: opened again soon. ended: the run has no more. */
export type StreamState = 'connecting' | 'live' | 'polling' | 'lost' | 'paused' | 'ended' | 'refused';

interface StreamListener {
  /** All events of a frame, in their order. `data` is parsed. */
  onEvents(events: readonly { readonly event: string; readonly data: unknown }[]): void;
  onState(state: StreamState, problem?: ApiProblem): void;
  /** While there are too many streams: load the run yourself. Called every five seconds. */
  onPoll(): void;
}

interface StreamOptions {
  /** The event after which it begins. Default: from the beginning. */
  readonly after?: string | undefined;
  /** Query of the stream, such as `exclude`. */
  readonly query?: { readonly [name: string]: string };
}

/** Events after which the gateway has no more of a run. */
const LAST: ReadonlySet<string> = new Set(['end', 'unreadable']);
const POLL_MS = 5_000;
/** How many polls until the stream is tried again. */
const POLLS = 6;
const HIDDEN_MS = 60_000;
const BACKOFF_MS = [500, 1_000, 2_000, 5_000];

/** Follows the events of a run until the returned function is called. */
export function follow(path: string, listener: StreamListener, options: StreamOptions = {}): () => void {
  const over = new AbortController();
  let last = options.after;
  let current: AbortController | undefined;
  let gathered: EventSourceMessage[] = [];
  let frame: number | undefined;
  let failures = 0;
  let wake: (() => void) | undefined;

  const flush = (): void => {
    frame = undefined;
    const events = gathered;
    gathered = [];
    if (events.length === 0 || over.signal.aborted) return;
    listener.onEvents(events.map(({ event = 'message', data }) => ({ event, data: JSON.parse(data) })));
  };
  const gather = (event: EventSourceMessage): void => {
    last = event.id ?? last;
    gathered.push(event);
    frame ??= requestAnimationFrame(flush);
  };
  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      function done(): void {
        clearTimeout(timer);
        wake = undefined;
        resolve();
      }
      wake = done;
    });

  const poll = async (): Promise<void> => {
    listener.onState('polling');
    for (let count = 0; count < POLLS && !over.signal.aborted; count++) {
      await sleep(POLL_MS);
      if (!over.signal.aborted && document.visibilityState === 'visible') listener.onPoll();
    }
  };

  /** Reads one stream to its end. Returns whether another is to be opened, soon or at once. */
  const readOnce = async (): Promise<boolean | 'at once'> => {
    current = new AbortController();
    const signal = AbortSignal.any([over.signal, current.signal]);
    const address = `${path}${options.query === undefined ? '' : `?${new URLSearchParams(options.query)}`}`;
    const response = await fetch(address, {
      cache: 'no-store',
      headers: { Accept: 'text/event-stream', ...(last === undefined ? {} : { 'Last-Event-ID': last }) },
      signal,
    });
    noteReached();
    if (response.status === 204) return false;
    if (!response.ok || response.body === null) {
      const requestId = response.headers.get('x-request-id') ?? undefined;
      const problem = problemIn(response.status, await response.text(), requestId);
      if (problem.code === 'too_many_streams') {
        await poll();
        return 'at once';
      }
      if (problem.status >= 500) throw problem;
      listener.onState('refused', problem);
      over.abort();
      return false;
    }
    listener.onState('live');
    failures = 0;
    let hasEnded = false;
    const events = createParser({
      onEvent: (event) => {
        hasEnded ||= LAST.has(event.event ?? '');
        gather(event);
      },
    });
    const text = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await text.read();
      if (done) return !hasEnded;
      events.feed(value);
    }
  };

  const isHidden = (): boolean => document.visibilityState === 'hidden';
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const onVisibility = (): void => {
    clearTimeout(hiding);
    if (isHidden()) hiding = setTimeout(() => current?.abort(), HIDDEN_MS);
    else wake?.();
  };
  document.addEventListener('visibilitychange', onVisibility);

  const run = async (): Promise<void> => {
    listener.onState('connecting');
    while (!over.signal.aborted) {
      let goesOn: boolean | 'at once';
      try {
        goesOn = await readOnce();
      } catch {
        if (over.signal.aborted) return;
        if (current?.signal.aborted === true) {
          listener.onState('paused');
          while (isHidden() && !over.signal.aborted) await sleep(HIDDEN_MS);
          continue;
        }
        goesOn = true;
        // A browser may cut the connections of a page that nobody sees.
        if (!isHidden()) noteLost();
      }
      if (over.signal.aborted) return;
      if (!goesOn) return listener.onState('ended');
      if (goesOn === 'at once') continue;
      listener.onState('lost');
      await sleep(BACKOFF_MS[Math.min(failures++, BACKOFF_MS.length - 1)] ?? 0);
    }
  };
  void run();

  return () => {
    over.abort();
    wake?.();
    clearTimeout(hiding);
    if (frame !== undefined) cancelAnimationFrame(frame);
    document.removeEventListener('visibilitychange', onVisibility);
  };
}
