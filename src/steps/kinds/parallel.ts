import { z } from 'zod';
import type { Json, JsonObject } from '../../json/json.ts';
import { configSchema } from '../config/schema.ts';
import { ConfigError, type FailureShape, type OpenStepContext, type Outcome, type StepKind } from '../kind.ts';

const MODES = ['all', 'settled'] as const;

type ParallelState = {
  /** By branch. */
  readonly results: JsonObject;
  readonly failures: JsonObject;
  /** Branches that have not ended. */
  remaining: number;
};

export const parallel: StepKind<ParallelState> = {
  type: 'parallel',
  aliases: ['join'],
  class: 'container',
  scope: 'branches',
  summary: 'Walks its branches concurrently and waits for all of them.',
  description: `Every port other than \`done\`, \`error\`, \`skipped\` and \`timeout\` is a branch, named by the port.
A branch ends where an edge leads back to this step, or where its path ends.

With \`mode: all\` (default) the step waits for all branches. If any failed, it fails with \`join_failed\`, whose
\`details\` map each branch to its error. With \`failFast\` the first failure cancels the other branches immediately.
With \`mode: settled\` the step never fails. Afterwards the entries of steps that belong to exactly one branch are
readable. A step that branches share is readable only through this step's output.`,
  example: {
    stepType: 'parallel',
    config: { mode: 'all' },
    nextSteps: { user: 'fetchUser', posts: 'fetchPosts', done: 'render' },
  },
  output: '`{branch: last data}`; with settled `{branch: {status, data | error}}`, status completed or failed.',
  schema: () =>
    configSchema({
      mode: z.enum(MODES).optional().describe("'all' (default) fails if a branch failed; 'settled' never does."),
      failFast: z.boolean().optional().describe('Cancel the other branches at the first failure.'),
    }),
  ports: () => ({ normal: 'done', names: ['done'], body: 'any' }),
  plan(config) {
    const { mode = 'all', failFast = false } = config;
    if (mode !== 'all' && mode !== 'settled') throw new ConfigError('/mode', "Expected 'all' or 'settled'.");
    if (failFast !== true && failFast !== false) throw new ConfigError('/failFast', 'Expected true or false.');
    const ended = ({ state, slug, branches }: OpenStepContext<ParallelState>): Outcome<never> => {
      const { results, failures } = state;
      if (mode === 'all' && Object.keys(failures).length > 0) return { do: 'fail', error: joinFailed(slug, failures) };
      const data: JsonObject = {};
      for (const name of branches) {
        // A branch may have the name `constructor`.
        const error = Object.hasOwn(failures, name) ? failures[name] : undefined;
        if (mode === 'all') data[name] = results[name] ?? null;
        else
          data[name] =
            error === undefined ? { status: 'completed', data: results[name] ?? null } : { status: 'failed', error };
      }
      return { do: 'end', port: 'done', data, adopts: branches };
    };
    return {
      begin(visit) {
        if (visit.branches.length === 0) return { do: 'end', port: 'done', data: {} };
        return {
          do: 'suspend',
          state: { results: {}, failures: {}, remaining: visit.branches.length },
          frames: visit.branches.map((name) => ({ name, port: name })),
        };
      },
      resume(visit, event) {
        if (event.on !== 'frame') return { do: 'ignore' };
        const { state } = visit;
        state.remaining--;
        if (event.ended) state.results[event.name] = event.data;
        else state.failures[event.name] = errorJson(event.error);
        if (state.remaining === 0 || (!event.ended && failFast && mode === 'all')) return ended(visit);
        return { do: 'suspend', state };
      },
    };
  },
};

function joinFailed(slug: string, failures: JsonObject): FailureShape {
  const names = Object.keys(failures);
  const branches = names.length === 1 ? 'A branch' : `${names.length} branches`;
  return {
    code: 'join_failed',
    message: `${branches} of '${slug}' failed: ${names.join(', ')}.`,
    retryable: false,
    details: failures,
  };
}

export function errorJson(error: FailureShape): Json {
  return { ...error } as JsonObject;
}
