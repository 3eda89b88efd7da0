/**
 * The state of a run: plain JSON, and complete. Continue-as-new carries it, a fork starts from it, a dry run walks it.
 * Values in it are shared by reference and never change in place. The records around them change in place.
 */

import type { AppliedLimit } from '../../contract/limits/limiter.ts';
import type { Cost } from '../../contract/organization/models.ts';
import type { Accepted, RunError } from '../../contract/run/run.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { ChildSpec, FailureShape, Message, Resume, RunSpec, WaitingSpec } from '../../steps/kind.ts';
import type { LoopState } from '../../steps/loop-state.ts';
import type { Genesis, RunCommand } from './protocol.ts';

/** Increased when states of older interpreters need another reading. */
export const STATE_VERSION = 1;

export interface Envelope {
  readonly type: string;
  readonly data: Json;
  readonly meta?: JsonObject;
}

/** `steps[slug]`: an entry, replaced at each visit's end. */
export interface Entry {
  readonly stepType: string;
  readonly name: string;
  readonly output: Envelope;
}

/** An open loop of a frame (LANGUAGE.md §3.1). `state` is what the kind `loop` stores. */
export interface LoopRecord {
  readonly slug: string;
  readonly path: string;
  readonly startedAt: number;
  tick: number;
  readonly state: LoopState;
  /** Visits per step within this tick, for `#n`. */
  counts: { [slug: string]: number };
  /** Whether a step has ended in this tick, so `lastOutput` comes from the body. */
  hasOutput: boolean;
}

export interface OpenVisit {
  readonly slug: string;
  /** The program's name for the step, where that is not the slug. */
  readonly key?: string;
  readonly path: string;
  readonly startedAt: number;
  /** Order of opening in the whole run: messages go to the oldest listener. */
  readonly seq: number;
  /** The step state of the kind. */
  state: JsonObject;
  waiting?: WaitingSpec & { readonly since: number };
  /** It waited and was answered. Its last commands are to end. */
  answered?: true;
  /** Open asks within the visit (an agent's calls), by suffix. */
  asks?: { [suffix: string]: WaitingSpec & { readonly since: number } };
  /** Messages of this name go to the visit, even while it does not wait. */
  alwaysTakes?: string;
  /** Open inner rows of the trace: suffix → type. */
  innerRows?: { [suffix: string]: string };
  /** Ids of commands that are open or in the backlog. */
  commands: string[];
  /** Ids of its frames that have not been dropped. */
  frames: string[];
}

export interface Frame {
  readonly id: string;
  readonly parent?: string;
  /** The prefix of its visits' paths, where that is not the id (dag). */
  readonly prefix?: string;
  /** The branch's name, or the iteration's index. */
  readonly name?: string;
  readonly item?: { readonly value: Json; readonly index: number; readonly as?: string };
  visit?: OpenVisit;
  entries: { [slug: string]: Entry };
  lastOutput: Envelope | null;
  /** Whether a step has ended in this frame, so `lastOutput` is its own. */
  hasOutput: boolean;
  loops: LoopRecord[];
  /** The last loop record that was left. The targets of `done` and of a break can read it. */
  lastLoop?: LoopRecord;
  error: RunErrorRoot | null;
  counts: { [slug: string]: number };
  /** The frame has ended. Its entries are kept until its container ends. */
  ended?: true;
}

/** The root `error` of expressions. */
export interface RunErrorRoot {
  readonly code: string;
  readonly message: string;
  readonly step?: string;
  readonly path?: string;
  readonly attempts?: number;
  readonly retryable: boolean;
  readonly details?: Json;
}

/** The next steps of the walk, in order. They are in the state because a long walk may yield between them. */
export type Work =
  | { readonly do: 'visit'; readonly frame: string; readonly slug: string }
  | { readonly do: 'resume'; readonly frame: string; readonly path: string; readonly event: Resume }
  /** Offer returned messages to open listeners. */
  | { readonly do: 'offer' };

export type OpenCommand =
  | {
      readonly type: 'run';
      readonly frame: string;
      readonly path: string;
      readonly suffix: string;
      readonly command: RunCommand;
      readonly attempt: number;
    }
  | {
      readonly type: 'timer';
      readonly frame: string;
      readonly path: string;
      readonly suffix: string;
      readonly at: number;
    }
  | {
      readonly type: 'child';
      readonly frame: string;
      readonly path: string;
      readonly suffix: string;
      readonly child: Omit<ChildSpec, 'suffix' | 'inner'>;
      /** The child has started, so the next execution of this run does not start it. */
      started?: true;
    }
  | { readonly type: 'deadline'; readonly at: number }
  | { readonly type: 'rollback'; readonly path: string; readonly command: RunCommand };

