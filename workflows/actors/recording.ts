/**
 * The actor `recording.{org}.{id}`: tool calls of an agent that become the steps of a definition. A call
 * is an update that answers the input with its references resolved; a workflow of its own calls the tool, and reports
 * by a signal (workflows/jobs/recorded-call.ts). The recording ends when it is deleted, or idle for too long.
 */
import {
  ALL_STEPS_BYTES,
  type AppendStep,
  CALL_ENDED_SIGNAL,
  CALL_OVERDUE_MS,
  type CallEnded,
  type CallInput,
  type ChangeRecording,
  type ConfirmReferences,
  type DropStep,
  type EndRecording,
  MAX_ERROR_LENGTH,
  MAX_RECORDED_STEPS,
  type NoteSaved,
  type PresetOutput,
  RECORDING_MEMO,
  type RecordCall,
  type RecordCallAnswer,
  type RecordedStep,
  type RecordingStart,
  type RecordingState,
  STEP_INPUT_BYTES,
} from '../../src/contract/definitions/recording.ts';
import { STEP_SLUG_PATTERN, stepSlug } from '../../src/definition/document/names.ts';
import { exactJsonBytes } from '../../src/json/bytes.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { confirmReferences } from '../../src/recording/confirm.ts';
import { PARSE_JSON_CODE } from '../../src/recording/document.ts';
import { refersTo, resolve, unknownReferences } from '../../src/recording/references.ts';
import { suggestionsFor } from '../../src/recording/suggestions.ts';
import { recordingViewOf, shownStep, summaryOf } from '../../src/recording/view.ts';
import {
  type Actor,
  type AnsweredChange,
  isRefusal,
  type Operation,
  type Refusal,
  refuse,
  type StateChange,
} from './actor.ts';

const RESERVED_NAMES: readonly string[] = ['input', 'item', 'index'];
/** Room for a number after a name that was made from a tool's. */
const MAX_NAME_BASE_CHARACTERS = 56;

export interface Recording {
  readonly start: Pick<RecordingStart, 'id' | 'idleMs' | 'maxBytes'>;
  readonly state: RecordingState;
  /** The bytes of each step without its output, and with it, by name. */
  readonly sizes: ReadonlyMap<string, Sizes>;
}

interface Sizes {
  readonly withoutOutput: number;
  readonly total: number;
}

const call: Operation<Recording, RecordCall, RecordCallAnswer> = (recording, request, now) => {
  const { state } = recording;
  const { key, tool, server, input, content, by } = request;
  const before = state.steps.find((step) => step.request?.key === key);
  if (before !== undefined && before.request?.content !== content)
    return refuse('idempotency_conflict', 'The key was used for another call of this recording. Choose a new key.');
  if (before !== undefined)
    return { state: recording, answer: { name: before.name, content, startedAt: Date.parse(before.startedAt) } };
  const resolved = resolve(input, state);
  if ('problems' in resolved) return refuse(...refusalOfProblems(resolved.problems, '/input'));
  const tooLarge = inputTooLarge(input, resolved.value);
  if (tooLarge !== undefined) return tooLarge;
  const { name, named } = nextName(state, tool);
  const step: RecordedStep = {
    name,
    status: 'running',
    step: { action: { toolName: tool, server }, input },
    startedAt: isoOf(now),
    request: { key, content },
    ...omitUndefined({ by }),
  };
  const added = withSteps(recording, [...state.steps, step], [step], now, { named });
  return answerWith(added, { name, content, startedAt: now });
};

const append: Operation<Recording, AppendStep, { name: string }> = (recording, request, now) => {
  const { state } = recording;
  const { step: written, output, by } = request;
  const names = state.steps.map((step) => step.name);
  const next =
    request.name === undefined ? nextName(state, baseNameOf(written)) : { name: request.name, named: state.named };
  const { name, named } = next;
  if (!STEP_SLUG_PATTERN.test(name) || RESERVED_NAMES.includes(name))
    return refuse('invalid_name', `"${name.slice(0, 80)}" cannot name a step: expected letters, digits, _ and -.`);
  if (names.includes(name)) return refuse('step_exists', `The recording has a step "${name}". Choose another name.`);
  const unknown = unknownReferences(written, names);
  if (unknown.length > 0) return refuse(...refusalOfProblems(unknown, '/step'));
  const tooLarge = inputTooLarge(written['input'] ?? null);
  if (tooLarge !== undefined) return tooLarge;
  const at = isoOf(now);
  const step: RecordedStep = {
    name,
    status: output === undefined ? 'open' : 'completed',
    step: written,
    startedAt: at,
    ...(output === undefined ? {} : { output, isPreset: true, completedAt: at }),
    ...omitUndefined({ by }),
  };
  return answerWith(withSteps(recording, [...state.steps, step], [step], now, { named }), { name });
};

