import { z } from 'zod';
import { MAX_FOR_EACH_CONCURRENCY } from '../../definition/document/limits.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { invalid, wholeNumber } from '../config/read.ts';
import { anyValue, configSchema, templated } from '../config/schema.ts';
import { ConfigError, type FrameSpec, type StepKind } from '../kind.ts';

type IterationError = { index: number; error: JsonObject };

type ForEachState = {
  readonly items: Json[];
  /** In the items' order; null for an iteration that has not ended. */
  readonly results: Json[];
  readonly errors: IterationError[];
  /** The index of the iteration that begins next. */
  nextIndex: number;
  /** Iterations that have not ended. */
  remaining: number;
};

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

export const forEach: StepKind<ForEachState> = {
  type: 'forEach',
  class: 'container',
  scope: 'iterations',
  summary: 'Walks its body for every item, several concurrently.',
  description: `The port \`item\` leads into the body. Each iteration is a frame of its own with \`item\` and
\`index\`; \`as\` renames \`item\` for nested bodies. At most \`concurrency\` iterations run concurrently. Together
they may have 500 effects, timers and runs open; further ones wait. When an iteration fails, the others are cancelled
and the step fails with that error. With \`onError: continue\` the iteration's place in the output is null instead.
Entries of the body's steps are not readable afterwards: read the output. A result that does not fit into the run's
state fails its iteration with \`state_too_large\`, like any other error.`,
  example: {
    stepType: 'forEach',
    config: { items: '{{ input.users }}', concurrency: 5, onError: 'continue' },
    nextSteps: { item: 'invite', done: 'report' },
  },
  output:
    "A list in the items' order: each iteration's last data; null for one that failed with `onError: continue`. " +
    '`meta.errors` lists the failures by index, each as `{index, error: {code, message, path, stepSlug, retryable, ' +
    'attempts?, details?}}`; it is absent where none failed. As text: ' +
    "`{{ steps.each.output.meta.errors|formatList('- {index}: {error.message}') }}`.",
  schema: () =>
    configSchema({
      items: templated(z.array(anyValue())).describe('The list to walk.'),
      as: z.string().regex(NAME).optional().describe('Another name for item, readable in nested bodies too.'),
      concurrency: templated(z.int().min(1).max(MAX_FOR_EACH_CONCURRENCY))
        .optional()
        .describe('Concurrent iterations (1).'),
      onError: z
        .enum(['fail', 'continue'])
        .optional()
        .describe("'fail' (default) cancels the rest; 'continue' gives null."),
    }),
  ports: () => ({ normal: 'done', names: ['item', 'done'], body: ['item'] }),
  plan(config, parse) {
    const { as, onError = 'fail' } = config;
    if (as !== undefined && (typeof as !== 'string' || !NAME.test(as)))
      throw new ConfigError('/as', 'Expected a name such as order.');
    if (onError !== 'fail' && onError !== 'continue')
      throw new ConfigError('/onError', "Expected 'fail' or 'continue'.");
    if (config['items'] === undefined)
      throw new ConfigError('/items', 'Expected a list, or a template that gives one.');
    const items = parse.template(config['items'], '/items');
    const concurrency =
      config['concurrency'] === undefined ? undefined : parse.template(config['concurrency'], '/concurrency');
    const iteration = (list: readonly Json[], index: number): FrameSpec => ({
      name: String(index),
      port: 'item',
      item: { value: list[index]!, index, ...omitUndefined({ as }) },
    });
    return {
      begin(visit) {
        const list = visit.render(items);
        if (!Array.isArray(list)) throw invalid('items', 'a list', list);
        const maxConcurrent =
          concurrency === undefined
            ? 1
            : wholeNumber(visit.render(concurrency), 'concurrency', 1, MAX_FOR_EACH_CONCURRENCY);
        if (list.length === 0) return { do: 'end', port: 'done', data: [] };
        const first = Math.min(maxConcurrent, list.length);
        return {
          do: 'suspend',
          state: { items: list, results: [], errors: [], nextIndex: first, remaining: list.length },
          frames: Array.from({ length: first }, (_, index) => iteration(list, index)),
        };
      },
      resume(visit, event) {
        if (event.on !== 'frame') return { do: 'ignore' };
        const { state } = visit;
        const { items: list, results } = state;
        const index = Number(event.name);
        // Iterations end in any order. Null fills the gaps, so the list is JSON at every moment.
        while (results.length <= index) results.push(null);
        if (event.ended) results[index] = event.data;
        else if (onError === 'fail') return { do: 'fail', error: event.error };
        else state.errors.push({ index, error: { ...event.error } as JsonObject });
        if (--state.remaining === 0) {
          const errors = state.errors.toSorted((a, b) => a.index - b.index);
          return { do: 'end', port: 'done', data: results, ...(errors.length === 0 ? {} : { meta: { errors } }) };
        }
        if (state.nextIndex >= list.length) return { do: 'suspend', state, cancel: [event.name] };
        return { do: 'suspend', state, cancel: [event.name], frames: [iteration(list, state.nextIndex++)] };
      },
    };
  },
};
