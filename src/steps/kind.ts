/**
 * The contract of a step kind. A kind is one file in `kinds/` that reads like its page in the manual. It plans once:
 * its config is parsed when the definition is compiled. Then it begins and resumes visits. A kind decides; the core
 * acts on the outcome.
 *
 * Kinds are pure: they await nothing and read no clock (`visit.now` is the run's). What a kind remembers between begin
 * and resume is its step state, of the type `S` that the kind declares: plain JSON that survives continue-as-new.
 *
 * The engine stores step state as JSON and hands each visit the state that the same kind stored. Members that take or
 * give `S` are methods, whose parameters TypeScript compares in both directions, so a `StepKind<LoopState>` is a
 * `StepKind` in the table of kinds, and no kind casts.
 */

import type { z } from 'zod';
import type { Mark } from '../contract/build-id.ts';
import type { Decision, MadeDecision, Refusal, Submission } from '../contract/run/run.ts';
import type { PayloadFormat, StepDefinition } from '../definition/document/types.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { Expression } from '../template/expression.ts';
import type { Template } from '../template/template.ts';
import type { Rendered } from '../template/types.ts';
import type { LoopState } from './loop-state.ts';

/**
 * pure: writes no event to history. effect: one or more activities. wait: for a person, a message or the clock.
 * container: opens frames or a loop record. end: ends the run or the frame.
 */
export type KindClass = 'pure' | 'effect' | 'wait' | 'container' | 'end';

export interface Ports {
  /**
   * The port of a step that is skipped or preset, or that continues after an error; null where there is none (finish,
   * fail).
   */
  readonly normal: string | null;
  /**
   * The ports that the kind can take with this config, including the normal one. Every kind also has `error` and
   * `skipped`, except those of class end.
   */
  readonly names: readonly string[];
  /** Ports into the body of a container: these of `names`, or `any` other wired name (parallel's branches). */
  readonly body?: readonly string[] | 'any';
  /** Ports of `names` that the config rules out. */
  readonly ruledOut?: readonly string[];
  /**
   * What a step does at a port that is not wired, where its path does not end there. The engine does it: a kind ends by
   * the port, whether that is wired or not.
   */
  readonly unwired?: { readonly [port: string]: Unwired };
}

/**
 * The step fails with this code, leaves by another port, or cancels the run with this reason, even where the port is
 * wired.
 */
type Unwired =
  | { readonly fails: string; readonly message?: (slug: string) => string }
  | { readonly leaves: string }
  | { readonly cancels: string };

/** Step state of a kind that remembers nothing. */
export type NoState = { [member: string]: never };

export interface StepKind<S extends JsonObject = JsonObject> {
  readonly type: string;
  readonly aliases?: readonly string[];
  readonly class: KindClass;
  /**
   * How a container walks its body. loop: within its frame, under a loop record. branches: one frame for each wired
   * body port. iterations: one frame for each item, named by the config's `as` beside `item`.
   */
  readonly scope?: 'loop' | 'branches' | 'iterations';
  /** A visit ends more than its step: it completes the run, or leaves the innermost loop. */
  readonly ends?: 'run' | 'loop';
  /** A rollback stops at a visit of this kind: what completed before stays done. */
  readonly stopsRollback?: true;
  /** Decisions are addressed to its visits: a late decision is refused as `already_decided`. */
  readonly takesDecisions?: true;
  /** `{{ callback('slug') }}` is the URL of its next visit. */
  readonly takesCallbacks?: true;
  /** False for an effect that cannot be a rollback, because it needs more than one activity. */
  readonly canUndo?: false;
  /** It starts other runs. A rollback starts none, since nothing would wait for them. */
  readonly startsRuns?: true;
  /** One sentence for lists, then the manual's page in Markdown. */
  readonly summary: string;
  readonly description: string;
  readonly example: StepDefinition;
  /** `steps.x.output.data` in words, or as a shape. */
  readonly output: string;
  /** The members of `steps.x.output.data`, where they are always the same. */
  readonly dataMembers?: readonly string[];
  /**
   * The written config (templates are strings). A function, since zod is not in the workflow bundle: the core never
   * calls it.
   */
  readonly schema: () => z.ZodType;
  ports(step: StepDefinition): Ports;
  /** What the written config needs of the host and the organization, for the checker. */
  needs?(config: JsonObject): Needs;
  /** Which variables or state keys the written config assigns, for the checker. */
  assigns?(config: JsonObject): Assignments;
  /** Members of the config that are evaluated after a visit has begun. `traceEvaluated` traces their values. */
  readonly lateMembers?: readonly string[];
  /** Parses the written config once. Throws TemplateError or ConfigError; both become problems with a pointer. */
  plan(config: JsonObject, parse: Parse, step: StepDefinition): Behaviour<S>;
}

