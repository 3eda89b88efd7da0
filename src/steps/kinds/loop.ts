import { z } from 'zod';
import type { Json, JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { invalid, wholeNumber } from '../config/read.ts';
import { anyValue, configSchema, expression, templated } from '../config/schema.ts';
import {
  ConfigError,
  type OpenStepContext,
  type Outcome,
  type StepContext,
  StepFailure,
  type StepKind,
} from '../kind.ts';
import { type LoopState, loopBatch, loopProgress } from '../loop-state.ts';

type Open = OpenStepContext<LoopState>;

const DEFAULT_MAX_ITERATIONS = 1_000;
const MAX_ITERATIONS = 1_000_000_000;
const MAX_BATCH = 100_000;

export const loop: StepKind<LoopState> = {
  type: 'loop',
  class: 'container',
  scope: 'loop',
  summary: 'Walks its body once for each item or batch, or while a condition holds.',
  description: `The port \`loop\` leads into the body. When the body ends, or leads back to this step, the next tick
begins. An edge out of the body leaves the loop, as \`break\` does. When no items are left the step ends by \`done\`;
an empty list ends it without a tick.

In the body, \`loop.item\` and \`loop.index\` (with \`batchSize\` 1), \`loop.batch\`, \`loop.state\` and \`loop.items\`
describe the current tick, and \`loop.parent\` is the enclosing loop.

A loop can carry a value: \`initial\` starts \`loop.carry\`, and after each body \`next\` gives the new value. Then
\`while\` or \`until\` is evaluated, and reads the new value. \`while\` is also evaluated before the first tick.
\`next\` is evaluated after the last tick too. In the trace, the loop's input shows \`next\` and \`result\` as they
were evaluated last. A loop without \`items\`, or with \`while\`, \`until\` or \`next\`, fails with
\`max_iterations_exceeded:n\` when it would walk its body more than \`maxIterations\` times.`,
  example: {
    stepType: 'loop',
    config: { items: '{{ steps.fetch.output.data.orders }}', batchSize: 10 },
    nextSteps: { loop: 'send', done: 'report' },
  },
  output:
    '`{state, batch, value?}`: `state` is as in `loop.state`; `value` comes from `result`, from a break, or is ' +
    'the last carry.',
  dataMembers: ['state', 'batch', 'value'],
  schema: () =>
    configSchema({
      items: templated(z.array(anyValue())).optional().describe('The list to walk.'),
      batchSize: templated(z.int().min(1).max(MAX_BATCH)).optional().describe('Items per tick (1).'),
      while: expression().optional().describe('Asked before each tick: false ends the loop.'),
      until: expression().optional().describe('Asked after each body: true ends the loop.'),
      maxIterations: templated(z.int().min(1).max(MAX_ITERATIONS))
        .optional()
        .describe('For while, until and next (1000).'),
      initial: anyValue().optional().describe('What loop.carry begins with.'),
      next: anyValue().optional().describe('The new loop.carry after each body.'),
      result: anyValue().optional().describe("The output's value when the loop ends."),
      historyKeep: z
        .int()
        .min(1)
        .optional()
        .describe('The number of last ticks whose rollbacks are kept, including the current one. Default: all.'),
    }),
  ports: () => ({ normal: 'done', names: ['loop', 'done'], body: ['loop'] }),
  lateMembers: ['next', 'result'],
  plan(config, parse) {
    const template = (member: string) =>
      config[member] === undefined ? undefined : parse.template(config[member], `/${member}`);
    const conditionOf = (member: 'while' | 'until') => {
      const source = config[member];
      if (source === undefined) return undefined;
      if (typeof source !== 'string') throw new ConfigError(`/${member}`, 'Expected an expression.');
      return parse.expression(source, `/${member}`);
    };
    const items = template('items');
    const batchSize = template('batchSize');
    const maxIterations = template('maxIterations');
    const initial = template('initial');
    const next = template('next');
    const result = template('result');
    const whileCondition = conditionOf('while');
    const until = conditionOf('until');
    const carries = initial !== undefined || next !== undefined;
    const limitOf = (visit: StepContext): number =>
      maxIterations === undefined
        ? DEFAULT_MAX_ITERATIONS
        : wholeNumber(visit.render(maxIterations), 'maxIterations', 1, MAX_ITERATIONS);
    const bounded = items === undefined || whileCondition !== undefined || until !== undefined || next !== undefined;

    const resultOf = (visit: Open): Json | undefined => {
      if (result === undefined) return carries ? visit.state.carry : undefined;
      const value = visit.render(result);
      visit.traceEvaluated('result', value);
      return value;
    };
    const end = (visit: Open, breakValue?: Json): Outcome<never> => {
      visit.state.isComplete = true;
      const value = breakValue ?? resultOf(visit);
      const data: JsonObject = { state: loopProgress(visit.state), batch: null, ...omitUndefined({ value }) };
      return { do: 'end', port: 'done', data };
    };
    const evaluateNext = (visit: Open): void => {
      if (next === undefined) return;
      const carry = visit.render(next);
      visit.state.carry = carry;
      visit.traceEvaluated('next', carry);
    };
    const beginTick = (visit: Open, tick: number): Outcome<never> => {
      const { state } = visit;
      state.tick = tick;
      state.iterations = tick;
      if (state.items !== null && tick * state.batchSize >= state.items.length) return end(visit);
      if (whileCondition !== undefined && !visit.test(whileCondition)) return end(visit);
      const { maxIterations: most } = state;
      if (most !== undefined && tick >= most)
        throw new StepFailure(
          `max_iterations_exceeded:${most}`,
          `The loop has walked its body ${most} times, which is its limit. Raise maxIterations if it needs more.`,
        );
      return { do: 'tick', data: { state: loopProgress(state), batch: loopBatch(state) } };
    };
    return {
      begin(visit) {
        const state: LoopState = {
          items: items === undefined ? null : listOf(visit.render(items)),
          batchSize: batchSize === undefined ? 1 : wholeNumber(visit.render(batchSize), 'batchSize', 1, MAX_BATCH),
          carry: initial === undefined ? null : visit.render(initial),
          tick: 0,
          iterations: 0,
          ...(typeof config['historyKeep'] === 'number' ? { historyKeep: config['historyKeep'] } : {}),
          ...(bounded ? { maxIterations: limitOf(visit) } : {}),
        };
        return { do: 'enter', state };
      },
      resume(visit, event) {
        const { state } = visit;
        switch (event.on) {
          case 'enter':
            return beginTick(visit, 0);
          case 'break':
            state.iterations = state.tick + 1;
            return end(visit, event.value);
          case 'tick': {
            const isCarriedFirst = until !== undefined && next !== undefined;
            if (isCarriedFirst) evaluateNext(visit);
            if (until !== undefined && visit.test(until)) {
              state.iterations = state.tick + 1;
              return end(visit);
            }
            if (!isCarriedFirst) evaluateNext(visit);
            return beginTick(visit, state.tick + 1);
          }
          default:
            return { do: 'ignore' };
        }
      },
    };
  },
};

function listOf(items: Json): Json[] {
  if (!Array.isArray(items)) throw invalid('items', 'a list', items);
  return items;
}
