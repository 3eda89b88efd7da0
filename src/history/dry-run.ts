/**
 * A dry run (ARCHITECTURE.md §5): the core walks a definition on a simulated clock, and nothing happens outside. Effects are
 * answered by presets, else by null; sleeps pass; where a person, a message or a callback is awaited the walk stops, and
 * says so. What comes out is the trace that the run would have, with the configs as they were evaluated.
 */

import type { RunError, RunStatus, WaitingFor } from '../contract/run.ts';
import { unknownPresets } from '../definition/document/presets.ts';
import type { Definition, Problem } from '../definition/document/types.ts';
import { type ScriptedSignal, type Simulated, type SimulatedAnswer, simulate } from '../engine/simulate.ts';
import type { RunCommand, TraceEvent } from '../engine/state/protocol.ts';
import { waitsOf } from '../engine/state/waits.ts';
import { jsonBytes } from '../json/bytes.ts';
import { defined } from '../json/defined.ts';
import type { Json } from '../json/json.ts';
import { presetOf } from '../steps/compile/compile-step.ts';
import { compile } from '../steps/compile/program.ts';
import { type Behaviour, type Outcome, type StepContext, StepFailure } from '../steps/kind.ts';
import { activityEnd } from '../steps/kinds/one-activity.ts';
import { type Program, RULES, type Step } from '../steps/program-types.ts';
import { Rows, type TraceRow } from './rows.ts';

export interface DryRunOptions {
  /** When the run starts, in epoch milliseconds: what `now` reads. */
  readonly now: number;
  readonly input?: Json;
  /** Slug → what the step ends with: data, `{data, port?, meta?}`, or `{error}` (LANGUAGE.md §7). */
  readonly presets?: { readonly [slug: string]: Json };
  /** Signals at their moments, for walks past people. */
  readonly events?: readonly ScriptedSignal[];
  readonly organizationId?: string;
  /** Bounds the walk below the definition's own maxSteps. */
  readonly maxSteps?: number;
  /** Asked before every step: whether the walk has taken too long. */
  readonly isOver?: () => boolean;
  /** Steps shown (1,000). */
  readonly maxRows?: number;
  /** Bytes of inputs and outputs of the shown steps after which the walk ends (8 MB). */
  readonly maxBytes?: number;
  /** What the run may hold, where that is known; else what it may with a blob store. */
  readonly dataBytes?: number;
}

/** A step of the trace, as an execution's (ARCHITECTURE.md §5, "step"). */
export type DryStep = Omit<TraceRow, 'startedAt' | 'completedAt'> & {
  readonly startedAt: string;
  readonly completedAt?: string;
};

export interface DryRun {
  readonly status: RunStatus;
  readonly output?: Json;
  readonly error?: RunError;
  /** In order of start; effects that no preset answered have `meta.mocked`. */
  readonly steps: readonly DryStep[];
  /** How many steps were visited, when not all are shown. */
  readonly stepsTotal?: number;
  readonly waits: readonly WaitingFor[];
  /** Why the definition cannot be walked, or not to its end. */
  readonly problems: readonly Problem[];
}

const MAX_ROWS = 1_000;
const MAX_BYTES = 8_000_000;
/** Activities of mocked steps; a rollback has no preset. */
const STEP = 'mock';
const ROLLBACK = 'mock-rollback';
/** With a suffix, since without one the effect's config would be shown as the step's. */
const BLANK = { suffix: '/mock', config: { value: null, secrets: [] } };
const TOO_LONG = 'dry_run_too_long';

/** Walks a canonical definition. Never throws for a definition's mistake; performs nothing. */
export function dryRun(definition: Definition, options: DryRunOptions): DryRun {
  const { dataBytes } = options;
  const compiled = compile(definition, dataBytes === undefined ? RULES : { ...RULES, dataBytes: () => dataBytes });
  if ('problems' in compiled) return unwalkable(compiled.problems);
  const { presets = {}, maxSteps = Number.POSITIVE_INFINITY } = options;
  const kept = new KeptRows(options.maxRows ?? MAX_ROWS, options.maxBytes ?? MAX_BYTES);
  const isOver = () => kept.isFull || options.isOver?.() === true;
  const program = mocked(compiled.program, isOver, maxSteps);
  const [answers, rest] = divided(program, presets);
  const run = simulate(program, {
    genesis: {
      executionId: `run.${options.organizationId ?? 'default'}.${definition.slug}.dry`,
      organizationId: options.organizationId ?? 'default',
      input: options.input === undefined ? {} : options.input,
      presets: rest,
      trigger: { type: 'manual' },
      depth: 0,
      startedAt: options.now,
    },
    effect: (command) => answerOf(command, answers),
    timeouts: false,
    onTrace: kept.take,
    ...defined({ signals: options.events }),
  });
  return {
    status: run.status,
    ...defined({ output: run.output, error: run.error }),
    steps: kept.shown(run),
    ...(kept.isWhole ? {} : { stepsTotal: kept.count }),
    waits: run.waits,
    problems: [...unknownPresets(definition, presets), ...cutShort(run, compiled.program, maxSteps)],
  };
}

