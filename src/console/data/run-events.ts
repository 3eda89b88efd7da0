/**
 * Follows a run live. Uses fetch instead of EventSource, which does not report why a stream was refused and cannot
 * begin after an event. A broken stream is reopened after the last event; a hidden page closes it after a minute.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { reportReachable, reportUnreachable } from './connection.ts';
import { type ApiProblem, parseProblem } from './problem.ts';

/** live: events arrive. polling: refused for now, poll. lost: reopened soon. ended: the run has no more events. */
export type StreamState = 'connecting' | 'live' | 'polling' | 'lost' | 'paused' | 'ended' | 'refused';

interface StreamListener {
  /** All events of a frame, in their order. `data` is parsed. */
  onEvents(events: readonly { readonly event: string; readonly data: unknown }[]): void;
  onState(state: StreamState, problem?: ApiProblem): void;
  /** Called every five seconds while there are too many streams: load the run instead. */
  onPoll(): void;
}

interface StreamOptions {
  /** The event after which it begins. Default: from the beginning. */
  readonly after?: string | undefined;
  /** Query of the stream, such as `exclude`. */
  readonly query?: { readonly [name: string]: string };
}

/** The last event of a run. */
const FINAL_EVENTS: ReadonlySet<string> = new Set(['end', 'unreadable']);
const POLL_MS = 5_000;
/** The number of polls before the stream is opened again. */
const POLLS_BEFORE_RECONNECT = 6;
const HIDDEN_DISCONNECT_MS = 60_000;
/** When the next stream is opened after one has ended. */
type NextStream = 'none' | 'immediately' | 'after backoff';

const BACKOFF_MS = [500, 1_000, 2_000, 5_000];

/** Follows the events of a run until the returned function is called. */
export function followRunEvents(path: string, listener: StreamListener, options: StreamOptions = {}): () => void {
  const stopped = new AbortController();
  let lastEventId = options.after;
  let currentStream: AbortController | undefined;
  let pendingEvents: EventSourceMessage[] = [];
  let frameRequest: number | undefined;
  let failures = 0;
  let wake: (() => void) | undefined;

  const flush = (): void => {
    frameRequest = undefined;
    const events = pendingEvents;
    pendingEvents = [];
    if (events.length === 0 || stopped.signal.aborted) return;
    listener.onEvents(events.map(({ event = 'message', data }) => ({ event, data: JSON.parse(data) })));
  };
  const enqueue = (event: EventSourceMessage): void => {
    lastEventId = event.id ?? lastEventId;
    pendingEvents.push(event);
    frameRequest ??= requestAnimationFrame(flush);
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
    for (let count = 0; count < POLLS_BEFORE_RECONNECT && !stopped.signal.aborted; count++) {
      await sleep(POLL_MS);
      if (!stopped.signal.aborted && document.visibilityState === 'visible') listener.onPoll();
    }
  };

  /** Reads one stream to its end. */
  const readStream = async (): Promise<NextStream> => {
    currentStream = new AbortController();
    const signal = AbortSignal.any([stopped.signal, currentStream.signal]);
    const address = `${path}${options.query === undefined ? '' : `?${new URLSearchParams(options.query)}`}`;
    const response = await fetch(address, {
      cache: 'no-store',
      headers: { Accept: 'text/event-stream', ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }) },
      signal,
    });
    reportReachable();
    if (response.status === 204) return 'none';
    if (!response.ok || response.body === null) {
      const requestId = response.headers.get('x-request-id') ?? undefined;
      const problem = parseProblem(response.status, await response.text(), requestId);
      if (problem.code === 'too_many_streams') {
        await poll();
        return 'immediately';
      }
      if (problem.status >= 500) throw problem;
      listener.onState('refused', problem);
      stopped.abort();
      return 'none';
    }
    listener.onState('live');
    failures = 0;
    let hasEnded = false;
    const events = createParser({
      onEvent: (event) => {
        hasEnded ||= FINAL_EVENTS.has(event.event ?? '');
        enqueue(event);
      },
    });
    const text = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await text.read();
      if (done) return hasEnded ? 'none' : 'after backoff';
      events.feed(value);
    }
  };

  const isHidden = (): boolean => document.visibilityState === 'hidden';
  let hiddenTimer: ReturnType<typeof setTimeout> | undefined;
  const onVisibility = (): void => {
    clearTimeout(hiddenTimer);
    if (isHidden()) hiddenTimer = setTimeout(() => currentStream?.abort(), HIDDEN_DISCONNECT_MS);
    else wake?.();
  };
  document.addEventListener('visibilitychange', onVisibility);

  const run = async (): Promise<void> => {
    listener.onState('connecting');
    while (!stopped.signal.aborted) {
      let next: NextStream;
      try {
        next = await readStream();
      } catch {
        if (stopped.signal.aborted) return;
        if (currentStream?.signal.aborted === true) {
          listener.onState('paused');
          while (isHidden() && !stopped.signal.aborted) await sleep(HIDDEN_DISCONNECT_MS);
          continue;
        }
        next = 'after backoff';
        // A browser may cut the connections of a page that nobody sees.
        if (!isHidden()) reportUnreachable();
      }
      if (stopped.signal.aborted) return;
      if (next === 'none') return listener.onState('ended');
      if (next === 'immediately') continue;
      listener.onState('lost');
      await sleep(BACKOFF_MS[Math.min(failures++, BACKOFF_MS.length - 1)] ?? 0);
    }
  };
  void run();

  return () => {
    stopped.abort();
    wake?.();
    clearTimeout(hiddenTimer);
    if (frameRequest !== undefined) cancelAnimationFrame(frameRequest);
    document.removeEventListener('visibilitychange', onVisibility);
  };
}