const preset: Operation<Recording, PresetOutput, { name: string }> = (recording, { name, output }, now) => {
  const found = findSettledStep(recording, name);
  if (isRefusal(found)) return found;
  const { error: _error, ...rest } = found;
  const set: RecordedStep = { ...rest, status: 'completed', output, isPreset: true, completedAt: isoOf(now) };
  return answerWith(withStep(recording, set, now), { name });
};

const change: Operation<Recording, ChangeRecording, { name: string }> = (recording, request, now) => {
  const { name, description, input } = request;
  const tooLarge = inputTooLarge(input ?? null);
  if (tooLarge !== undefined) return tooLarge;
  const { state } = recording;
  const put = withSteps(recording, state.steps, [], now, omitUndefined({ name, description, input }));
  return answerWith(put, { name: name ?? state.name });
};

const drop: Operation<Recording, DropStep, { name: string }> = (recording, { name }, now) => {
  const found = findSettledStep(recording, name);
  if (isRefusal(found)) return found;
  const others = recording.state.steps.filter((step) => step.name !== name);
  const users = others.filter(({ step }) => refersTo(step, name)).map((step) => step.name);
  if (users.length > 0)
    return refuse('step_in_use', `Other steps refer to "${name}": ${users.slice(0, 5).join(', ')}.`, { steps: users });
  return answerWith(withSteps(recording, others, [], now), { name });
};

const confirm: Operation<Recording, ConfirmReferences, { confirmed: number }> = (recording, { items }, now) => {
  const { input, steps } = recording.state;
  const outcome = confirmReferences({ input, steps }, items);
  if ('problem' in outcome) {
    const { code, message, pointer } = outcome.problem;
    return refuse(code, message, { problems: [{ pointer, code, message }] });
  }
  const tooLarge = inputTooLarge(outcome.input, ...outcome.changed.map(({ step }) => step['input'] ?? null));
  if (tooLarge !== undefined) return tooLarge;
  const put = withSteps(recording, outcome.steps, outcome.changed, now, { input: outcome.input });
  return answerWith(put, { confirmed: items.length });
};

const saved: Operation<Recording, NoteSaved, { slug: string }> = (recording, { slug, hash }, now) =>
  answerWith(withMembers(recording, now, { saved: { slug, hash, at: isoOf(now) } }), { slug });

const end: Operation<Recording, EndRecording, { ended: 'deleted' }> = (recording, _request, now) =>
  answerWith(withMembers(recording, now, { ended: 'deleted' }), { ended: 'deleted' });

function callInput(state: RecordingState, name: unknown): CallInput {
  const written = state.steps.find((step) => step.name === name)?.step['input'] ?? {};
  const resolved = resolve(written, state);
  if ('value' in resolved && isObject(resolved.value)) return { input: resolved.value };
  return { problem: 'problems' in resolved ? (resolved.problems[0]?.message ?? '') : 'The input is no object.' };
}

/** A report about a step that was removed, or that was settled meanwhile, changes nothing. */
function callEnded(recording: Recording, payload: unknown, now: number): StateChange<Recording> {
  const report = (isObject(payload) ? payload : {}) as Partial<CallEnded>;
  const step = recording.state.steps.find(({ name, status }) => name === report.name && status === 'running');
  if (step === undefined) return { state: recording };
  const completedAt = isoOf(now);
  const { output = null, error } = report;
  if (error !== undefined) {
    const reportedError = { code: String(error.code), message: String(error.message).slice(0, MAX_ERROR_LENGTH) };
    return withSummaryEffect(markFailed(recording, step, reportedError, completedAt, now));
  }
  const done: RecordedStep = { ...parseJsonOutput(step, output), status: 'completed', completedAt };
  const updated = withStep(recording, done, now);
  if (!isRefusal(updated)) return withSummaryEffect(updated);
  return withSummaryEffect(
    markFailed(recording, step, { code: updated.refused, message: updated.message }, completedAt, now),
  );
}

