/**
 * Streams the events of an execution as they happen. Long polls follow its history, across continue-as-new and retries,
 * and src/history folds it on the way. One history always gives the same events with the same ids, so a reader that was
 * disconnected resumes after the last id that it has seen.
 */

import type { RunError, RunStatus } from '../../contract/run.ts';
import { runInputOf } from '../../engine/state/start.ts';
import type { Closed, HistoryEvent, Unreadable } from '../../history/events.ts';
import { defined } from '../../json/defined.ts';
import type { Json } from '../../json/json.ts';
import { ClientError, onCode } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { describeLegibly } from '../temporal/actor-calls.ts';
import { readClosing } from '../temporal/first-event.ts';
import { GRPC } from '../temporal/grpc.ts';
import { historyOf, plainEvents } from '../temporal/histories.ts';
import { askForHistory } from '../temporal/history-page.ts';
import { grpcOf, translated } from '../temporal/rpc.ts';
import { Turns } from '../temporal/turns.ts';
import { legible, writable } from '../temporal/unreadable.ts';
import { type News, RunEvents } from './run-events.ts';
import { outcomeOf } from './run-view.ts';

/** An event of a stream. */
export type Happening = { readonly id: string } & (News | { readonly event: 'end'; readonly data: End });

interface End {
  readonly status: RunStatus;
  readonly output?: Json;
  readonly error?: RunError;
  /** Why output or error are missing. */
  readonly unreadable?: Unreadable;
}

/** Temporal answers a long poll after 20 s at the latest. */
const LONGEST_POLL_MS = 25_000;
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
): Promise<AsyncGenerator<Happening>> {
  const seen = after === undefined ? undefined : positionOf(after);
  return follow(access, executionId, signal, await chainOf(access, executionId, seen?.runId), seen);
}

type Position = { readonly runId: string; readonly number: number };

async function* follow(
  access: Access,
  executionId: string,
  signal: AbortSignal,
  runs: string[],
  seen: Position | undefined,
): AsyncGenerator<Happening> {
  for (let n = 0; n < runs.length && !signal.aborted; n++) {
    const runId = runs[n]!;
    const skip = runId === seen?.runId ? seen.number : 0;
    const run = new FollowedRun(executionId, runId);
    for await (const happening of run.follow(access, signal)) {
      if (run.events.told > skip) yield happening;
    }
    const { closed } = run;
    if (closed?.how === 'continued' && closed.nextRunId !== undefined) {
      if (runs[n + 1] === undefined) runs.push(closed.nextRunId);
      continue;
    }
    if (closed === undefined || runs[n + 1] !== undefined) continue;
    const data = await endOf(access, executionId, runId, closed);
    if (data !== undefined && run.events.told + 1 > skip) yield { id: run.events.nextId(), event: 'end', data };
  }
}

/** The end of the last run of the chain; undefined where there is none to tell. */
export async function endOf(
  access: Access,
  executionId: string,
  runId: string,
  { how }: Closed,
): Promise<End | undefined> {
  const closing = await legible(() => readClosing(access, executionId, runId));
  if (closing.unreadable !== undefined) return { status: STATUSES[how], unreadable: closing.unreadable };
  if (closing.value === undefined) return undefined;
  const { value, unreadable } = writable(outcomeOf(closing.value), ['output', 'error']);
  return { ...value, ...defined({ unreadable }) };
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

  async *follow(access: Access, signal: AbortSignal): AsyncGenerator<Happening> {
    const turns = new Turns();
    for await (const page of pagesOf(access, this.#executionId, this.#runId, signal)) {
      for (const event of page) {
        await turns.take(this.events.push(event));
        await turns.rest();
        if (event.type === 'closed') this.closed = event;
        yield* this.#news();
      }
      await turns.take(this.events.settle());
      yield* this.#news();
    }
  }

  *#news(): Generator<Happening> {
    for (const news of this.events.takeNews()) yield { id: this.events.nextId(), ...shown(news) };
  }
}

/** Values that cannot be written as JSON are left out. */
function shown(news: News): News {
  return news.event === 'step' ? { ...news, data: writable(news.data, ['output', 'error']).value } : news;
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
    const page = await polled(access, signal, () => askForHistory(access, request));
    if (page === undefined) continue;
    yield await plainEvents(access, page);
    nextPageToken = page.nextPageToken ?? new Uint8Array();
    if (nextPageToken.length === 0) return;
  } while (!signal.aborted);
}

/** Undefined when no event arrived in time, or when the reader disconnected. */
async function polled<T>(access: Access, signal: AbortSignal, ask: () => Promise<T>): Promise<T | undefined> {
  const { client } = access;
  try {
    // The SDK leaves its listener on the signal that it receives, so each poll has its own signal.
    const once = AbortSignal.any([signal]);
    return await client.withAbortSignal(once, () => client.withDeadline(Date.now() + LONGEST_POLL_MS, ask));
  } catch (error) {
    if (signal.aborted || isLate(error)) return undefined;
    throw translated(error, false);
  }
}

const isLate = (error: unknown): boolean => grpcOf(error)?.code === GRPC.DEADLINE_EXCEEDED;

/** The runs of the chain that the server still has, oldest first, from `first` on. */
async function chainOf(access: Access, executionId: string, first: string | undefined): Promise<string[]> {
  const described = await describeLegibly(access, executionId);
  if (described === undefined) throw new ClientError('not_found', 'There is no execution with that id.');
  const runs = [described.runId];
  while (runs[0] !== first) {
    const before = await runBefore(access, executionId, runs[0]!);
    if (before === undefined) break;
    runs.unshift(before);
  }
  if (first !== undefined && runs[0] !== first) throw foreign();
  return runs;
}

async function runBefore(access: Access, executionId: string, runId: string): Promise<string | undefined> {
  const first = historyOf(access, executionId, runId).next();
  // The first runs may be past their retention: the stream begins with the oldest run that the server has.
  const event = (await first.catch(onCode('not_found', () => undefined)))?.value;
  if (event?.type !== 'workflowStarted') return undefined;
  return event.continuedFrom ?? runInputOf(event.argument)?.retryOf?.runId;
}

function positionOf(id: string): Position {
  const [, runId, number] = /^([0-9a-f-]{36}):(\d{1,12})$/.exec(id) ?? [];
  if (runId === undefined) throw foreign();
  return { runId, number: Number(number) };
}

const foreign = (): ClientError =>
  new ClientError('invalid_cursor', 'The Last-Event-ID is not one of this execution. Leave it out to begin anew.');