function unwalkable(problems: readonly Problem[]): DryRun {
  const message = 'The definition cannot be walked: mend its problems first.';
  return {
    status: 'failed',
    error: { code: 'invalid_definition', message, retryable: false },
    steps: [],
    waits: [],
    problems,
  };
}

/** The program with every effect replaced by one that does nothing, and with a limit on every step. */
function mocked(program: Program, isOver: () => boolean, maxSteps: number): Program {
  const steps = new Map<string, Step>();
  for (const [key, step] of program.steps) {
    const { rollback } = step;
    const behaviour = step.kind.class === 'effect' ? mock(step.behaviour, STEP) : step.behaviour;
    steps.set(key, {
      ...step,
      behaviour: limited(behaviour, isOver),
      ...(rollback === undefined
        ? {}
        : {
            rollback: {
              ...rollback,
              behaviour: mock(rollback.behaviour, ROLLBACK),
            },
          }),
    });
  }
  return { ...program, steps, maxSteps: Math.min(program.maxSteps, maxSteps) };
}

/** One effect instead of those that the kind would have run; a config that cannot be evaluated still fails the step. */
function mock(behaviour: Behaviour, activity: string): Behaviour {
  return {
    begin(visit: StepContext): Outcome {
      const outcome = behaviour.begin(visit);
      if (outcome.do !== 'suspend') return outcome;
      const [spec] = outcome.run ?? [];
      return {
        do: 'suspend',
        state: {},
        run: [{ activity, ...(spec === undefined ? BLANK : { config: spec.config }) }],
      };
    },
    resume: activityEnd,
  };
}

function limited(behaviour: Behaviour, isOver: () => boolean): Behaviour {
  const demand = () => {
    if (isOver()) throw new StepFailure(TOO_LONG, 'The dry run took too long and was ended here.');
  };
  const { resume } = behaviour;
  return {
    ...behaviour,
    begin(visit) {
      demand();
      return behaviour.begin(visit);
    },
    ...(resume === undefined
      ? {}
      : {
          resume(visit, event) {
            demand();
            return resume.call(behaviour, visit, event);
          },
        }),
  };
}

type Presets = { readonly [slug: string]: Json };

/** Presets that answer an effect, so that its config is evaluated and shown; the core takes the others by itself. */
function divided(program: Program, presets: Presets): [answers: Presets, kept: Presets] {
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
  if (activity !== STEP || !Object.hasOwn(answers, stepSlug)) return { result: { data: null, meta: { mocked: true } } };
  const { data, meta, error } = presetOf(answers[stepSlug]!);
  return error === undefined ? { result: { data, meta: { ...meta, preset: true } } } : { error };
}

/** The first rows of the trace, which is all that is kept of a long walk. */
class KeptRows {
  readonly #rows: Rows;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxRows: number, maxBytes: number) {
    this.#rows = new Rows({ from: 0, to: maxRows });
    this.#maxBytes = maxBytes;
  }

  readonly take = (line: TraceEvent): void => {
    this.#rows.take(line);
    if (!this.isWhole) return;
    if (line.t === 'input') this.#bytes += jsonBytes(line.input);
    else if (line.t === 'end') this.#bytes += jsonBytes(line.output);
  };

  get isFull(): boolean {
    return this.#bytes > this.#maxBytes;
  }

  get count(): number {
    return this.#rows.count;
  }

  get isWhole(): boolean {
    return this.#rows.count === this.#rows.rows.length;
  }

  shown(run: Simulated): DryStep[] {
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

function cutShort(run: Simulated, program: Program, maxSteps: number): Problem[] {
  const { code } = run.error ?? {};
  const isCut = code === TOO_LONG || (maxSteps < program.maxSteps && code === `max_steps_exceeded:${maxSteps}`);
  if (!isCut) return [];
  const message = 'The dry run was ended before the run would have ended: it took too long, or too many steps.';
  return [{ pointer: '', code: TOO_LONG, message, hint: 'Give a smaller input, or presets for the long part.' }];
}
