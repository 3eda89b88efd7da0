/** Walks a program of this folder on the simulated clock, and writes its rows as the files do. */

import type { Definition, StepDefinition } from '../../src/definition/document/types.ts';
import { type Simulated, type SimulatedAnswer, simulate } from '../../src/engine/simulate.ts';
import type { Event, RunCommand } from '../../src/engine/state/protocol.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import { waitsOf } from '../../src/engine/state/waits.ts';
import { Rows, type TraceRow } from '../../src/history/trace-rows.ts';
import type { Json } from '../../src/json/json.ts';
import type { Program, Step } from '../../src/steps/program-types.ts';
import { programOf } from '../support/program.ts';
import type { ProgramAnswer, ProgramFile } from './load.ts';

/** 2026-01-15T10:30:00Z */
export const START = 1_768_473_000_000;

/** How a walk is made, and who listens to what it is given. */
export interface SimulationOptions {
  readonly serializesAlways?: boolean;
  readonly segments?: boolean;
  readonly onEvent?: (event: Event) => void;
  /** An attempt of the effect with that id was answered so. */
  readonly onAnswer?: (id: string, answer: SimulatedAnswer) => void;
}

export function simulateProgram(
  file: ProgramFile,
  { serializesAlways = false, segments = false, onEvent, onAnswer }: SimulationOptions = {},
): Simulated {
  const program = programOf(file.definition);
  return simulate(segments ? light(program, file) : program, {
    genesis: {
      executionId: `run.default.${file.definition.slug}.1`,
      organizationId: 'default',
      input: file.input,
      presets: file.presets ?? {},
      trigger: { type: 'manual' },
      depth: 0,
      startedAt: START,
    },
    effect: listened(answers(file), onAnswer),
    ...(onEvent === undefined ? {} : { onEvent }),
    signals: file.signals.map(({ when, afterMs, signal, payload }) => ({
      signal,
      ...(when === undefined ? {} : { when }),
      ...(afterMs === undefined ? {} : { afterMs }),
      ...(payload === undefined ? {} : { payload }),
    })),
    timeouts: file.timeouts,
    serializesAlways,
    segments,
    maxEvents: 100_000,
  });
}

/** The program with every effect light whose answers take no time, so that all those may be in segments. */
function light(program: Program, { effects }: ProgramFile): Program {
  const slow = Object.entries(effects).filter(([, listed]) => listed.some(({ afterMs = 0 }) => afterMs > 0));
  const isSlow = (slug: string) => slow.some(([name]) => name === slug || name.endsWith(`/${slug}`));
  const steps = [...program.steps].map(([key, step]): [string, Step] => [
    key,
    step.kind.class === 'effect' && !isSlow(step.slug) ? { ...step, local: true } : step,
  ]);
  return { ...program, steps: new Map(steps) };
}

/** Answers by the visit's path, else by the step's slug. Each attempt takes the next one, and the last one repeats. */
function answers(file: ProgramFile): (command: RunCommand) => SimulatedAnswer {
  const taken = new Map<string, number>();
  return (command) => {
    const key = [command.id, command.stepSlug].find((name) => Object.hasOwn(file.effects, name));
    if (key === undefined) throw new Error(`${file.name}.yaml has no answer for the effect '${command.id}'.`);
    const listed = file.effects[key]!;
    const n = taken.get(key) ?? 0;
    taken.set(key, n + 1);
    return answerOf(listed[Math.min(n, listed.length - 1)]!);
  };
}

function listened(
  effect: (command: RunCommand) => SimulatedAnswer,
  onAnswer: SimulationOptions['onAnswer'],
): (command: RunCommand) => SimulatedAnswer {
  return (command) => {
    const answer = effect(command);
    onAnswer?.(command.id, answer);
    return answer;
  };
}

function answerOf({ data, meta, error, afterMs }: ProgramAnswer): SimulatedAnswer {
  if (error === undefined) return { result: { data: data ?? null, ...(meta === undefined ? {} : { meta }) }, afterMs };
  const { details, ...rest } = error;
  return { error: { ...rest, ...(details === undefined ? {} : { details }) }, afterMs };
}

/** The rows of the trace as `path status port`, in order of start. */
export function traceLines(run: Simulated): string[] {
  const rows = new Rows({ from: 0, to: 10_000 });
  for (const event of run.trace) rows.addLine(event);
  return rows.rows.map((row) =>
    [row.path, statusOf(row, run.state), ...(row.port === undefined ? [] : [row.port])].join(' '),
  );
}

function statusOf(row: TraceRow, state: RunState): string {
  if (row.status !== 'running') return row.status;
  const isWaiting = Object.values(state.frames).some(
    ({ visit }) => visit !== undefined && waitsOf(visit).some(({ path }) => path === row.path),
  );
  return isWaiting ? 'waiting' : 'running';
}

/** The configs that effects were sent, by their ids. */
export function sentConfigs(run: Simulated): { [id: string]: unknown } {
  return Object.fromEntries(
    run.commands.flatMap((command) => (command.type === 'run' ? [[command.id, command.config]] : [])),
  );
}

/** The actions and models of another host, replaced by requests with the same parameters, which are still evaluated. */
export function withMockedHost(definition: Definition): Definition {
  const steps = Object.entries(definition.steps).map(([slug, step]): [string, StepDefinition] => {
    if (!['action', 'llm', 'agent'].includes(step.stepType)) return [slug, step];
    const body: Json = step.stepType === 'action' ? (step.config?.['parameters'] ?? null) : (step.config ?? null);
    return [slug, { ...step, stepType: 'http', config: { method: 'POST', url: 'https://host.test', body } }];
  });
  return { ...definition, steps: Object.fromEntries(steps) };
}
