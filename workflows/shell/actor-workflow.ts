/**
 * Binds an actor (workflows/actors/actor.ts) to Temporal: updates with their validators, signals, queries, effects,
 * timers, activities, and continue-as-new when the history is long.
 *
 * Handlers are synchronous. Validator and handler of an update run in the same activation, so what the validator
 * allowed still holds, and no operation is half done when the actor continues as new (TEMPORAL.md §2).
 */
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributeUpdatePair } from '@temporalio/common';
import {
  type ActivityFunction,
  type ActivityOptions,
  ApplicationFailure,
  allHandlersFinished,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  log,
  makeContinueAsNewFunc,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { ATTRIBUTES } from '../../src/contract/search-attributes.ts';
import {
  type Actor,
  type ActorCall,
  type ActorSnapshot,
  applyUpdate,
  beginActor,
  type CarryingStart,
  continueAsNewStart,
  type Effect,
  isRefusal,
  type NextStep,
  type Refusal,
  refuse,
  type SearchAttributes,
  type StateChange,
} from '../actors/actor.ts';
import { callByName } from '../run/activities-and-timers.ts';
import { isWorkflowGone } from '../run/failures.ts';
import { runUncancellable } from './uncancellable.ts';

const { KEYWORD, KEYWORD_LIST } = SearchAttributeType;

/** With fewer events than this an actor would do nothing but continue as new. */
const MIN_HISTORY_LIMIT = 20;

type KeyedRequest = { readonly key: string } | undefined;

/** The workflow of an actor. `activities`: how its activities are called. */
export function actorWorkflow<Start extends CarryingStart, State>(
  actor: Actor<Start, State>,
  activities: ActivityOptions = {},
): (start: Start) => Promise<void> {
  return (start) => runUncancellable(() => new ActorExecution(actor, start, activities).run());
}

/** One execution of an actor: until it ends or continues as new. */
class ActorExecution<Start extends CarryingStart, State> {
  readonly #actor: Actor<Start, State>;
  readonly #start: Start;
  readonly #activities: ActivityOptions;
  #snapshot: ActorSnapshot<State>;
  /** The history's length in the last task that brought an event of history. */
  #lastTask = workflowInfo().historyLength;
  /** Signals and cancellations on their way to other workflows. */
  #pendingSends = 0;

  constructor(actor: Actor<Start, State>, start: Start, activities: ActivityOptions) {
    const { workflowId, runId } = workflowInfo();
    this.#actor = actor;
    this.#start = start;
    this.#activities = activities;
    this.#snapshot = beginActor(actor, start, { now: Date.now(), workflowId, runId });
  }

  async run(): Promise<void> {
    this.#listen();
    for (;;) {
      const next = this.#next();
      if (next === 'end') {
        await this.#drain();
        if (this.#next() === 'end') return;
      } else if (this.#isFull()) {
        await this.#drain();
        return this.#continueAsNew();
      } else if (next === 'act' || (await this.#waitUntilDue(next))) {
        await this.#act();
      }
    }
  }

  #next(): NextStep {
    return this.#actor.next?.(this.#snapshot.state, Date.now()) ?? 'wait';
  }

  /** Waits for a time. False: the history is full, or the actor waits for something else by now. */
  async #waitUntilDue(next: Exclude<NextStep, 'act' | 'end'>): Promise<boolean> {
    const isOver = () => this.#isFull() || !isSame(this.#next(), next);
    if (next !== 'wait') return !(await condition(isOver, Math.max(1, next.at - Date.now())));
    await condition(isOver);
    return false;
  }

  async #act(): Promise<void> {
    const acted = this.#actor.act?.(this.#snapshot.state, Date.now());
    if (acted === undefined) return;
    this.#apply(acted);
    if (acted.call !== undefined) await this.#call(acted.call);
  }

  async #call({ activity, argument, done }: ActorCall<State>): Promise<void> {
    const calledAt = Date.now();
    const calls = proxyActivities<{ [name: string]: ActivityFunction<[object], unknown> }>(this.#activities);
    const result = await callByName(calls, activity)(argument);
    this.#apply(done(this.#snapshot.state, result, calledAt, Date.now()));
  }

  /** What must not be in flight when the execution ends. */
  async #drain(): Promise<void> {
    await condition(() => this.#pendingSends === 0);
    await condition(allHandlersFinished);
  }

  /**
   * Whether the history has reached its limit, by values that a replay sees too. A task that brought only refused
   * updates leaves no trace in history, and a replay does not activate the workflow for it: nothing is decided there.
   */
  #isFull(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    if (this.#lastTask !== historyLength) return false;
    return continueAsNewSuggested || historyLength >= Math.max(this.#start.historyLimit, MIN_HISTORY_LIMIT);
  }

  /** The memo is passed on, since it would not carry over by itself; search attributes do (TEMPORAL.md §2). */
  #continueAsNew(): Promise<never> {
    const { workflowType, memo = {} } = workflowInfo();
    const continueAsNew = makeContinueAsNewFunc<(start: Start) => Promise<void>>({ workflowType, memo });
    return continueAsNew(continueAsNewStart(this.#actor, this.#start, this.#snapshot));
  }

  /** Buffered signals and updates are delivered within `setHandler`. */
  #listen(): void {
    const { updates = {}, signals = {}, queries = {} } = this.#actor;
    for (const name of Object.keys(updates)) this.#listenToUpdate(name);
    for (const [name, operation] of Object.entries(signals))
      setHandler(defineSignal<[unknown]>(name), (payload) =>
        this.#apply(operation(this.#snapshot.state, payload, Date.now())),
      );
    for (const [name, answer] of Object.entries(queries))
      setHandler(defineQuery<unknown, [unknown?]>(name), (argument) => answer(this.#snapshot.state, argument));
  }

  #listenToUpdate(name: string): void {
    const take = (request: KeyedRequest) =>
      refuseOnError(() => applyUpdate(this.#actor, this.#snapshot, name, request, Date.now()));
    const handler = (request: KeyedRequest): unknown => {
      const taken = take(request);
      if (isRefusal(taken)) throw failureOf(taken);
      this.#snapshot = taken.state;
      this.#lastTask = workflowInfo().historyLength;
      this.#perform(taken.effects);
      return taken.answer;
    };
    const validator = (request: KeyedRequest): void => {
      const taken = take(request);
      if (isRefusal(taken)) throw failureOf(taken);
    };
    setHandler(defineUpdate<unknown, [KeyedRequest]>(name), handler, { validator });
  }

  #apply({ state, effects }: StateChange<State>): void {
    this.#snapshot = { ...this.#snapshot, state };
    this.#lastTask = workflowInfo().historyLength;
    this.#perform(effects);
  }

  #perform(effects: readonly Effect[] = []): void {
    for (const effect of effects) {
      if (effect.type === 'memo') upsertMemo(effect.fields);
      else if (effect.type === 'searchAttributes') upsertSearchAttributes(attributePairs(effect.values));
      else this.#send(effect);
    }
    const details = this.#actor.details?.(this.#snapshot.state);
    if (details !== undefined) setCurrentDetails(details);
  }

  #send(effect: Extract<Effect, { workflowId: string }>): void {
    this.#pendingSends++;
    const sent = (): void => {
      this.#pendingSends--;
    };
    send(effect).then(sent, (error: unknown) => {
      sent();
      const { workflowId } = effect;
      if (!isWorkflowGone(error))
        return log.warn('A workflow could not be reached.', { workflowId, error: String(error) });
      const change = this.#actor.targetGone?.(this.#snapshot.state, workflowId, Date.now());
      if (change !== undefined) this.#apply(change);
    });
  }
}

