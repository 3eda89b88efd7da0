/**
 * The canonical definition (LANGUAGE.md §1), to which every dialect is converted, and which is hashed, stored and
 * walked. This file has types only. Their zod schema is in schema.ts, which is not in the workflow bundle.
 */

import type { DialectNumber } from '../../compat/dialect-names.ts';
import type { Json, JsonObject } from '../../json/json.ts';

/** Milliseconds, `2d` / `300ms` as the `ms` package reads them, or ISO 8601 (`PT5M`). */
type Duration = number | string;

export interface RetryPolicy {
  readonly maxAttempts?: number;
  readonly initialInterval?: Duration;
  readonly backoffCoefficient?: number;
  readonly maximumInterval?: Duration;
  /** Error codes that are not retried. */
  readonly nonRetryable?: readonly string[];
}

/** Named policies, which steps/compile/retry.ts defines. */
export type RetryPolicyName = 'default' | 'quick' | 'none';

/** An expression, or mesh's structured condition. */
export type When = string | { ref: string; eq?: Json; neq?: Json; gt?: number; lt?: number };

export interface RollbackStep {
  readonly stepType: string;
  readonly config?: JsonObject;
  readonly retry?: RetryPolicy | RetryPolicyName;
  readonly timeout?: Duration;
}

export interface StepDefinition {
  readonly name?: string;
  readonly description?: string;
  readonly stepType: string;
  readonly order?: number;
  readonly config?: JsonObject;
  readonly nextSteps?: { readonly [port: string]: string };
  readonly when?: When;
  readonly retry?: RetryPolicy | RetryPolicyName;
  /** Per attempt of an effect. */
  readonly timeout?: Duration;
  readonly local?: boolean | 'auto';
  readonly fuse?: boolean;
  readonly onError?: 'fail' | 'continue';
  /** A state key for the output's data, or key → expression, which can also read `output`. */
  readonly saveToState?: string | { readonly [key: string]: string };
  readonly outputVariable?: string;
  readonly rollback?: RollbackStep;
  /** The output of the step, which is then not run. */
  readonly preset?: Json;
  /** `flow: dag` only. */
  readonly dependsOn?: readonly string[];
  readonly forEach?: { readonly ref?: string; readonly items?: Json; readonly concurrency?: number };
  readonly bail?: true | When;
}

/**
 * The short form of alloy (`string`, or `{type, description}`), or a JSON Schema when it has `type: object` or
 * `$schema`.
 */
export type PayloadFormat = JsonObject;

export interface StateField {
  readonly type: 'string' | 'number' | 'boolean';
  readonly default?: string | number | boolean;
  readonly description?: string;
  readonly searchable?: boolean;
}

export const OVERFLOWS = ['queue', 'reject', 'cancel-oldest', 'cancel-newest'] as const;

export interface ConcurrencyConfig {
  readonly limit: number;
  readonly key?: string;
  readonly overflow?: (typeof OVERFLOWS)[number];
}

export interface WorkflowConfig {
  readonly timeout?: Duration;
  readonly retryPolicy?: RetryPolicy | RetryPolicyName;
  readonly variables?: JsonObject;
  /** The name in templates → the name in the organization's secret store. */
  readonly secrets?: { readonly [name: string]: string };
  readonly fuse?: boolean;
  readonly maxSteps?: number;
  readonly mode?: 'parallel' | 'restart';
  readonly debounce?: { readonly key?: string; readonly seconds?: number; readonly maxWait?: Duration };
  readonly concurrency?: ConcurrencyConfig;
  readonly onFailure?: 'fail' | 'rollback';
  /** Whether holders of the organization's public key can start it. */
  readonly publicStart?: boolean;
}

export const TRIGGER_TYPES = ['manual', 'webhook', 'schedule', 'event'] as const;

export interface TriggerDefinition {
  readonly name: string;
  readonly type: (typeof TRIGGER_TYPES)[number];
  readonly enabled?: boolean;
  readonly config?: JsonObject;
  readonly variableMapping?: { readonly [key: string]: string };
  readonly targetState?: JsonObject;
}

export interface Definition {
  readonly name: string;
  readonly slug: string;
  readonly type?: 'structured' | 'agent' | 'employee';
  readonly version?: string;
  readonly enabled?: boolean;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly flow?: 'ports' | 'dag';
  readonly start?: string;
  readonly input?: PayloadFormat;
  readonly state?: { readonly [key: string]: StateField };
  readonly config?: WorkflowConfig;
  readonly constraints?: { readonly allowSelfModification?: boolean; readonly proposerMayReview?: boolean };
  readonly triggers?: readonly TriggerDefinition[];
  /** A template over the run's roots. */
  readonly output?: Json;
  /** The original dialect, if it changes how the definition is read (tale: the input's keys have no prefix). */
  readonly dialect?: DialectNumber;
  readonly steps: { readonly [slug: string]: StepDefinition };
}

/** A problem of a document: its place (JSON pointer), what is wrong, and how to mend it. */
export interface Problem {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}