/** Needs of a written config, as written: templates are not evaluated. `at` is a JSON pointer within the config. */
export interface Needs {
  /** Actions of the host. `parameters` are given where the step itself calls the action. */
  readonly actions?: readonly {
    readonly type: Json | undefined;
    readonly at: string;
    readonly parameters?: { readonly value: Json; readonly at: string };
  }[];
  /** The host must allow bash. */
  readonly bash?: true;
  /** A number of bytes that the host limits to what a step may keep. */
  readonly maxBytes?: { readonly value: Json | undefined; readonly at: string };
  /** Names of MCP servers: one or a list. */
  readonly mcpServers?: { readonly names: Json | undefined; readonly at: string };
  /** A tool of one of these servers; without `server`, of any server. */
  readonly mcpTool?: { readonly server?: Json; readonly tool: Json | undefined; readonly input: Json };
  /** The rules of an approval. */
  readonly approval?: { readonly rules: JsonObject; readonly at: string };
}

/** `names` is undefined where a template makes them. */
export interface Assignments {
  readonly target: 'variables' | 'state';
  readonly names: readonly { readonly name: string; readonly at: string }[] | undefined;
}

/** Parses parts of a config. `at` is their JSON pointer within the config, for errors. */
export interface Parse {
  template(value: Json | undefined, at: string): Template;
  /** As template. It may contain `{{ secrets.NAME }}` and `{{ callback('slug') }}`. */
  secretTemplate(value: Json | undefined, at: string): Template;
  /** As template. It may contain `{{ callback('slug') }}`, but no secret. */
  callbackTemplate(value: Json | undefined, at: string): Template;
  /** `locals`: roots that this one expression may read besides the run's (listen's `payload`). */
  expression(source: string, at: string, locals?: readonly string[]): Expression;
}

export interface Behaviour<S extends JsonObject = JsonObject> {
  begin(visit: StepContext): Outcome<S>;
  /** Handles every event that a suspended visit waits for. */
  resume?(visit: OpenStepContext<S>, event: Resume): Outcome<S>;
  /**
   * Returns why the visit refuses this decision or submission; undefined where it accepts. Changes nothing. The engine
   * calls it first: `resume` gets only accepted events.
   */
  refuse?(visit: OpenStepContext<S>, event: DecisionEvent | SubmissionEvent): KindRefusal | undefined;
  /** Messages that the visit took and has not used. They return to the inbox when the visit ends without them. */
  unused?(state: S): readonly Message[];
  /**
   * For kinds that need more than one activity: how a retry of the run continues a visit that failed at an event.
   * `state` is the state before that event and may be changed in place. Without this method, a retry repeats an
   * activity that failed, and begins any other visit again.
   */
  onRetry?(state: S, failed: VisitFailure): RetryDecision;
}

export interface KindRefusal {
  readonly code: Refusal['code'];
  readonly message: string;
}

export interface VisitFailure {
  readonly code: string;
  /** The suffix of the activity or child run that failed. */
  readonly suffix?: string;
}

/**
 * repeat: the retry repeats the command that failed. continue: the visit continues after the failure. refuse: the run
 * cannot be retried, since completed commands would run again.
 */
export type RetryDecision = 'repeat' | 'continue' | 'refuse';

export interface Locals {
  readonly [root: string]: unknown;
}

/** A message that the run received. */
export type Message = {
  readonly name: string;
  readonly payload: Json;
  /** Its size in the inbox. */
  readonly bytes: number;
  /** Its number among all messages of the run. A returned message finds its place in the inbox by it. */
  readonly n?: number;
  /** The message is a published event; absent where it was sent to this run. */
  readonly event?: { readonly key?: string };
};

/** The messages that a listener takes. */
export interface Subscription {
  readonly names: readonly string[];
  /** Events must have this key; without it, events of any key match. Messages sent to the run have no key. */
  readonly key?: string;
}