async function send(effect: Extract<Effect, { workflowId: string }>): Promise<void> {
  const target = getExternalWorkflowHandle(effect.workflowId);
  if (effect.type === 'cancel') await target.cancel();
  else await target.signal<[object]>(effect.name, effect.payload);
}

function isSame(a: NextStep, b: NextStep): boolean {
  return typeof a === 'string' || typeof b === 'string' ? a === b : a.at === b.at;
}

/** An error that is no ApplicationFailure would leave the workflow task retrying for ever. */
function refuseOnError<T extends object>(take: () => T): T | Refusal {
  try {
    return take();
  } catch (error) {
    return refuse(
      'invalid_request',
      `The update cannot be taken: ${error instanceof Error ? error.message : 'unknown'}.`,
    );
  }
}

/** What the caller of an update sees: the code is the failure's type. */
function failureOf({ refused, message, details }: Refusal): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, refused, ...(details === undefined ? [] : [details]));
}

/** Search attributes by name, in the SDK's form. Tags are a list; the others that actors have are keywords. */
function attributePairs(values: SearchAttributes): SearchAttributeUpdatePair[] {
  return Object.entries(values).map(([name, value]) =>
    name === ATTRIBUTES.tags
      ? { key: defineSearchAttributeKey(name, KEYWORD_LIST), value: value === null ? null : [value].flat() }
      : { key: defineSearchAttributeKey(name, KEYWORD), value: value as string | null },
  );
}
