/** The shape of a program: a definition made ready to walk. */

import type { Mark } from '../contract/build-id.ts';
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
  /** The step fails with this error, to test error ports. */
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
  /** Its name in the program, where that is not the slug: a step under a dag's forEach. */
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
  /** Its light activity may run in a segment, with those before and after it (src/engine/segment.ts). */
  readonly fuses: boolean;
  readonly continueOnError: boolean;
  readonly saves: readonly Save[];
  readonly outputVariable?: string;
  readonly rollback?: {
    readonly behaviour: Behaviour;
    readonly retry: ResolvedRetryPolicy;
    readonly timeoutMs?: number;
    /** The references of its config. */
    readonly references: readonly Reference[];
  };
  readonly preset?: Preset;
  readonly region?: Region;
  /** The references of its config, `when`, forEach and bail. */
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
  /** Bytes that definition and state may take together, by the settings of the worker that runs the task. */
  readonly dataBytes: () => number;
  /** Whether the code of that worker has a change of commands. */
  readonly isMarked: (mark: Mark) => boolean;
}

export const DEFAULT_MAX_STEPS = 1_000_000;
