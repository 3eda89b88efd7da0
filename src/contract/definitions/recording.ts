/**
 * The actor `recording.{org}.{id}`: tool calls that become the steps of a definition. The
 * contract between src/client/recordings, workflows/actors/recording.ts and workflows/jobs/recorded-call.ts. JSON only.
 */
import type { Json, JsonObject } from '../../json/json.ts';
import type { ActorStart, Keyed, RememberedAnswers } from '../actors.ts';

export const RECORDING_WORKFLOW = 'recording';
/** The workflow that calls one tool, and reports to the recording. */
export const RECORDED_CALL_WORKFLOW = 'recordedCall';
/** Signal of the call's workflow to the recording; its payload is a CallEnded. */
export const CALL_ENDED_SIGNAL = 'callEnded';
/** The field of the memo that holds a RecordingSummary. */
export const RECORDING_MEMO = 'recording';
/** The slug that a secret's `allowedWorkflows` names to allow the calls of recordings. */
export const RECORDING_SLUG = 'recordings';

/** Open ones of an organization, counted by Visibility. */
export const MAX_RECORDINGS = 1_000;
export const MAX_RECORDED_STEPS = 200;
/** The input of one step, as written and with its references replaced. */
export const STEP_INPUT_BYTES = 200_000;
/** All steps without their outputs. A definition has at most 1 MB. */
export const ALL_STEPS_BYTES = 900_000;
/** The output of one step. Query answers and signals carry it. */
export const STEP_OUTPUT_BYTES = 1_000_000;
/** What the state has beside the steps: the remembered answers, and the messages of failed calls. */
export const STATE_OVERHEAD_BYTES = 300_000;
/** In characters. */
export const MAX_ERROR_LENGTH = 500;
/** Outputs in the view of a recording, together. Larger ones are read one by one. */
export const SHOWN_OUTPUT_BYTES = 400_000;

export const DEFAULT_IDLE_MS = 7 * 24 * 60 * 60 * 1000;
export const MAX_IDLE_MS = 30 * 24 * 60 * 60 * 1000;
export const MIN_IDLE_MS = 1_000;
/** The time of one call, with the search for a worker. */
export const CALL_TIMEOUT_MS = 120_000;
/** After this time a call that has not reported counts as failed. */
export const CALL_OVERDUE_MS = 180_000;

/** `open`: a step that was written by hand and has no output yet. */
export const STEP_STATES = ['running', 'completed', 'failed', 'open'] as const;
type StepState = (typeof STEP_STATES)[number];

interface RecordedError {
  readonly code: string;
  readonly message: string;
}

/** A step of a recording. Its name is a slug: others refer to its output as `@name`. */
export interface RecordedStep {
  readonly name: string;
  readonly status: StepState;
  /** The step as mesh writes it, without its name: `{action, input, …}`. References stand in it unresolved. */
  readonly step: JsonObject;
  readonly output?: Json;
  /** The output was set by hand. */
  readonly isPreset?: true;
  readonly error?: RecordedError;
  readonly by?: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly completedAt?: string;
  /** The key of the call, and a hash of its content. */
  readonly request?: { readonly key: string; readonly content: string };
}

/** As the view shows a step: a large output is left out, and its size is shown. */
export type ShownStep = Omit<RecordedStep, 'request'> & { readonly outputBytes?: number };

interface SavedRecording {
  readonly slug: string;
  readonly hash: string;
  /** ISO 8601. */
  readonly at: string;
}

/** In the memo: what lists show. */
export interface RecordingSummary {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly by?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
  readonly steps: number;
  readonly saved?: SavedRecording;
  readonly ended?: 'deleted' | 'expired';
}

/** Query `view`. */
export interface RecordingView extends RecordingSummary {
  readonly input: Json;
  readonly recorded: readonly ShownStep[];
}

