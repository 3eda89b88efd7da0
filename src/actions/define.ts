/**
 * Host actions: what a developer adds to the steps of kind `action` without touching this project. One file in the folder
 * that SIGNALBOX_ACTIONS names, which exports what `defineAction` gives (imported from 'signalbox/action'); then it is in
 * the checker, in /schema.json, in the manual and in the runs.
 */
import type { z } from 'zod';

export interface HostActionSpec<Input extends z.ZodType, Output extends z.ZodType> {
  /** What `action.type` says: `crm.find_customer`. */
  readonly type: string;
  /** One sentence, for lists. Its type stands there without one. */
  readonly summary?: string;
  /** More, as Markdown. */
  readonly description?: string;
  /** What the parameters must be, once their templates are evaluated. Descriptions of its members stand in the manual. */
  readonly input: Input;
  /** What `run` gives: JSON. */
  readonly output: Output;
  /** It takes milliseconds: it may run as a local activity, within the task of the run (at most 2 seconds there). */
  readonly light?: boolean;
  /** Limit of one attempt in milliseconds (300,000). */
  readonly timeoutMs?: number;
  /** Temporal runs it at least once: hand `idempotencyKey` on to whatever it changes. Throws ActionFailure, or anything, which is tried again. */
  run(input: z.output<Input>, context: ActionContext): Promise<z.input<Output>> | z.input<Output>;
}

export interface ActionContext {
  /** Aborted when the step is cancelled, and when the attempt has taken too long. */
  readonly signal: AbortSignal;
  /** The same for all attempts of one visit of the step, and no other's. */
  readonly idempotencyKey: string;
  /** From 1. */
  readonly attempt: number;
  readonly execution: { readonly id: string; readonly workflow: string; readonly organizationId: string };
  /** The visit's path. */
  readonly path: string;
  readonly stepSlug: string;
  /** How far it has come (JSON), for whoever looks at the run. That the worker lives is told without it. */
  heartbeat(progress: unknown): void;
}

/** What `defineAction` gives. */
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

/** Text, not a symbol: the file may have loaded another copy of this module. */
export const HOST_ACTION = 'signalbox/action';
const DEFAULT_TIMEOUT_MS = 300_000;
/** A heartbeat tells that it lives; yet nothing goes on for longer. */
export const LONGEST_ACTION_MS = 86_400_000;
const TYPE = /^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$/;
const MOST_TYPE_CHARACTERS = 100;

/** @throws TypeError naming the member that cannot be used. */
export function defineAction<Input extends z.ZodType, Output extends z.ZodType>(
  spec: HostActionSpec<Input, Output>,
): HostAction {
  const { type, summary = spec.type, description, input, output, light = false, timeoutMs = DEFAULT_TIMEOUT_MS } = spec;
  const demand = (isFine: boolean, expected: string): void => {
    if (!isFine) throw new TypeError(`defineAction: ${expected}.`);
  };
  demand(
    typeof type === 'string' && TYPE.test(type) && type.length <= MOST_TYPE_CHARACTERS,
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

/** Thrown by `run`: a typed error, and whether trying again makes sense. */
export class ActionFailure extends Error {
  readonly code: string;
  readonly retryable: boolean;
  /** JSON. */
  readonly details: unknown;
  /** The other side asked to be left alone for so long. */
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
