import { z } from 'zod';
import { optionalText } from '../config/read.ts';
import { textTemplate } from '../config/schema.ts';
import type { NoState, StepKind } from '../kind.ts';

export const checkpoint: StepKind<NoState> = {
  type: 'checkpoint',
  class: 'pure',
  stopsRollback: true,
  summary: 'Marks a point that a rollback does not go behind.',
  description: `When the run rolls back, it runs the \`rollback\` of the steps that ended since the last checkpoint, in
reverse order. Steps before the checkpoint stay done.`,
  example: { stepType: 'checkpoint', config: { name: 'paid' }, nextSteps: { success: 'ship' } },
  output: "The checkpoint's name.",
  schema: () =>
    z.strictObject({ name: textTemplate().optional().describe("For the trace. Default: the step's slug.") }),
  ports: () => ({ normal: 'success', names: ['success'] }),
  plan(config, parse) {
    const name = parse.template(config['name'], '/name');
    return {
      begin: (visit) => ({
        do: 'end',
        port: 'success',
        data: optionalText(visit.render(name), 'name') ?? visit.slug,
      }),
    };
  },
};
