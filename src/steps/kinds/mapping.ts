import { anyValue, configSchema } from '../config/schema.ts';
import { ConfigError, type NoState, type StepKind } from '../kind.ts';

export const mapping: StepKind<NoState> = {
  type: 'mapping',
  class: 'pure',
  summary: 'Builds a value from other values.',
  description: `Evaluates \`output\`, any JSON value with templates, and ends with the result. Use it where several
steps need the same shape, or before a step that reads \`lastOutput\`.`,
  example: {
    stepType: 'mapping',
    config: { output: { id: '{{ input.orderId }}', total: '{{ steps.price.output.data.total }}' } },
    nextSteps: { success: 'store' },
  },
  output: 'The evaluated template.',
  schema: () =>
    configSchema({
      output: anyValue().describe('The value to make.'),
    }),
  ports: () => ({ normal: 'success', names: ['success'] }),
  plan(config, parse) {
    if (config['output'] === undefined) throw new ConfigError('/output', 'Expected the value to make.');
    const output = parse.template(config['output'], '/output');
    return { begin: (visit) => ({ do: 'end', port: 'success', data: visit.render(output) }) };
  },
};
