/**
 * An actor as data and pure functions (ARCHITECTURE.md §4). Its state is immutable: an operation takes the state and a
 * request, and returns the next state, an answer and effects, or a refusal. The shell
 * (workflows/shell/actor-workflow.ts) binds every actor to Temporal in the same way. So an actor is tested without
 * Temporal.
 *
 * Times are epoch milliseconds of the workflow's clock, which replays the same.
 */
import type { ActorStart, RememberedAnswers } from '../../src/contract/actors.ts';
import type { Json } from '../../src/json/json.ts';

/** Why a request is refused. The caller sees `refused`, a code, as the type of the failure. */
export interface Refusal {
  readonly refused: string;
  readonly message: string;
  readonly details?: Json;
}

export const refuse = (code: string, message: string, details?: Json): Refusal =>
  details === undefined ? { refused: code, message } : { refused: code, message, details };

export const isRefusal = (outcome: object): outcome is Refusal => 'refused' in outcome;

/** What the shell does after an operation, in the order of the list. */
export type Effect =
  /** Fields of the memo, which `describe()` answers without a worker. An undefined field is removed. */
  | { readonly type: 'memo'; readonly fields: { readonly [name: string]: unknown } }
  | { readonly type: 'searchAttributes'; readonly values: SearchAttributes }
  /** Sends a signal to another workflow, or asks to cancel it, and does not wait for it. */
  | { readonly type: 'signal'; readonly workflowId: string; readonly name: string; readonly payload: object }
  | { readonly type: 'cancel'; readonly workflowId: string };

/** Search attributes by name. Null removes one. */
export interface SearchAttributes {
  readonly [name: string]: string | readonly string[] | null;
}

export interface StateChange<State> {
  readonly state: State;
  readonly effects?: readonly Effect[];
}

/** A change by an update. */
export interface AnsweredChange<State, Answer> extends StateChange<State> {
  readonly answer: Answer;
}

/**
 * What an update does. The same function is the update's validator, which drops the change: a refused update leaves no
 * event in the history.
 */
export type Operation<State, Request, Answer> = (
  state: State,
  request: Request,
  now: number,
) => AnsweredChange<State, Answer> | Refusal;

/** What a signal does. The payload is what a caller sent: it may be anything. */
export type SignalOperation<State> = (state: State, payload: unknown, now: number) => StateChange<State>;

/**
 * What happens when nothing comes from outside: nothing, `act` immediately, `act` at a time, or the end of the
 * workflow. The timer starts anew when `at` changes.
 */
export type NextStep = 'wait' | 'act' | 'end' | { readonly at: number };

/** An activity that the actor awaits. Operations are handled meanwhile; another `act` is not. */
export interface ActorCall<State> {
  readonly activity: string;
  readonly argument: object;
  /** Takes the result into the state of then. `calledAt`: when the activity was scheduled. */
  readonly done: (state: State, result: unknown, calledAt: number, now: number) => StateChange<State>;
}

interface ExecutionInfo {
  readonly now: number;
  readonly workflowId: string;
  /** Temporal's id of this execution. */
  readonly runId: string;
}

/** The argument of an actor: `carried` is the state that the execution before has continued with. */
export interface CarryingStart extends ActorStart {
  readonly carried?: object;
}

export interface Actor<Start extends CarryingStart, State> {
  /** The state at the first execution, or the carried one. */
  readonly begin: (start: Start, birth: ExecutionInfo) => State;
  /** The state as JSON, without the remembered answers: `begin` restores it. */
  readonly carry: (state: State) => object;
  /** By the name of the update. Each request has a `key`: the same key again gets the same answer. */
  readonly updates?: { readonly [name: string]: Operation<State, never, unknown> };
  readonly signals?: { readonly [name: string]: SignalOperation<State> };
  readonly queries?: { readonly [name: string]: (state: State, argument?: unknown) => unknown };
  /** Default: `wait`. */
  readonly next?: (state: State, now: number) => NextStep;
  readonly act?: (state: State, now: number) => StateChange<State> & { readonly call?: ActorCall<State> };
  /** A workflow that an effect was meant for has ended, or never was. */
  readonly targetGone?: (state: State, workflowId: string, now: number) => StateChange<State>;
  /** One line that Temporal's Web UI shows. */
  readonly details?: (state: State) => string;
}

/** An actor's state between two operations. */
export interface ActorSnapshot<State> {
  readonly state: State;
  /**
   * To the latest requests, by request key, oldest first. They are carried across continue-as-new, since Temporal
   * executes an update id again there (TEMPORAL.md §2).
   */
  readonly answers: RememberedAnswers;
}

export function beginActor<Start extends CarryingStart, State>(
  actor: Actor<Start, State>,
  start: Start,
  birth: ExecutionInfo,
): ActorSnapshot<State> {
  const { answers } = (start.carried ?? {}) as { readonly answers?: RememberedAnswers };
  return { state: actor.begin(start, birth), answers: answers ?? [] };
}

/** The argument of the next execution. */
export function continueAsNewStart<Start extends CarryingStart, State>(
  actor: Actor<Start, State>,
  start: Start,
  { state, answers }: ActorSnapshot<State>,
): Start {
  const carried = actor.updates === undefined ? actor.carry(state) : { ...actor.carry(state), answers };
  return { ...start, carried };
}

/** Takes an update. One whose key was answered before changes nothing and gets that answer. */
export function applyUpdate<Start extends CarryingStart, State>(
  actor: Actor<Start, State>,
  live: ActorSnapshot<State>,
  name: string,
  request: { readonly key: string } | undefined,
  now: number,
): AnsweredChange<ActorSnapshot<State>, unknown> | Refusal {
  const operation = actor.updates?.[name] as Operation<State, { readonly key: string }, unknown> | undefined;
  if (operation === undefined) return refuse('invalid_request', `There is no update '${name}'.`);
  if (typeof request?.key !== 'string') return refuse('invalid_request', 'The update needs an argument with a key.');
  const known = live.answers.find(({ key }) => key === request.key);
  if (known !== undefined) return { state: live, answer: known.answer };
  const applied = operation(live.state, request, now);
  if (isRefusal(applied)) return applied;
  const answers = remember(live.answers, { key: request.key, answer: applied.answer as Json });
  return { ...applied, state: { state: applied.state, answers } };
}

/** A client repeats a request within seconds. */
const MAX_ANSWERS = 64;
/** Of all answers but the latest, as JSON: one payload carries them with the rest of the state. */
const MAX_ANSWERS_CHARACTERS = 300_000;

/** The answers with a new one. The oldest ones go where there are too many. */
function remember(answers: RememberedAnswers, latest: RememberedAnswers[number]): RememberedAnswers {
  const all = [...answers, latest];
  const charactersOf = (one: RememberedAnswers[number]) => (one === latest ? 0 : JSON.stringify(one).length);
  return all.slice(firstFittingIndex(all, MAX_ANSWERS, charactersOf, MAX_ANSWERS_CHARACTERS));
}

/** Where the latest entries begin that fit: at most `maxCount` of them, and `maxSize` of all together. */
export function firstFittingIndex<T>(
  all: readonly T[],
  maxCount: number,
  sizeOf: (one: T) => number,
  maxSize: number,
): number {
  let from = Math.max(0, all.length - maxCount);
  let size = 0;
  for (let at = all.length - 1; at >= from; at--) {
    size += sizeOf(all[at]!);
    if (size > maxSize) from = at + 1;
  }
  return from;
}