/** An unread message. `returned`: a listener returned it, and it has not been offered to other open listeners. */
export type InboxMessage = Message & { readonly returned?: true };

export type RollbackStep =
  | {
      readonly kind: 'step';
      readonly path: string;
      readonly slug: string;
      /** The ticks of loops with historyKeep that hold the visit, where its path does not name them. */
      readonly ticks?: readonly string[];
      /**
       * Absent where the config reads `error`, which is known only when the run rolls back, and where the kind runs
       * nothing.
       */
      readonly spec?: RunSpec;
      /** In that case: the roots that the config reads, captured at the step's end. */
      readonly capturedRoots?: JsonObject;
    }
  | { readonly kind: 'checkpoint'; readonly name: string };

export type Ending =
  | { readonly status: 'completed'; readonly output: Json }
  | { readonly status: 'failed' | 'aborted'; readonly error: RunError }
  | { readonly status: 'cancelled'; readonly reason?: string; readonly details?: JsonObject };

/** A run that waits for its limiters (admission.ts). */
export interface Admission {
  readonly limiters: readonly AppliedLimit[];
  /** How many of them have granted a slot. */
  granted: number;
  /** The run is in the queue of the next one. */
  waiting?: { readonly since: number };
}

/** The measure of a state (measure.ts), and its size when it was serialized. */
export interface SerializedSize {
  readonly bytes: number;
  readonly large: number;
  readonly written: number;
}

export interface RunState {
  readonly version: typeof STATE_VERSION;
  readonly genesis: Genesis;
  now: number;
  frames: { [id: string]: Frame };
  work: Work[];
  /** Open commands by id, including those in the backlog. */
  openCommands: { [id: string]: OpenCommand };
  /** How many open commands were sent. */
  sentCount: number;
  /** How many open commands are activities of steps, sent or not. */
  openActivities: number;
  /** How many timers and children were sent, and how many timers are in the backlog. */
  commandCounts: { timers: number; children: number; waitingTimers: number };
  backlog: string[];
  variables: { [name: string]: Json };
  state: { [key: string]: Json };
  outputs: { [name: string]: Json };
  inbox: InboxMessage[];
  inboxBytes: number;
  /** How many messages and events the run has received. */
  messageCount?: number;
  /**
   * By step: the message number up to which it has refused all messages of its subscription, and would refuse them
   * again.
   */
  refusedUpTo?: { readonly [step: string]: { readonly hearing: string; readonly n: number } };
  /** How many messages the full inbox has dropped. */
  droppedCount?: number;
  /** Ids of messages seen, oldest first. */
  messageIds: string[];
  /** Answers to requests with a key, oldest first. */
  requestAnswers: { [key: string]: Accepted };
  rollbackSteps: RollbackStep[];
  /** Step visits so far, loop ticks included (maxSteps). */
  visits: number;
  seq: number;
  /** Bytes of this state: updated with every change, and never too low (space.ts). */
  bytes: number;
  /** The last serialized sizes: of a state that fitted, and of one that did not. */
  serializedSizes?: { readonly fitting?: SerializedSize; readonly full?: SerializedSize };
  /** The estimate when it was last corrected for a segment. */
  correctedBytes?: number;
  paused: boolean;
  /** Epoch milliseconds. */
  pausedSince?: number;
  /** The core has yielded: nothing is walked until `continue`. */
  yielding: boolean;
  /**
   * What the current activation has used: units of work, and bytes of commands. Many events may share one activation.
   */
  readonly activation: { at: number; units: number; bytes: number };
  /** Set until the run has its slots; nothing is walked before. */
  admission?: Admission;
  /** Usage of models by kind of key; absent where no model was called. */
  costs?: readonly Cost[];
  /** The model that was called last. */
  model?: string;
  /** All models, in the order of their first answers; absent while there is only one. */
  models?: readonly string[];
  /** Decisions of approvals, as values of the searchable state; absent before the first. */
  decided?: readonly string[];
  /** A digest of the last `visible` command. */
  viewDigest: string;
  /** finish with drain: the run waits for the activities in flight. */
  draining?: {
    readonly output: Json;
    /**
     * When the run decided its output, in epoch milliseconds. Absent where the definition's `output` is evaluated at
     * the end.
     */
    readonly decidedAt?: number;
  };
  rollback?: {
    readonly error: RunError;
    readonly failures: { readonly path: string; readonly error: FailureShape }[];
    readonly aborted?: true;
  };
  ending?: Ending;
}