/** What a kind may read and change of the run, valid during one begin or resume. */
export interface StepContext {
  readonly path: string;
  readonly slug: string;
  /** Epoch milliseconds of the event that is being handled. */
  readonly now: number;
  /** `locals` are additional roots for this evaluation (a message's `payload`). */
  render(template: Template, locals?: Locals): Json;
  renderSecret(template: Template): Rendered;
  evaluate(expression: Expression, locals?: Locals): Json | undefined;
  /** As evaluate, for a condition: whether the value is truthy, as in Jexl. */
  test(expression: Expression, locals?: Locals): boolean;
  wired(port: string): boolean;
  /** Body ports that are wired, in the order written. */
  readonly branches: readonly string[];
  /**
   * Takes up to `limit` unread messages that `accept` accepts out of the inbox, oldest first. `accept` is called once
   * for each. `isConstant`: every visit of the step refuses the same messages, so later visits do not check them
   * again.
   */
  takeMessages(
    hearing: Subscription,
    limit: number,
    accept: (payload: Json) => boolean,
    options?: { readonly isConstant?: boolean },
  ): Message[];
  /** Returns messages from takeMessages that the visit does not use. */
  returnMessages(messages: readonly Message[]): void;
  /**
   * Writes a run variable or a state key immediately (kind `set`). Throws StepFailure where the declared type does not
   * fit.
   */
  assign(target: 'variables' | 'state', name: string, value: Json): void;
  /** Traces the value of a member of the config that is evaluated later (`lateMembers`). */
  traceEvaluated(member: string, value: Json): void;
  /** Traces the decision of the approval at that path, and puts it into lists. */
  recordDecision(path: string, decision: MadeDecision): void;
  /** Whether the code of the worker of the task has a change of commands. */
  readonly isMarked: (mark: Mark) => boolean;
  /** The run, for kinds that start other runs. */
  readonly execution: {
    readonly id: string;
    readonly organizationId: string;
    readonly depth: number;
    /** The person who started it. */
    readonly initiator?: string;
    /** As in RunInput. */
    readonly requesters?: readonly string[];
    /** The run that started it. */
    readonly parentId?: string;
  };
}

/** The context of a visit that has begun, with the step state that it stored. The object may be changed in place. */
export interface OpenStepContext<S extends JsonObject = JsonObject> extends StepContext {
  readonly state: S;
}

export type Resume =
  | { readonly on: 'completed'; readonly suffix: string; readonly result: EffectResult }
  | { readonly on: 'failed'; readonly suffix: string; readonly error: FailureShape }
  | { readonly on: 'fired'; readonly suffix: string }
  | { readonly on: 'message'; readonly payload: Json; readonly message: Message }
  | DecisionEvent
  | SubmissionEvent
  | { readonly on: 'frame'; readonly name: string; readonly ended: true; readonly data: Json }
  | { readonly on: 'frame'; readonly name: string; readonly ended: false; readonly error: FailureShape }
  /** The loop's record is open and `loop` is readable: decide on the first tick. */
  | { readonly on: 'enter' }
  /** The body of a loop has ended (§2.2): decide on the next tick. */
  | { readonly on: 'tick'; readonly last: Json }
  /** A `break` in the body: end by `done`. */
  | { readonly on: 'break'; readonly value: Json };

/** `suffix`: which of the visit's asks the decision is for. */
export type DecisionEvent = Decision & { readonly on: 'decision'; readonly suffix?: string };
export type SubmissionEvent = Submission & { readonly on: 'submit'; readonly suffix?: string };

/** The result of an activity. */
export interface EffectResult {
  readonly data: Json;
  readonly meta?: JsonObject;
}

/** E8: every failure is typed. */
export interface FailureShape {
  readonly code: string;
  readonly message: string;
  readonly path?: string;
  readonly stepSlug?: string;
  readonly attempts?: number;
  readonly retryable: boolean;
  readonly details?: Json;
}

export interface RunSpec {
  /** The activity's name in the activities' table. */
  readonly activity: string;
  readonly config: Rendered;
  /** Appended to the visit's path to form the id; '' by default. Agents use `/turn[0]/tool[1]`. */
  readonly suffix?: string;
  /** Light enough for a local activity (ARCHITECTURE.md §3). */
  readonly light?: boolean;
  /** With `light`: the type of the host's action. The argument of the run lists those that are light. */
  readonly action?: string;
  /** Starting it again is safe: it has no side effects, or its author has set `retry`. */
  readonly repeatable?: true;
  /** The limit of one attempt in milliseconds, where the step names none. */
  readonly timeoutMs?: number;
  /** For long activities: after this time without a heartbeat, Temporal counts the attempt as failed. */
  readonly heartbeatMs?: number;
  /** The activity has its own row in the trace, of this step type, under the path with the suffix. */
  readonly inner?: string;
}
export interface TimerSpec {
  readonly suffix?: string;
  /** Epoch milliseconds. */
  readonly at: number;
}
export interface FrameSpec {
  /** A branch's name, or the index of an iteration. */
  readonly name: string;
  /** The body port at which the frame begins. */
  readonly port: string;
  readonly item?: { readonly value: Json; readonly index: number; readonly as?: string };
  /** The frame adds nothing to the paths of its visits (dag). */
  readonly flat?: true;
}
export interface ChildSpec {
  readonly suffix?: string;
  /** As of RunSpec. */
  readonly inner?: string;
  readonly workflow: string;
  /** A hash or a semver; the current version if absent. */
  readonly version?: string;
  readonly input: Json;
  /** The definition must be an employee (`type: employee`). */
  readonly employee?: true;
  /** false: resumed as soon as the child has started, by `completed` with `{executionId}`. */
  readonly wait?: false;
}
export type ApprovalSubject = {
  readonly priority?: string;
  readonly dueDate?: string;
  readonly resourceType?: string;
  readonly resourceId?: string;
  readonly routeHint?: string;
  readonly deeplink?: string;
};
export interface WaitingSpec {
  readonly kind: 'approval' | 'input' | 'message' | 'callback' | 'timer' | 'child';
  /** Epoch milliseconds. */
  readonly until?: number;
  readonly message?: string;
  readonly name?: string;
  /** The subscription, where it takes published events or messages of several names. */
  readonly hearing?: Subscription;
  /** For the search attribute SignalboxWaiting: `user:ann`, `role:finance`, `resource:order:7`. */
  readonly audience?: readonly string[];
  /** As of WaitingFor. */
  readonly form?: PayloadFormat;
  /** The subject: members of WaitingFor. */
  readonly about?: ApprovalSubject;
  /** Persons who may not decide. */
  readonly notBy?: readonly string[];
  /** As of WaitingFor. */
  readonly votes?: { readonly have: number; readonly needed: number };
  /** A number that changes when the wait has changed and must be published again. */
  readonly revision?: number;
}