/** Query `suggestions`: a literal in a step's input that an earlier step, or the recording's input, also holds. */
export interface Suggestion {
  readonly step: string;
  /** JSON pointer into the input of the step. */
  readonly pointer: string;
  readonly value: Json;
  readonly reference: string;
  /** `whole`: the reference replaces the value. `within`: it replaces a part of the text. */
  readonly form: 'whole' | 'within';
  /** The value with the reference in it. */
  readonly written: string;
  /** Other references with the same value, the likeliest first. */
  readonly alternatives?: readonly string[];
}

export interface RecordingState {
  readonly name: string;
  readonly description?: string;
  readonly by?: string;
  readonly input: Json;
  readonly createdAt: number;
  /** Of the last change: the recording expires when it is idle. */
  readonly changedAt: number;
  readonly steps: readonly RecordedStep[];
  /** How many steps each base of a name has had. A name is never used twice. */
  readonly named: { readonly [base: string]: number };
  readonly saved?: SavedRecording;
  readonly ended?: 'deleted' | 'expired';
}

export interface RecordingStart extends ActorStart {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly by?: string;
  /** What `@input` refers to while recording. */
  readonly input: Json;
  readonly idleMs: number;
  /** All values of the recording together. */
  readonly maxBytes: number;
  readonly carried?: { readonly recording: RecordingState; readonly answers: RememberedAnswers };
}

/**
 * Update `call`: adds a step that runs. Refused with `unknown_reference`, `unresolved_reference`, `too_many`,
 * `too_large`, `payload_too_large`, `idempotency_conflict`, as every update with `gone`.
 */
export interface RecordCall extends Keyed {
  readonly tool: string;
  readonly server: string;
  readonly input: JsonObject;
  /** A hash of the request: the same key with another content is refused. */
  readonly content: string;
  readonly by?: string;
}

export interface RecordCallAnswer {
  readonly name: string;
  readonly content: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** Query `callInput` with the name of a step: its input with the references replaced, or the problem. */
export type CallInput = { readonly input: JsonObject } | { readonly problem: string };

/** Update `append`: a step by hand, with an output or without. Refused as `call`, and with `step_exists`. */
export interface AppendStep extends Keyed {
  readonly name?: string;
  readonly step: JsonObject;
  readonly output?: Json;
  readonly by?: string;
}

/** Update `preset`: sets the output of a step. Refused with `no_such_step`, `step_running`, `too_large`. */
export interface PresetOutput extends Keyed {
  readonly name: string;
  readonly output: Json;
}

/** Update `change`: the name, the description, or the input that `@input` refers to. */
export interface ChangeRecording extends Keyed {
  readonly name?: string;
  readonly description?: string;
  readonly input?: Json;
}

/** Update `drop`: removes a step. Refused with `no_such_step`, `step_running`, `step_in_use`. */
export interface DropStep extends Keyed {
  readonly name: string;
}

/**
 * Update `confirm`: puts references into inputs, all or none. Each reference must have the value that it replaces. A
 * reference `@input.NAME` to a member that the input lacks adds the member. Refused with `no_such_step`,
 * `unknown_reference`, `unresolved_reference`, `entry_changed`.
 */
export interface ConfirmReferences extends Keyed {
  readonly items: readonly { readonly step: string; readonly pointer: string; readonly reference: string }[];
}

/** Update `saved`: notes the definition that was stored. */
export interface NoteSaved extends Keyed {
  readonly slug: string;
  readonly hash: string;
}

/** Update `end`: the recording is deleted. */
export type EndRecording = Keyed;

export interface CallEnded {
  readonly name: string;
  readonly output?: Json;
  readonly error?: RecordedError;
}

/** The argument of RECORDED_CALL_WORKFLOW. */
export interface RecordedCallStart {
  readonly organizationId: string;
  /** The workflow id of the recording. */
  readonly recording: string;
  readonly name: string;
  readonly server: string;
  readonly tool: string;
  /** Without references. */
  readonly input: JsonObject;
}

/** The result of RECORDED_CALL_WORKFLOW: content of the tool that is no text. The recording holds the rest. */
export interface RecordedCallResult {
  readonly content: readonly Json[];
}
