import { z } from 'zod';
import { anyValue } from '../config/schema.ts';
import type { NoState, StepKind } from '../kind.ts';
import { ConfigError } from '../kind.ts';

export const finish: StepKind<NoState> = {
  type: 'finish',
  aliases: ['return'],
  class: 'end',
  ends: 'run',
  summary: 'Completes the run.',
  description: `Ends the run with success, from anywhere. The run's output is \`output\`, or the last step's data where it is left out; the
definition's own \`output\` comes before both. What still runs in other branches is cancelled; with \`drain\` the effects in flight end first. \`return\`
is the same kind, and drains unless it says otherwise.

A run that drains has returned: it shows as completed, with its output, at that moment (where the definition has its own \`output\`, when the effects
have ended). The run's timeout and a cancel end the draining, and the run completes with its output all the same.`,
  example: { stepType: 'finish', config: { output: { paid: '{{ steps.pay.output.data.id }}' } } },
  output: 'None: nothing comes after it.',
  schema: () =>
    z.strictObject({
      output: anyValue().optional().describe("The run's output."),
      drain: z
        .boolean()
        .optional()
        .describe('Let the steps in flight end. Default: true for return, false for finish.'),
      description: z.string().optional().describe('For readers.'),
    }),
  ports: () => ({ normal: null, names: [] }),
  plan(config, parse, step) {
    const { drain = step.stepType === 'return' } = config;
    if (typeof drain !== 'boolean') throw new ConfigError('invalid_config', '/drain', 'Expected true or false.');
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
