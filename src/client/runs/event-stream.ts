/**
 * Streams the events of an execution as they happen. Long polls follow its history, across continue-as-new and retries,
 * and src/history folds it on the way. One history always gives the same events with the same ids, so a reader that was
 * disconnected resumes after the last id that it has seen.
 */

import type { RunError, RunStatus } from '../../contract/run/run.ts';
import { runInputOf } from '../../engine/state/start.ts';
import type { Closed, HistoryEvent, Unreadable } from '../../history/events.ts';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { CooperativeScheduler } from '../concurrency/cooperative-scheduler.ts';
import { ClientError, onCode } from '../errors.ts';
import { decodeHistoryPage, historyOf } from '../history/histories.ts';
import { requestHistory } from '../history/page.ts';
import { readCloseOutcome } from '../history/start-and-close-events.ts';
import type { Access } from '../temporal/access.ts';
import { describePartially } from '../temporal/actor-calls.ts';
import { GRPC } from '../temporal/grpc.ts';
import { grpcOf, toClientError } from '../temporal/rpc.ts';
import { tryRead, withoutTooDeep } from '../temporal/unreadable-data.ts';
import { type RunEvent, RunEvents } from './run-events.ts';
import { outcomeOf } from './run-view.ts';

/** An event of a stream. */
export type StreamEvent = { readonly id: string } & (RunEvent | { readonly event: 'end'; readonly data: RunEnd });

interface RunEnd {
  readonly status: RunStatus;
  readonly output?: Json;
  readonly error?: RunError;
  /** Why output or error are missing. */
  readonly unreadable?: Unreadable;
}

/** Temporal answers a long poll after 20 s at the latest. */
const MAX_POLL_MS = 25_000;
const EVENTS_PER_PAGE = 200;

/**
 * Ends after the execution has ended, or when `signal` is aborted. The caller checks that the execution may be seen.
 * `after` is an id of an earlier stream.
 * @throws ClientError `not_found`, `invalid_cursor`, `temporal_unreachable`.
 */
export async function followRun(
  access: Access,
  executionId: string,
  signal: AbortSignal,
  after?: string,
): Promise<AsyncGenerator<StreamEvent>> {
  const seen = after === undefined ? undefined : parsePosition(after);
  return streamRuns(access, executionId, signal, await runChainOf(access, executionId, seen?.runId), seen);
}

type StreamPosition = { readonly runId: string; readonly number: number };

async function* streamRuns(
  access: Access,
  executionId: string,
  signal: AbortSignal,
  runs: string[],
  seen: StreamPosition | undefined,
): AsyncGenerator<StreamEvent> {
  for (let n = 0; n < runs.length && !signal.aborted; n++) {
    const runId = runs[n]!;
    const skip = runId === seen?.runId ? seen.number : 0;
    const run = new FollowedRun(executionId, runId);
    for await (const streamEvent of run.follow(access, signal)) {
      if (run.events.emitted > skip) yield streamEvent;
    }
    const { closed } = run;
    if (closed?.how === 'continued' && closed.nextRunId !== undefined) {
      if (runs[n + 1] === undefined) runs.push(closed.nextRunId);
      continue;
    }
    if (closed === undefined || runs[n + 1] !== undefined) continue;
    const data = await runEndOf(access, executionId, runId, closed);
    if (data !== undefined && run.events.emitted + 1 > skip) yield { id: run.events.nextId(), event: 'end', data };
  }
}

/** The end of the last run of the chain; undefined where it has none. */
export async function runEndOf(
  access: Access,
  executionId: string,
  runId: string,
  { how }: Closed,
): Promise<RunEnd | undefined> {
  const closing = await tryRead(() => readCloseOutcome(access, executionId, runId));
  if (closing.unreadable !== undefined) return { status: STATUSES[how], unreadable: closing.unreadable };
  if (closing.value === undefined) return undefined;
  const { value, unreadable } = withoutTooDeep(outcomeOf(closing.value), ['output', 'error']);
  return { ...value, ...omitUndefined({ unreadable }) };
}

/** The closing status of a run, where the rest of its end cannot be read. */
const STATUSES: { readonly [how in Closed['how']]: RunStatus } = {
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  terminated: 'aborted',
  timedOut: 'failed',
  continued: 'running',
};

