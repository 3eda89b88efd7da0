/**
 * A dry run: the core walks a definition on a simulated clock, without effects. A preset answers an effect, else null
 * does. Sleeps pass. The walk stops where it awaits a person, a message or a callback for which there is no answer. The
 * result is the trace that the run would have, with rendered configs.
 */

import { DEFAULT_ORGANIZATION } from '../contract/organization/organization.ts';
import type { RunError, RunStatus, WaitingFor } from '../contract/run/run.ts';
import { unknownPresets } from '../definition/document/presets.ts';
import type { Definition, Problem } from '../definition/document/types.ts';
import { type ScriptedSignal, type Simulated, type SimulatedAnswer, simulate } from '../engine/simulate.ts';
import type { RunCommand, TraceEvent } from '../engine/state/protocol.ts';
import { waitsOf } from '../engine/state/waits.ts';
import { jsonBytes } from '../json/bytes.ts';
import type { Json } from '../json/json.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { childPointer } from '../json/pointer.ts';
import { presetOf } from '../steps/compile/compile-step.ts';
import { compile } from '../steps/compile/program.ts';
import { type Behaviour, type Outcome, type StepContext, StepFailure } from '../steps/kind.ts';
import { activityEnd } from '../steps/kinds/one-activity.ts';
import type { Program, Step } from '../steps/program-types.ts';
import { Answers, type DryAnswers } from './dry-run-answers.ts';
import { Rows, type TraceRow } from './trace-rows.ts';

export interface DryRunOptions {
  /** The start of the run, in epoch milliseconds. `now` begins with it. */
  readonly now: number;
  readonly input?: Json;
  /** Slug → the step's result: data, `{data, port?, meta?}`, or `{error}` (LANGUAGE.md §7). */
  readonly presets?: { readonly [slug: string]: Json };
  /** Answers for waits. */
  readonly answers?: DryAnswers;
  /** Signals with their times, for walks past approvals and messages. */
  readonly events?: readonly ScriptedSignal[];
  readonly organizationId?: string;
  /** A limit on step visits, below the definition's own maxSteps. */
  readonly maxSteps?: number;
  /** Called before every step: whether the walk has taken too long. */
  readonly hasTimedOut?: () => boolean;
  /** The most steps in the result. Default: 1,000. */
  readonly maxRows?: number;
  /** The walk ends when inputs and outputs of the steps in the result reach this size. Default: 8 MB. */
  readonly maxBytes?: number;
  /** The data limit of the run. Default: the limit with a blob store. */
  readonly dataBytes?: number;
}

/** A step of the trace, as in an execution. */
export type DryRunRow = Omit<TraceRow, 'startedAt' | 'completedAt'> & {
  readonly startedAt: string;
  readonly completedAt?: string;
};

export interface DryRun {
  readonly status: RunStatus;
  readonly output?: Json;
  readonly error?: RunError;
  /** In order of start. Effects without a preset have `meta.mocked`. */
  readonly steps: readonly DryRunRow[];
  /** The number of visited steps, if `steps` does not have all. */
  readonly stepsTotal?: number;
  readonly waits: readonly WaitingFor[];
  /** Why the definition cannot be walked, or cannot be walked to its end. */
  readonly problems: readonly Problem[];
}

const MAX_ROWS = 1_000;
const MAX_BYTES = 8_000_000;
/** The activity of mocked steps. Rollbacks use it too, since they have no preset. */
const MOCK_ACTIVITY = 'mock';
const MOCK_ROLLBACK_ACTIVITY = 'mock-rollback';
/** The suffix keeps the effect's config apart from the step's config in the trace. */
const EMPTY_EFFECT = { suffix: '/mock', config: { value: null, secrets: [] } };
const TOO_LONG = 'dry_run_too_long';
/** A failed step reads the output of an effect that was not run. */
const PRESET_MISSING = 'preset_missing';
/** Codes of steps whose config cannot take a value that it reads. */
const MISFIT_CODES: ReadonlySet<string> = new Set(['unresolved_reference', 'expression_type', 'invalid_config']);

