/**
 * The actor `gate.{org}.{hash}`: how many runs go at once (ARCHITECTURE.md §4). What it decides stands in limiter-state.ts.
 *
 * A run says by a signal that it is about to end; its lease is free once Temporal says that it has. A run that was
 * terminated says nothing, so the holders are looked after: soon while somebody waits, seldom while nobody does. The gate
 * ends when it holds nothing any more.
 */
import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  getExternalWorkflowHandle,
  log,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  ACTIVE_WANTED,
  type GateActivities,
  type GateStart,
  limitReached,
  MOST_HELD,
  type QueueOrder,
  type ReleaseSlot,
  type SlotGranted,
  type TakeAnswer,
  type TakeSlot,
} from '../../src/contract/limiter.ts';
import { isGone } from '../run/run-report.ts';
import { isFull, refuse, stored, writes } from './actor.ts';
import { type LimiterNotice, LimiterState } from './limiter-state.ts';

/** An empty gate ends after this. */
const IDLE_MS = 60_000;
/** The first look after something has changed, while somebody waits or is ending; then ever more seldom. */
const SOON_MS = 1_000;
const SLOWER = 1.5;
const LONGEST_PAUSE_MS = 60_000;
/** While nobody waits. */
const SELDOM_MS = 300_000;
/** Runs asked about at once. */
const MOST_ASKED = 200;
/** How long one question waits for runs that are about to end. */
const PATIENCE_MS = 2_000;

const { describeHolders } = proxyActivities<GateActivities>({
  startToCloseTimeout: 30_000,
  retry: { initialInterval: 500, maximumInterval: 30_000 },
});

export function gate(start: GateStart): Promise<void> {
  return stored(() => keepGate(start));
}

async function keepGate(start: GateStart): Promise<void> {
  const book = new LimiterState(start.carried?.book);
  const taken = writes(start.carried?.answers ?? []);
  const own = workflowInfo().workflowId;
  /** Runs that have said that they are ending, and were not looked after since. */
  const leaving = new Set(book.ending);
  let sending = 0;
  let isPoked = false;
  let pokedAt = Date.now();
  /** When the holders were looked after, how far round, and how long until the next time. */
  let lookedAt = Date.now();
  let round = 0;
  let pauseMs = SOON_MS;

  const poke = (): void => {
    pauseMs = SOON_MS;
    pokedAt = Date.now();
    isPoked = true;
    setCurrentDetails(`${start.scope}: ${book.active} of ${book.limit} run, ${book.waiting} wait.`);
  };
  const tell = (words: readonly LimiterNotice[]): void => {
    for (const word of words) {
      sending++;
      const done = (): void => {
        sending--;
      };
      say(word, own).then(done, (error: unknown) => {
        done();
        if (!isGone(error)) return log.warn('A run could not be told.', { run: word.run, error: String(error) });
        // It was terminated: nobody else will say so.
        changed(() => book.forget([word.run]));
      });
    }
  };
  const changed = (change: () => void): void => {
    const words: LimiterNotice[] = [];
    change();
    book.grant(Date.now(), words);
    poke();
    tell(words);
  };

  /** A request that takes no place in the queue, and finds no slot. */
  const isRefused = (request: TakeSlot): boolean =>
    (request.overflow === 'reject' || request.overflow === 'cancel-newest') &&
    !book.knows(request.run) &&
    book.weigh(request, Date.now()).as === 'full';

  taken.on<TakeSlot, TakeAnswer>(
    'take',
    (request) => {
      if (book.knows(request.run)) return;
      if (book.wantsActive(request)) refuse(ACTIVE_WANTED, 'Say which runs are active already.');
      const { limit } = request;
      // What is active has to be written down, which a refusal does not do.
      if (isRefused(request) && request.active === undefined)
        refuse('limit_reached', limitReached(limit), { ...book.reached(request.shownFrom), limit });
      if (!book.hasRoom)
        refuse('queue_full', `${MOST_HELD} runs go or wait already, and no more can wait. Try again later.`);
    },
    (request) => {
      const words: LimiterNotice[] = [];
      book.count(request);
      if (isRefused(request)) {
        poke();
        return { as: 'full', reached: { ...book.reached(request.shownFrom), limit: request.limit } };
      }
      const verdict = book.take(request, Date.now(), words);
      poke();
      tell(words);
      // Between validator and handler nothing happens, so it is not full.
      return verdict.as === 'waiting'
        ? { as: 'waiting', since: new Date(verdict.since).toISOString() }
        : { as: 'granted' };
    },
  );
  setHandler(defineSignal<[ReleaseSlot]>('release'), (request) => {
    if (typeof request?.run !== 'string') return;
    if (request.unstarted === true) return changed(() => book.forget([request.run]));
    if (book.leaving(request.run)) leaving.add(request.run);
    poke();
  });
  setHandler(defineQuery<QueueOrder>('order'), () => book.order());

  /** Asks Temporal, and frees what is held by nobody. */
  const look = async (runs: readonly string[], patienceMs: number): Promise<void> => {
    const askedAt = Date.now();
    const gone = book.gone(await describeHolders({ runs, patienceMs }), askedAt);
    if (gone.length > 0) changed(() => book.forget(gone));
    // Others were about to end as well, and may have meanwhile.
    if (gone.length > 0 && patienceMs > 0) for (const run of runs) if (book.isEnding(run)) leaving.add(run);
  };

  while (!isFull(start.historyLimit)) {
    const [...asked] = leaving;
    if (asked.length > 0) {
      leaving.clear();
      await look(asked, PATIENCE_MS);
      continue;
    }
    isPoked = false;
    const isWanted = book.waiting > 0 || book.ending.length > 0;
    const dueAt = book.isEmpty ? pokedAt + IDLE_MS : lookedAt + (isWanted ? pauseMs : SELDOM_MS);
    const waitMs = Math.max(1, dueAt - Date.now());
    if (await condition(() => isPoked || isFull(start.historyLimit), waitMs)) continue;
    if (book.isEmpty) {
      await condition(allHandlersFinished);
      if (book.isEmpty && sending === 0) return;
      continue;
    }
    pauseMs = Math.min(pauseMs * SLOWER, LONGEST_PAUSE_MS);
    const runs = book.holders(MOST_ASKED, round);
    round += runs.length;
    lookedAt = Date.now();
    await look(runs, 0);
  }
  await condition(() => sending === 0);
  await condition(allHandlersFinished);
  await continueAsNew<typeof gate>({ ...start, carried: { book: book.carried(), answers: taken.answers() } });
}

async function say(word: LimiterNotice, gateId: string): Promise<void> {
  const run = getExternalWorkflowHandle(word.run);
  if (word.say === 'granted') await run.signal<[SlotGranted]>('granted', { gate: gateId });
  else if (word.how === 'abort') await run.signal('abort', { reason: 'A newer run took its place.' });
  else await run.cancel();
}
