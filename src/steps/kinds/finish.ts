import { z } from 'zod';
import { anyValue, configSchema } from '../config/schema.ts';
import type { NoState, StepKind } from '../kind.ts';
import { ConfigError } from '../kind.ts';

export const finish: StepKind<NoState> = {
  type: 'finish',
  aliases: ['return'],
  class: 'end',
  ends: 'run',
  summary: 'Completes the run.',
  description: `Ends the run with success, from any frame. The run's output is the definition's own \`output\`; without
one it is the step's \`output\`; without both it is the last step's data. Steps that run in other branches are
cancelled. With \`drain\` the effects in flight end first. \`return\` is the same kind, and drains by default.

A run that drains has returned: it shows as completed, with its output, at that moment. Where the definition has its
own \`output\`, it shows as completed when the effects have ended. The run's timeout or a cancellation ends the
draining, and the run still completes with its output.`,
  example: { stepType: 'finish', config: { output: { paid: '{{ steps.pay.output.data.id }}' } } },
  output: 'None: nothing comes after it.',
  schema: () =>
    configSchema({
      output: anyValue().optional().describe("The run's output."),
      drain: z
        .boolean()
        .optional()
        .describe('Let the steps in flight end. Default: true for return, false for finish.'),
    }),
  ports: () => ({ normal: null, names: [] }),
  plan(config, parse, step) {
    const { drain = step.stepType === 'return' } = config;
    if (typeof drain !== 'boolean') throw new ConfigError('/drain', 'Expected true or false.');
    const output = config['output'] === undefined ? undefined : parse.template(config['output'], '/output');
    const last = parse.expression('lastOutput.data', '');
    return {
      begin: (visit) => ({
        do: 'finish',
        output: output === undefined ? (visit.evaluate(last) ?? null) : visit.render(output),
        drain,
      }),
    };
  },
};