/** Walks a canonical definition without effects. Never throws for a mistake of the definition. */
export function dryRun(definition: Definition, options: DryRunOptions): DryRun {
  const { dataBytes } = options;
  const compiled = compile(definition, dataBytes === undefined ? {} : { dataBytes: () => dataBytes });
  if ('problems' in compiled) return unwalkable(compiled.problems);
  const { presets = {}, maxSteps = Number.POSITIVE_INFINITY } = options;
  const rows = new LimitedRows(options.maxRows ?? MAX_ROWS, options.maxBytes ?? MAX_BYTES);
  const hasTimedOut = () => rows.isFull || options.hasTimedOut?.() === true;
  const program = mockProgram(compiled.program, hasTimedOut, maxSteps);
  const [answers, rest] = splitPresets(program, presets);
  const mockedSteps = new Set<string>();
  const replies = options.answers === undefined ? undefined : new Answers(options.answers);
  const run = simulate(program, {
    genesis: {
      executionId: `run.${options.organizationId ?? DEFAULT_ORGANIZATION}.${definition.slug}.dry`,
      organizationId: options.organizationId ?? DEFAULT_ORGANIZATION,
      input: options.input === undefined ? {} : options.input,
      presets: rest,
      trigger: { type: 'manual' },
      depth: 0,
      startedAt: options.now,
    },
    effect: (command) => {
      if (answers[command.stepSlug] === undefined) mockedSteps.add(command.stepSlug);
      return answerOf(command, answers);
    },
    timeouts: false,
    onTrace: rows.addLine,
    ...omitUndefined({ signals: options.events, reply: replies?.reply }),
  });
  return {
    status: run.status,
    ...omitUndefined({ output: run.output, error: run.error }),
    steps: rows.toSteps(run),
    ...(rows.isComplete ? {} : { stepsTotal: rows.count }),
    waits: run.waits,
    problems: [
      ...unknownPresets(definition, presets),
      ...(replies?.finish(run.state) ?? []),
      ...missingPresets(compiled.program, rows.stepsWithMisfits, mockedSteps),
      ...truncationProblems(run, compiled.program, maxSteps),
    ],
  };
}

function unwalkable(problems: readonly Problem[]): DryRun {
  const message = 'The definition cannot be walked. Mend its problems first.';
  return {
    status: 'failed',
    error: { code: 'invalid_definition', message, retryable: false },
    steps: [],
    waits: [],
    problems,
  };
}

/** The program with every effect mocked, and with a limit on every step. */
function mockProgram(program: Program, hasTimedOut: () => boolean, maxSteps: number): Program {
  const steps = new Map<string, Step>();
  for (const [key, step] of program.steps) {
    const { rollback } = step;
    const behaviour = step.kind.class === 'effect' ? mock(step.behaviour, MOCK_ACTIVITY) : step.behaviour;
    steps.set(key, {
      ...step,
      behaviour: withTimeLimit(behaviour, hasTimedOut),
      ...(rollback === undefined
        ? {}
        : {
            rollback: {
              ...rollback,
              behaviour: mock(rollback.behaviour, MOCK_ROLLBACK_ACTIVITY),
            },
          }),
    });
  }
  return { ...program, steps, maxSteps: Math.min(program.maxSteps, maxSteps) };
}

/** Replaces the effects of a kind by one mock. A config that cannot be rendered still fails the step. */
function mock(behaviour: Behaviour, activity: string): Behaviour {
  return {
    begin(visit: StepContext): Outcome {
      const outcome = behaviour.begin(visit);
      if (outcome.do !== 'suspend') return outcome;
      const [spec] = outcome.run ?? [];
      return {
        do: 'suspend',
        state: {},
        run: [{ activity, ...(spec === undefined ? EMPTY_EFFECT : { config: spec.config }) }],
      };
    },
    resume: activityEnd,
  };
}

function withTimeLimit(behaviour: Behaviour, hasTimedOut: () => boolean): Behaviour {
  const checkTime = () => {
    if (hasTimedOut()) throw new StepFailure(TOO_LONG, 'The dry run took too long and was stopped here.');
  };
  const { resume } = behaviour;
  return {
    ...behaviour,
    begin(visit) {
      checkTime();
      return behaviour.begin(visit);
    },
    ...(resume === undefined
      ? {}
      : {
          resume(visit, event) {
            checkTime();
            return resume.call(behaviour, visit, event);
          },
        }),
  };
}

type Presets = { readonly [slug: string]: Json };