/** A text that holds JSON becomes data, by code that the definition gets too. */
function parseJsonOutput(step: RecordedStep, output: Json): RecordedStep {
  const { action } = step.step;
  if (typeof output !== 'string' || !isObject(action) || !/^\s*[[{]/.test(output)) return { ...step, output };
  try {
    const data = JSON.parse(output) as Json;
    return { ...step, step: { ...step.step, action: { ...action, transformCode: PARSE_JSON_CODE } }, output: data };
  } catch {
    return { ...step, output };
  }
}

function markFailed(
  recording: Recording,
  step: RecordedStep,
  error: NonNullable<RecordedStep['error']>,
  completedAt: string,
  now: number,
): Recording {
  const steps = recording.state.steps.map((one) =>
    one.name === step.name ? { ...step, status: 'failed' as const, error, completedAt } : one,
  );
  return withSizes(withMembers(recording, now, { steps }), steps);
}

/** The recording with a step replaced, by its name. */
function withStep(recording: Recording, step: RecordedStep, now: number): Recording | Refusal {
  const steps = recording.state.steps.map((one) => (one.name === step.name ? step : one));
  return withSteps(recording, steps, [step], now);
}

/** The recording with these steps, of which `fresh` are new or changed. Refused with `too_many`, `too_large`. */
function withSteps(
  recording: Recording,
  steps: readonly RecordedStep[],
  fresh: readonly RecordedStep[],
  now: number,
  members: Partial<RecordingState> = {},
): Recording | Refusal {
  if (steps.length > MAX_RECORDED_STEPS)
    return refuse('too_many', `A recording has at most ${MAX_RECORDED_STEPS} steps. Remove some, or begin another.`);
  const next = withSizes(withMembers(recording, now, { ...members, steps }), fresh);
  const sizes = [...next.sizes.values()];
  const withoutOutput = sizes.reduce((sum, size) => sum + size.withoutOutput, 0);
  const total = sizes.reduce((sum, size) => sum + size.total, exactJsonBytes(next.state.input));
  const { maxBytes } = recording.start;
  // What becomes smaller is always taken.
  if (fresh.length + Object.keys(members).length === 0) return next;
  if (withoutOutput > ALL_STEPS_BYTES)
    return refuse(
      'too_large',
      `The steps have ${withoutOutput} bytes without their outputs; the limit is ${ALL_STEPS_BYTES}.`,
    );
  if (total > maxBytes)
    return refuse(
      'too_large',
      `The recording has ${total} bytes; the limit is ${maxBytes}. Remove steps with large outputs.`,
    );
  return next;
}

/** Recomputes the sizes of the changed steps, and drops those of removed steps. */
function withSizes(recording: Recording, fresh: readonly RecordedStep[]): Recording {
  const sizes = new Map<string, Sizes>();
  for (const { name } of recording.state.steps) {
    const size = recording.sizes.get(name);
    if (size !== undefined) sizes.set(name, size);
  }
  for (const step of fresh) sizes.set(step.name, sizesOf(step));
  return { ...recording, sizes };
}

function sizesOf(step: RecordedStep): Sizes {
  const { output, ...rest } = step;
  const withoutOutput = exactJsonBytes(rest);
  return { withoutOutput, total: withoutOutput + (output === undefined ? 0 : exactJsonBytes(output)) };
}

const withMembers = (recording: Recording, now: number, members: Partial<RecordingState>): Recording => ({
  ...recording,
  state: { ...recording.state, ...members, changedAt: now },
});

const withSummaryEffect = (recording: Recording): StateChange<Recording> => ({
  state: recording,
  effects: [{ type: 'memo', fields: { [RECORDING_MEMO]: summaryOf(recording.start, recording.state) } }],
});

const answerWith = <Answer>(put: Recording | Refusal, answer: Answer): AnsweredChange<Recording, Answer> | Refusal =>
  isRefusal(put) ? put : { ...withSummaryEffect(put), answer };

/** The operation, which is refused once the recording has ended. */
const whileOpen =
  <Request, Answer>(operation: Operation<Recording, Request, Answer>): Operation<Recording, Request, Answer> =>
  (recording, request, now) => {
    const { ended } = recording.state;
    if (ended === undefined) return operation(recording, request, now);
    return refuse(
      'gone',
      ended === 'expired' ? 'The recording was idle, and has expired.' : 'The recording was deleted.',
    );
  };

/** The step, which has no call under way. */
function findSettledStep(recording: Recording, name: string): RecordedStep | Refusal {
  const step = recording.state.steps.find((one) => one.name === name);
  if (step === undefined) return refuse('no_such_step', `The recording has no step "${name.slice(0, 80)}".`);
  if (step.status === 'running')
    return refuse('step_running', `The call of "${name}" is under way. Wait until it has ended.`);
  return step;
}

function inputTooLarge(...inputs: readonly Json[]): Refusal | undefined {
  const bytes = Math.max(...inputs.map(exactJsonBytes));
  if (bytes <= STEP_INPUT_BYTES) return undefined;
  return refuse('payload_too_large', `The input has ${bytes} bytes; the limit is ${STEP_INPUT_BYTES}. Send less.`);
}

type Problems = readonly { readonly pointer: string; readonly code: string; readonly message: string }[];

function refusalOfProblems(problems: Problems, at: string): [code: string, message: string, details: Json] {
  const placed = problems.map((problem) => ({ ...problem, pointer: `${at}${problem.pointer}` }));
  const [first] = placed;
  return [first?.code ?? 'unknown_reference', first?.message ?? 'A reference is wrong.', { problems: placed }];
}

/** A name that the recording has not had: the tool's, with a number. */
function nextName(state: RecordingState, tool: string): { name: string; named: RecordingState['named'] } {
  const base = stepSlug(tool).toLowerCase().slice(0, MAX_NAME_BASE_CHARACTERS);
  const taken = new Set(state.steps.map(({ name }) => name));
  let number = (Object.hasOwn(state.named, base) ? (state.named[base] ?? 0) : 0) + 1;
  while (taken.has(`${base}_${number}`)) number += 1;
  return { name: `${base}_${number}`, named: { ...state.named, [base]: number } };
}

function baseNameOf({ action }: JsonObject): string {
  if (!isObject(action)) return 'step';
  const { toolName, code } = action;
  if (typeof toolName === 'string') return toolName;
  return code === undefined ? 'return' : 'code';
}

const isoOf = (now: number): string => new Date(now).toISOString();

/** When the first of the open calls is overdue. */
function overdueAt({ steps }: RecordingState): number | undefined {
  const began = steps.filter(({ status }) => status === 'running').map(({ startedAt }) => Date.parse(startedAt));
  return began.length === 0 ? undefined : Math.min(...began) + CALL_OVERDUE_MS;
}

const dueAt = ({ start, state }: Recording): number => overdueAt(state) ?? state.changedAt + start.idleMs;

export const recordingActor: Actor<RecordingStart, Recording> = {
  begin: ({ id, idleMs, maxBytes, name, description, by, input, carried }, { now }) => {
    const state = carried?.recording ?? {
      name,
      input,
      createdAt: now,
      changedAt: now,
      steps: [],
      named: {},
      ...omitUndefined({ description, by }),
    };
    return withSizes({ start: { id, idleMs, maxBytes }, state, sizes: new Map() }, state.steps);
  },
  carry: ({ state }) => ({ recording: state }),
  updates: {
    call: whileOpen(call),
    append: whileOpen(append),
    preset: whileOpen(preset),
    change: whileOpen(change),
    drop: whileOpen(drop),
    confirm: whileOpen(confirm),
    saved: whileOpen(saved),
    end: whileOpen(end),
  },
  signals: { [CALL_ENDED_SIGNAL]: callEnded },
  queries: {
    view: ({ start, state }) => recordingViewOf(start, state),
    step: ({ state }, name) => {
      const step = state.steps.find((one) => one.name === name);
      return step === undefined ? null : shownStep(step);
    },
    callInput: ({ state }, name) => callInput(state, name),
    suggestions: ({ state }) => suggestionsFor(state.input, state.steps),
  },
  next: (recording, now) => {
    if (recording.state.ended !== undefined) return 'end';
    const at = dueAt(recording);
    return now < at ? { at } : 'act';
  },
  act: (recording, now) => {
    const { state } = recording;
    if (state.ended !== undefined || now < dueAt(recording)) return { state: recording };
    const overdue = state.steps.find(
      ({ status, startedAt }) => status === 'running' && Date.parse(startedAt) + CALL_OVERDUE_MS <= now,
    );
    if (overdue === undefined) return withSummaryEffect(withMembers(recording, now, { ended: 'expired' }));
    const error = { code: 'no_answer', message: 'The call has not reported how it ended.' };
    return withSummaryEffect(markFailed(recording, overdue, error, isoOf(now), now));
  },
  details: ({ state }) => `${state.steps.length} steps recorded`,
};
