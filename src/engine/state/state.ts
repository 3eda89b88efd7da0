/**
 * The state of a run: plain JSON, and all there is. Continue-as-new carries it, a fork starts from it, a dry run walks it.
 * Values inside are shared by reference and never changed in place; the records around them are changed in place.
 */

import type { GateWanted } from '../../contract/limiter.ts';
import type { Cost } from '../../contract/models.ts';
import type { Accepted, RunError } from '../../contract/run.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { ChildSpec, FailureShape, Message, Resume, RunSpec, WaitingSpec } from '../../steps/kind.ts';
import type { LoopState } from '../../steps/loop-state.ts';
import type { Genesis, RunCommand } from './protocol.ts';

/** Bumped when a state of an older interpreter has to be read differently. */
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

/** An open loop of a frame (LANGUAGE.md §3.1). `hold` is the state that the kind `loop` stores. */
export interface LoopRecord {
  readonly slug: string;
  readonly path: string;
  readonly startedAt: number;
  tick: number;
  readonly hold: LoopState;
  /** Visits per step within this tick, for `#n`. */
  counts: { [slug: string]: number };
  /** Whether a step has ended in this tick, and so `lastOutput` is the body's. */
  moved: boolean;
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
  hold: JsonObject;
  waiting?: WaitingSpec & { readonly since: number };
  /** What it asks about within, by suffix. */
  asks?: { [suffix: string]: WaitingSpec & { readonly since: number } };
  /** Messages of this name are for it, also while it does not wait. */
  hears?: string;
  /** Rows of the trace within it that are open: the type by the suffix. */
  inner?: { [suffix: string]: string };
  /** Ids of commands that are open or in the backlog. */
  open: string[];
  /** Ids of the frames that it opened and that have not been dropped. */
  frames: string[];
}

export interface Frame {
  readonly id: string;
  readonly parent?: string;
  /** What the paths of its visits begin with, where it is not the id (dag). */
  readonly prefix?: string;
  /** The branch's name, or the iteration's index. */
  readonly name?: string;
  readonly item?: { readonly value: Json; readonly index: number; readonly as?: string };
  visit?: OpenVisit;
  entries: { [slug: string]: Entry };
  lastOutput: Envelope | null;
  /** Whether a step has ended here, and so `lastOutput` is this frame's own. */
  moved: boolean;
  loops: LoopRecord[];
  /** The record last left, readable by the targets of done and of a break. */
  left?: LoopRecord;
  error: RunErrorRoot | null;
  counts: { [slug: string]: number };
  /** Kept for its entries until its container ends. */
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

/** What is to be walked next, in order. It is in the state because a long walk gives way in the middle. */
export type Work =
  | { readonly do: 'visit'; readonly frame: string; readonly slug: string }
  | { readonly do: 'resume'; readonly frame: string; readonly path: string; readonly event: Resume }
  /** Show open listeners the messages that others have given back. */
  | { readonly do: 'offer' };

export type OpenCommand =
  | {
      readonly type: 'run';
      readonly frame: string;
      readonly path: string;
      readonly suffix: string;
      readonly command: RunCommand;
      readonly tries: number;
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
      /** It runs: the next execution of this run need not start it. */
      started?: true;
    }
  | { readonly type: 'deadline'; readonly at: number }
  | { readonly type: 'rollback'; readonly path: string; readonly command: RunCommand };

/** A message that nobody has taken yet. `returned`: a listener gave it back, and other open listeners have not seen it. */
export type InboxMessage = Message & { readonly returned?: true };

export type Undo =
  | {
      readonly undo: 'step';
      readonly path: string;
      readonly slug: string;
      /** Absent where the config reads `error`, which is known only when the run rolls back, and where the kind has none. */
      readonly spec?: RunSpec;
      /** Then: the roots that it reads, as they were at the step's end. */
      readonly read?: JsonObject;
    }
  | { readonly undo: 'checkpoint'; readonly name: string };

export type Ending =
  | { readonly status: 'completed'; readonly output: Json }
  | { readonly status: 'failed' | 'aborted'; readonly error: RunError }
  | { readonly status: 'cancelled'; readonly reason?: string; readonly details?: JsonObject };

/** A run before its gates (admission.ts). */
export interface Admission {
  readonly gates: readonly GateWanted[];
  /** As many of them have let it pass. */
  taken: number;
  /** It stands in the queue of the next one. */
  waiting?: { readonly since: number };
}

/** What a state measured (measure.ts), and what it weighed when it was written out. */
export interface Weighing {
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
  /** Commands that are open, by id, and those that wait for room. */
  open: { [id: string]: OpenCommand };
  /** Those of them that were sent. */
  openCount: number;
  /** Those of them that are effects of steps, sent or not. */
  effects: number;
  /** Timers and children that were sent, and timers that wait for room. */
  slots: { timers: number; children: number; waitingTimers: number };
  backlog: string[];
  variables: { [name: string]: Json };
  state: { [key: string]: Json };
  outputs: { [name: string]: Json };
  inbox: InboxMessage[];
  inboxBytes: number;
  /** How many messages and events have come so far. */
  arrived?: number;
  /** By step: the number up to which it has refused all messages that it hears, and would refuse them again. */
  refused?: { readonly [step: string]: { readonly hearing: string; readonly n: number } };
  /** How many messages the full inbox has dropped. */
  dropped?: number;
  /** Ids of messages seen, oldest first. */
  seen: string[];
  /** Answers to requests with a key, oldest first. */
  answered: { [key: string]: Accepted };
  undo: Undo[];
  /** Step visits so far, loop ticks included (maxSteps). */
  visits: number;
  seq: number;
  /** Bytes of this state, kept with every change and never below the truth (space.ts). */
  bytes: number;
  /** States that were written out to be weighed: the last that fitted, and the last that did not. */
  weighings?: { readonly fitting?: Weighing; readonly full?: Weighing };
  paused: boolean;
  /** Epoch milliseconds. */
  pausedSince?: number;
  /** A `yield` is out: nothing walks until `continue`. */
  yielding: boolean;
  /** What one activation has cost so far, units of work and bytes of commands: many events may share its clock. */
  readonly effort: { at: number; units: number; bytes: number };
  /** Nothing is walked before the run has its slots. */
  admission?: Admission;
  /** What models have used, by kind of key; absent where none was asked. */
  costs?: readonly Cost[];
  /** The model that was asked last. */
  model?: string;
  /** All that were asked, in the order of their first answers; absent while it is one. */
  models?: readonly string[];
  /** What `visible` said last. */
  shown: string;
  /** finish with drain: waits for the activities in flight. */
  draining?: {
    readonly output: Json;
    /** Whatever ends the draining, the run completes. */
    readonly final?: true;
    /** Then, in epoch milliseconds, the run decided its output: the definition has no `output` that is made at the end. */
    readonly decidedAt?: number;
  };
  rolling?: {
    readonly error: RunError;
    readonly failures: { readonly path: string; readonly error: FailureShape }[];
    readonly aborted?: true;
  };
  ending?: Ending;
}