/** The presets of effects, whose configs are rendered and shown. The core applies the other presets. */
function splitPresets(program: Program, presets: Presets): [answers: Presets, rest: Presets] {
  const effects = new Set(
    [...program.steps.values()].filter(({ kind }) => kind.class === 'effect').map(({ slug }) => slug),
  );
  const isAnswer = ([slug, value]: [string, Json]) => effects.has(slug) && presetOf(value).port === undefined;
  const entries = Object.entries(presets);
  return [
    Object.fromEntries(entries.filter((entry) => isAnswer(entry))),
    Object.fromEntries(entries.filter((entry) => !isAnswer(entry))),
  ];
}

function answerOf(command: RunCommand, answers: Presets): SimulatedAnswer {
  const { activity, stepSlug } = command;
  if (activity !== MOCK_ACTIVITY || !Object.hasOwn(answers, stepSlug))
    return { result: { data: null, meta: { mocked: true } } };
  const { data, meta, error } = presetOf(answers[stepSlug]!);
  return error === undefined ? { result: { data, meta: { ...meta, preset: true } } } : { error };
}

/** Collects the first rows of the trace. The rest of a long walk is only counted. */
class LimitedRows {
  readonly #rows: Rows;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxRows: number, maxBytes: number) {
    this.#rows = new Rows({ from: 0, to: maxRows });
    this.#maxBytes = maxBytes;
  }

  /** The slugs of steps that failed because a value that they read does not fit. */
  readonly stepsWithMisfits = new Set<string>();

  readonly addLine = (line: TraceEvent): void => {
    this.#rows.addLine(line);
    if (line.t === 'end' && line.error?.stepSlug !== undefined && MISFIT_CODES.has(line.error.code))
      this.stepsWithMisfits.add(line.error.stepSlug);
    if (!this.isComplete) return;
    if (line.t === 'input') this.#bytes += jsonBytes(line.input);
    else if (line.t === 'end') this.#bytes += jsonBytes(line.output);
  };

  get isFull(): boolean {
    return this.#bytes > this.#maxBytes;
  }

  get count(): number {
    return this.#rows.count;
  }

  get isComplete(): boolean {
    return this.#rows.count === this.#rows.rows.length;
  }

  toSteps(run: Simulated): DryRunRow[] {
    const waiting = new Set(
      Object.values(run.state.frames).flatMap(({ visit }) =>
        visit === undefined ? [] : waitsOf(visit).map(({ path }) => path),
      ),
    );
    return this.#rows.rows.map(({ startedAt, completedAt, ...row }) => ({
      ...row,
      ...(row.status === 'running' && waiting.has(row.path) ? { status: 'waiting' as const } : {}),
      startedAt: new Date(startedAt).toISOString(),
      ...(completedAt === undefined ? {} : { completedAt: new Date(completedAt).toISOString() }),
    }));
  }
}

/** For steps that failed: the effects that they read, whose output is null because a dry run does not run them. */
function missingPresets(program: Program, failed: ReadonlySet<string>, mocked: ReadonlySet<string>): Problem[] {
  const bySlug = new Map([...program.steps.values()].map((step) => [step.slug, step]));
  const byOutput = new Map([...bySlug.values()].map((step) => [step.outputVariable, step.slug]));
  return [...failed].flatMap((slug) => {
    const dependencies = (bySlug.get(slug)?.references ?? []).map(({ root, path: [name] }) =>
      root === 'steps' ? name : root === 'outputs' ? byOutput.get(String(name)) : undefined,
    );
    return [...new Set(dependencies)]
      .filter((name) => typeof name === 'string' && mocked.has(name))
      .map((name) => ({
        pointer: childPointer('/presets', String(name)),
        code: PRESET_MISSING,
        message: `'${slug}' reads the output of '${name}', which is null: a dry run has no effects.`,
        hint: `Give an output in place of '${name}'.`,
      }));
  });
}

function truncationProblems(run: Simulated, program: Program, maxSteps: number): Problem[] {
  const { code } = run.error ?? {};
  const isCut = code === TOO_LONG || (maxSteps < program.maxSteps && code === `max_steps_exceeded:${maxSteps}`);
  if (!isCut) return [];
  const message = 'The dry run was stopped before the end of the run: it took too long, or too many steps.';
  return [{ pointer: '', code: TOO_LONG, message, hint: 'Use a smaller input, or presets for the long part.' }];
}