/** One run of the chain, as far as it has been followed. */
class FollowedRun {
  readonly events: RunEvents;
  closed: Closed | undefined;
  readonly #executionId: string;
  readonly #runId: string;

  constructor(executionId: string, runId: string) {
    this.#executionId = executionId;
    this.#runId = runId;
    this.events = new RunEvents(executionId, runId, { from: 0, to: 0 });
  }

  async *follow(access: Access, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const scheduler = new CooperativeScheduler();
    for await (const page of pagesOf(access, this.#executionId, this.#runId, signal)) {
      for (const event of page) {
        await scheduler.run(this.events.push(event));
        await scheduler.yieldIfDue();
        if (event.type === 'closed') this.closed = event;
        yield* this.#takeEvents();
      }
      await scheduler.run(this.events.settle());
      yield* this.#takeEvents();
    }
  }

  *#takeEvents(): Generator<StreamEvent> {
    for (const event of this.events.takeEvents()) yield { id: this.events.nextId(), ...writableEvent(event) };
  }
}

/** Values that cannot be written as JSON are left out. */
function writableEvent(event: RunEvent): RunEvent {
  return event.event === 'step' ? { ...event, data: withoutTooDeep(event.data, ['output', 'error']).value } : event;
}

/** Yields the existing pages, and then the new ones until the run is closed. A page has whole transactions. */
async function* pagesOf(
  access: Access,
  workflowId: string,
  runId: string,
  signal: AbortSignal,
): AsyncGenerator<HistoryEvent[]> {
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const request = {
      execution: { workflowId, runId },
      maximumPageSize: EVENTS_PER_PAGE,
      waitNewEvent: true,
      nextPageToken,
    };
    const page = await pollOnce(access, signal, () => requestHistory(access, request));
    if (page === undefined) continue;
    yield await decodeHistoryPage(access, page);
    nextPageToken = page.nextPageToken ?? new Uint8Array();
    if (nextPageToken.length === 0) return;
  } while (!signal.aborted);
}

/** Undefined when no event arrived in time, or when the reader disconnected. */
async function pollOnce<T>(access: Access, signal: AbortSignal, request: () => Promise<T>): Promise<T | undefined> {
  const { client } = access;
  try {
    // The SDK leaves its listener on the signal that it receives, so each poll has its own signal.
    const pollSignal = AbortSignal.any([signal]);
    return await client.withAbortSignal(pollSignal, () => client.withDeadline(Date.now() + MAX_POLL_MS, request));
  } catch (error) {
    if (signal.aborted || isDeadlineExceeded(error)) return undefined;
    throw toClientError(error, false);
  }
}

const isDeadlineExceeded = (error: unknown): boolean => grpcOf(error)?.code === GRPC.DEADLINE_EXCEEDED;

/** The runs of the chain that the server still has, oldest first, from `first` on. */
async function runChainOf(access: Access, executionId: string, first: string | undefined): Promise<string[]> {
  const described = await describePartially(access, executionId);
  if (described === undefined) throw new ClientError('not_found', 'There is no execution with that id.');
  const runs = [described.runId];
  while (runs[0] !== first) {
    const before = await runBefore(access, executionId, runs[0]!);
    if (before === undefined) break;
    runs.unshift(before);
  }
  if (first !== undefined && runs[0] !== first) throw foreignEventId();
  return runs;
}

async function runBefore(access: Access, executionId: string, runId: string): Promise<string | undefined> {
  const first = historyOf(access, executionId, runId).next();
  // The first runs may be past their retention: the stream begins with the oldest run that the server has.
  const event = (await first.catch(onCode('not_found', () => undefined)))?.value;
  if (event?.type !== 'workflowStarted') return undefined;
  return event.continuedFrom ?? runInputOf(event.argument)?.retryOf?.runId;
}

function parsePosition(id: string): StreamPosition {
  const [, runId, number] = /^([0-9a-f-]{36}):(\d{1,12})$/.exec(id) ?? [];
  if (runId === undefined) throw foreignEventId();
  return { runId, number: Number(number) };
}

const foreignEventId = (): ClientError =>
  new ClientError('invalid_cursor', 'The Last-Event-ID is not one of this execution. Leave it out to begin anew.');
