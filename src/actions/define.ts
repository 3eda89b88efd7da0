/**
 * Host actions: steps of kind `action` that a developer adds without changing this project. A file in the folder
 * SIGNALBOX_ACTIONS exports the result of `defineAction` (imported from 'signalbox/action'). The checker, /schema.json,
 * the manual and runs then know the action.
 */
import type { z } from 'zod';

export interface HostActionSpec<Input extends z.ZodType, Output extends z.ZodType> {
  /** The step's `action.type`, such as `crm.find_customer`. */
  readonly type: string;
  /** One sentence for lists; the type if absent. */
  readonly summary?: string;
  /** A longer description in Markdown. */
  readonly description?: string;
  /** The schema of the evaluated parameters. The manual shows the descriptions of its members. */
  readonly input: Input;
  /** The schema of the result of `run`: JSON. */
  readonly output: Output;
  /** The action takes milliseconds, so it may run as a local activity (at most 2 seconds there). */
  readonly light?: boolean;
  /** The limit of one attempt; 300,000 if absent. */
  readonly timeoutMs?: number;
  /**
   * Runs at least once: pass `idempotencyKey` to the systems that it changes. ActionFailure fails the step as it says;
   * any other error is retried.
   */
  run(input: z.output<Input>, context: ActionContext): Promise<z.input<Output>> | z.input<Output>;
}

export interface ActionContext {
  /** Aborted when the step is cancelled, and when the attempt has taken too long. */
  readonly signal: AbortSignal;
  /** The same for all attempts of one visit of the step, and unique to it. */
  readonly idempotencyKey: string;
  /** From 1. */
  readonly attempt: number;
  readonly execution: { readonly id: string; readonly workflow: string; readonly organizationId: string };
  /** The visit's path. */
  readonly path: string;
  readonly stepSlug: string;
  /** Reports progress (JSON), which the run's details show. Heartbeats are sent without it too. */
  heartbeat(progress: unknown): void;
}

/** The result of `defineAction`. */
export interface HostAction {
  readonly kind: typeof HOST_ACTION;
  readonly type: string;
  readonly summary: string;
  readonly description: string | undefined;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  readonly isLight: boolean;
  readonly timeoutMs: number;
  run(input: unknown, context: ActionContext): Promise<unknown>;
}

/** A text and not a symbol, because the file may have loaded another copy of this module. */
export const HOST_ACTION = 'signalbox/action';
const DEFAULT_TIMEOUT_MS = 300_000;
/** The longest timeout. */
export const LONGEST_ACTION_MS = 86_400_000;
const TYPE_PATTERN = /^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$/;
const MAX_TYPE_CHARACTERS = 100;

/** @throws TypeError naming the invalid member */
export function defineAction<Input extends z.ZodType, Output extends z.ZodType>(
  spec: HostActionSpec<Input, Output>,
): HostAction {
  const { type, summary = spec.type, description, input, output, light = false, timeoutMs = DEFAULT_TIMEOUT_MS } = spec;
  const demand = (isFine: boolean, expected: string): void => {
    if (!isFine) throw new TypeError(`defineAction: ${expected}.`);
  };
  demand(
    typeof type === 'string' && TYPE_PATTERN.test(type) && type.length <= MAX_TYPE_CHARACTERS,
    "'type' must be a name such as crm.find_customer",
  );
  demand(typeof summary === 'string' && summary !== '', `'summary' of ${type} must be a sentence`);
  demand(isSchema(input), `'input' of ${type} must be a zod schema`);
  demand(isSchema(output), `'output' of ${type} must be a zod schema`);
  demand(typeof spec.run === 'function', `'run' of ${type} must be a function`);
  demand(
    Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= LONGEST_ACTION_MS,
    `'timeoutMs' of ${type} must be from 1 to ${LONGEST_ACTION_MS}`,
  );
  return {
    kind: HOST_ACTION,
    type,
    summary,
    description,
    input,
    output,
    isLight: light,
    timeoutMs,
    run: async (given, context) => spec.run(given as z.output<Input>, context),
  };
}

/** A typed error of `run`, which says whether a retry makes sense. */
export class ActionFailure extends Error {
  readonly code: string;
  readonly retryable: boolean;
  /** JSON. */
  readonly details: unknown;
  /** How long the other side asked to wait before the next attempt. */
  readonly retryAfterMs: number | undefined;
  constructor(
    code: string,
    message: string,
    options: { readonly retryable?: boolean; readonly details?: unknown; readonly retryAfterMs?: number } = {},
  ) {
    super(message);
    this.name = 'ActionFailure';
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.details = options.details;
    this.retryAfterMs = options.retryAfterMs;
  }
}

const isSchema = (value: unknown): boolean => typeof value === 'object' && value !== null && '_zod' in value;
