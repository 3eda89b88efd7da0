import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Definition, StepDefinition } from '../../src/definition/document/types.ts';
import { type SimulatedAnswer, simulate } from '../../src/engine/simulate.ts';
import { dryRun } from '../../src/history/dry-run.ts';
import { Rows } from '../../src/history/trace-rows.ts';
import type { Json } from '../../src/json/json.ts';
import { presetOf } from '../../src/steps/compile/compile-step.ts';
import { definitions } from '../engine/random-definitions.ts';
import { programOf } from '../support/program.ts';

// What a dry run decides is what the real run decides with the same answers, where nobody says anything: the clock, the
// limits of waits, and presets. It stops where only somebody's word is left; until there the two are the same.

const NOW = 1_768_473_000_000;

interface Choice {
  readonly ms: number;
  readonly limit: number | undefined;
  readonly wired: boolean;
  readonly kind: 'listen' | 'wait_callback';
  readonly preset: 'none' | 'data' | 'timeout' | 'error' | 'skipped' | 'rejected' | 'fails';
}

const choice: fc.Arbitrary<Choice> = fc.record({
  ms: fc.constantFrom(0, 20_000, 60_000, 300_000),
  limit: fc.constantFrom(undefined, 30_000, 60_000, 120_000),
  wired: fc.boolean(),
  kind: fc.constantFrom('listen' as const, 'wait_callback' as const),
  preset: fc.constantFrom('none', 'none', 'none', 'none', 'data', 'timeout', 'error', 'skipped', 'rejected', 'fails'),
});

/** The same definition with other clocks: what waits has limits of its own, wired or not. */
function timed(definition: Definition, choices: readonly Choice[]): Definition {
  const steps = Object.entries(definition.steps).map(([slug, step], n): [string, StepDefinition] => [
    slug,
    clocked(step, choices[n % choices.length]!),
  ]);
  return { ...definition, steps: Object.fromEntries(steps) };
}

/** All of it against the clock: what comes first decides. */
function raced(definition: Definition, ms: number): Definition {
  const { start, ...rest } = definition.steps;
  const first = Object.values(start?.nextSteps ?? {})[0]!;
  const race: StepDefinition = { stepType: 'race', nextSteps: { body: first, clock: 'clock' } };
  const clock: StepDefinition = { stepType: 'sleep', config: { duration: ms } };
  const begin: StepDefinition = { stepType: 'trigger', nextSteps: { success: 'race' } };
  return { ...definition, steps: { start: begin, race, ...rest, clock } };
}

function clocked(step: StepDefinition, { ms, limit, wired, kind }: Choice): StepDefinition {
  const config = step.config ?? {};
  const next = Object.values(step.nextSteps ?? {})[0];
  const timeout = limit === undefined ? {} : { timeout: limit };
  const ports = wired && next !== undefined ? { ...step.nextSteps, timeout: next } : { ...step.nextSteps };
  switch (step.stepType) {
    case 'sleep':
      return { ...step, config: { duration: ms } };
    case 'approval':
    case 'user_input':
      return { ...step, config: { message: 'Well?', ...timeout }, nextSteps: ports };
    case 'listen':
      if (kind === 'wait_callback') return { ...step, stepType: kind, config: timeout, nextSteps: ports };
      return { ...step, config: { ...config, timeout: undefined, ...timeout } as never, nextSteps: ports };
    default:
      return step;
  }
}

function presetsOf(definition: Definition, choices: readonly Choice[]): { [slug: string]: Json } {
  const presets: { [slug: string]: Json } = {};
  for (const [n, slug] of Object.keys(definition.steps).entries()) {
    // Taken from the other end, so that a step's preset and its clock have nothing to do with each other.
    const { preset } = choices[choices.length - 1 - (n % choices.length)]!;
    if (preset === 'fails') presets[slug] = { error: { code: 'preset_to_fail' } };
    else if (preset === 'data') presets[slug] = { data: n };
    else if (preset !== 'none') presets[slug] = { data: n, port: preset };
  }
  return presets;
}

/** A preset of an effect, without a port, is what the effect answers: a dry run evaluates its config all the same. */
function isAnswer(definition: Definition, slug: string, preset: Json): boolean {
  return definition.steps[slug]?.stepType === 'http' && !Object.hasOwn(preset as object, 'port');
}

function answerOf(preset: Json | undefined): SimulatedAnswer {
  if (preset === undefined || Object.hasOwn(preset as object, 'port'))
    return { result: { data: null, meta: { mocked: true } } };
  const { error } = presetOf(preset);
  return error === undefined ? { result: { ...presetOf(preset), meta: { preset: true } } } : { error };
}

it('decides as the real run does on the same clock, with the same answers', () => {
  const met = { ended: 0, waiting: 0, timedOut: 0 };
  fc.assert(
    fc.property(definitions, fc.array(choice, { minLength: 2, maxLength: 12 }), fc.boolean(), (made, choices, sets) => {
      const [{ ms }] = choices as [Choice];
      const whole = ms < 60_000 ? made : raced(made, ms);
      const definition = JSON.parse(JSON.stringify(timed(whole, choices))) as Definition;
      const presets = sets ? presetsOf(definition, choices) : {};
      const rows = new Rows({ from: 0, to: 10_000 });
      const real = simulate(programOf(definition), {
        genesis: {
          executionId: 'run.default.generated.dry',
          organizationId: 'default',
          input: {},
          presets: Object.fromEntries(
            Object.entries(presets).filter(([slug, set]) => !isAnswer(definition, slug, set)),
          ),
          trigger: { type: 'manual' },
          depth: 0,
          startedAt: NOW,
        },
        effect: ({ stepSlug, id }) => answerOf(id.endsWith('/rollback') ? undefined : presets[stepSlug]),
        onTrace: rows.addLine,
      });
      const dry = dryRun(definition, { now: NOW, presets, maxRows: 10_000 });
      const isOpen = (status: string) => status === 'running' || status === 'waiting';
      for (const [n, step] of dry.steps.entries()) {
        const { path, status, port, output } = rows.rows[n]!;
        expect(step.path).toBe(path);
        if (!isOpen(step.status)) expect([step.status, step.port, step.output]).toEqual([status, port, output]);
      }
      if (dry.status === 'waiting') met.waiting++;
      else {
        met.ended++;
        expect(dry.steps.length).toBe(rows.count);
        const { status, output, error } = real;
        expect({ ...dry, steps: 0, waits: 0, problems: 0 }).toEqual({
          status,
          ...(output === undefined ? {} : { output }),
          ...(error === undefined ? {} : { error }),
          steps: 0,
          waits: 0,
          problems: 0,
        });
        if (rows.rows.some(({ port, error: failed }) => port === 'timeout' || /_timeout$/.test(failed?.code ?? '')))
          met.timedOut++;
      }
    }),
    { numRuns: 600 },
  );
  // Both ways out are met, and so are limits that came before something else.
  expect(met.ended).toBeGreaterThan(10);
  expect(met.waiting).toBeGreaterThan(10);
  expect(met.timedOut).toBeGreaterThan(5);
});
