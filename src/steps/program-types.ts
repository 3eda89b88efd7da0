/** The shape of a program: a definition made ready to walk. */

import { MAX_STATE_BYTES } from '../definition/document/limits.ts';
import type { Definition } from '../definition/document/types.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { Expression } from '../template/expression.ts';
import type { Template } from '../template/template.ts';
import type { Reference } from '../template/types.ts';
import type { Behaviour, FailureShape, Ports, StepKind } from './kind.ts';
import type { Region, Regions } from './regions.ts';

export interface Preset {
  readonly data: Json;
  readonly port?: string;
  readonly meta?: JsonObject;
  /** The step is to fail: tests of error ports. */
  readonly error?: FailureShape;
}

export interface ResolvedRetryPolicy {
  readonly maxAttempts: number;
  readonly initialIntervalMs: number;
  readonly backoffCoefficient: number;
  readonly maximumIntervalMs: number;
  readonly nonRetryable: readonly string[];
}

export interface Condition {
  readonly ref: Expression;
  readonly compare?: { readonly op: 'eq' | 'neq' | 'gt' | 'lt'; readonly value: Json };
}

export interface Save {
  readonly key: string;
  /** Absent: the output's data. */
  readonly expression?: Expression;
}

export interface Step {
  readonly slug: string;
  /** The program's name for it, where that is not the slug: a step under a dag's forEach. */
  readonly key?: string;
  readonly name: string;
  readonly kind: StepKind;
  /** As written in the document: an alias stays an alias. */
  readonly type: string;
  readonly behaviour: Behaviour;
  readonly ports: Ports;
  readonly next: { readonly [port: string]: string };
  /** Body ports that are wired, in the order written. */
  readonly branches: readonly string[];
  readonly config: JsonObject;
  readonly when?: Condition;
  readonly retry: ResolvedRetryPolicy;
  readonly timeoutMs?: number;
  readonly local: boolean | 'auto';
  readonly continueOnError: boolean;
  readonly saves: readonly Save[];
  readonly outputVariable?: string;
  readonly rollback?: {
    readonly behaviour: Behaviour;
    readonly retry: ResolvedRetryPolicy;
    readonly timeoutMs?: number;
    /** What its config reads. */
    readonly references: readonly Reference[];
  };
  readonly preset?: Preset;
  readonly region?: Region;
  /** What its config, `when`, forEach and bail read. */
  readonly references: readonly Reference[];
}

export interface Program {
  readonly definition: Definition;
  readonly start: string;
  readonly steps: ReadonlyMap<string, Step>;
  readonly regions: Regions;
  readonly maxSteps: number;
  readonly timeoutMs?: number;
  readonly rollbackOnFailure: boolean;
  readonly output?: Template;
  readonly rules: Rules;
}

/**
 * What runs that are older than a change still do as before, so that their histories replay: asked where it comes to
 * that.
 */
export interface Rules {
  /** In a dag, a skipped step does not bail, and skips the forEach that it leaves without a list. */
  readonly skipsAreQuiet: () => boolean;
  /** What a kind cancels is cancelled also where `retryStep` has begun it anew since. */
  readonly retriedIsCancelled: () => boolean;
  /** A pause or resume whose key was answered is not taken once more. */
  readonly keysCountOnce: () => boolean;
  /** A run that has returned and drains keeps its output, and shows it. */
  readonly returnIsFinal: () => boolean;
  /** A loop's `next` comes before `until`, and `historyKeep` keeps no more ticks than it says. */
  readonly loopsAsDescribed: () => boolean;
  /** A run that ends before its gates have let it pass undoes at once what it has done. */
  readonly undoesBeforeGates: () => boolean;
  /**
   * Bytes that definition and state may take together, as the worker of the task has it. Undefined for tasks from
   * before the limit was stamped: those end the run when it grows over the limit of then.
   */
  readonly dataBytes: () => number | undefined;
  /**
   * A listener gives back what it took and did not use; a full inbox drops messages; what a listener refuses counts
   * once towards an activation; and a run shows at once what it listens to, also while something runs.
   */
  readonly inbox: () => boolean;
}

const always = () => true;
export const RULES: Rules = {
  skipsAreQuiet: always,
  retriedIsCancelled: always,
  keysCountOnce: always,
  undoesBeforeGates: always,
  returnIsFinal: always,
  loopsAsDescribed: always,
  dataBytes: () => MAX_STATE_BYTES,
  inbox: always,
};

export const DEFAULT_MAX_STEPS = 1_000_000;
export const MAX_STEPS_002 = 50;