/** A wait within the visit, under the path with a suffix: the approval of an agent's call. */
export interface AskSpec extends WaitingSpec {
  /** As of RunSpec. */
  readonly inner: string;
  readonly input: Json;
}

export type Outcome<S extends JsonObject = JsonObject> =
  | {
      readonly do: 'end';
      readonly port: string;
      readonly data: Json;
      readonly meta?: JsonObject;
      /** Of the failure, where the step fails since the port is not wired (`Ports.unwired`). */
      readonly details?: Json;
      /**
       * Messages in the output. They return to the inbox where the step fails in ending, as when `saveToState` fails.
       */
      readonly took?: readonly Message[];
      /** Branches whose entries move to the frame of the container (LANGUAGE.md §3.5). */
      readonly adopts?: readonly string[];
    }
  | { readonly do: 'fail'; readonly error: FailureShape; readonly rollback?: boolean }
  /** The visit stays open, with its step state, and waits for the commands and frames that it opens. */
  | {
      readonly do: 'suspend';
      readonly state: S;
      readonly waiting?: WaitingSpec;
      readonly run?: readonly RunSpec[];
      readonly timers?: readonly TimerSpec[];
      readonly frames?: readonly FrameSpec[];
      readonly children?: readonly ChildSpec[];
      /**
       * Asks within the visit, by suffix. null closes an ask; a failure closes it as refused.
       */
      readonly asks?: { readonly [suffix: string]: AskSpec | FailureShape | null };
      /** Messages of this name go to the visit, even while it does not wait. */
      readonly hears?: string;
      /** What was added to the step state since the last outcome. It counts towards the limit of the run's state. */
      readonly grown?: Json;
      /** The visit no longer waits for a person: it is answered, and ends when its commands have ended. */
      readonly answered?: true;
      /** Suffixes of commands, or names of frames, to cancel. */
      readonly cancel?: readonly string[];
    }
  /** Loop: opens the record, then resumes with `enter`. */
  | { readonly do: 'enter'; readonly state: LoopState }
  /** Loop: walks the body once more. `data` is the output of the step during this tick. */
  | { readonly do: 'tick'; readonly data: Json }
  /** Leaves the innermost loop of this frame by done. */
  | { readonly do: 'break'; readonly value: Json }
  /** Skips the step, as a `when` that does not hold. */
  | { readonly do: 'skip' }
  /** Completes the run. */
  | { readonly do: 'finish'; readonly output: Json; readonly drain?: boolean }
  /**
   * Cancels the whole run (an approval's onReject: cancel). The reason is a code, and `data` the output of the step.
   */
  | { readonly do: 'cancel'; readonly reason: string; readonly data?: JsonObject; readonly meta?: JsonObject }
  /** The visit ignores the event (a message that does not match). */
  | { readonly do: 'ignore' };

/** A config that cannot be planned. It becomes a problem at `/steps/{slug}/config{at}`. */
export class ConfigError extends Error {
  readonly code: string;
  readonly at: string;
  constructor(at: string, message: string, code = 'invalid_config') {
    super(message);
    this.name = 'ConfigError';
    this.code = code;
    this.at = at;
  }
}

/** Thrown by begin and resume. The core turns it into a failure of the step. */
export class StepFailure extends Error {
  readonly code: string;
  readonly details: Json | undefined;
  readonly retryable: boolean;
  constructor(code: string, message: string, options: { details?: Json; retryable?: boolean } = {}) {
    super(message);
    this.name = 'StepFailure';
    this.code = code;
    this.details = options.details;
    this.retryable = options.retryable ?? false;
  }
}
