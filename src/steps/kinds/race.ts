import type { JsonObject } from '../../json/json.ts';
import { configSchema } from '../config/schema.ts';
import type { Outcome, StepKind } from '../kind.ts';
import { errorJson } from './parallel.ts';

type RaceState = {
  /** By branch. */
  readonly failures: JsonObject;
  /** Branches that have not failed. */
  remaining: number;
};

export const race: StepKind<RaceState> = {
  type: 'race',
  class: 'container',
  scope: 'branches',
  summary: 'Walks its branches concurrently; the first one to end wins, and the others are cancelled.',
  description: `Every port other than \`done\`, \`error\`, \`skipped\` and \`timeout\` is a branch, named by the port.
A branch that fails leaves the race. When all have failed, the step fails with \`race_failed\`, whose \`details\` map
each branch to its error. Afterwards the entries of the winner's steps are readable. Steps that completed in cancelled
branches count in a rollback.`,
  example: { stepType: 'race', nextSteps: { answer: 'waitForReply', late: 'sleepADay', done: 'go' } },
  output: "`{winner, value}`: the branch's name and its last data.",
  dataMembers: ['winner', 'value'],
  schema: () => configSchema({}),
  ports: () => ({ normal: 'done', names: ['done'], body: 'any' }),
  plan: () => ({
    begin(visit) {
      if (visit.branches.length === 0) return failed(`The race '${visit.slug}' has no branches.`, {});
      return {
        do: 'suspend',
        state: { failures: {}, remaining: visit.branches.length },
        frames: visit.branches.map((name) => ({ name, port: name })),
      };
    },
    resume(visit, event) {
      if (event.on !== 'frame') return { do: 'ignore' };
      if (event.ended) {
        const data = { winner: event.name, value: event.data };
        return { do: 'end', port: 'done', data, adopts: [event.name] };
      }
      const { state } = visit;
      const { failures } = state;
      failures[event.name] = errorJson(event.error);
      if (--state.remaining > 0) return { do: 'suspend', state };
      return failed(`All branches of the race '${visit.slug}' failed.`, failures);
    },
  }),
};

const failed = (message: string, details: JsonObject): Outcome<never> => ({
  do: 'fail',
  error: { code: 'race_failed', message, retryable: false, details },
});
