import { anyValue, configSchema } from '../config/schema.ts';
import type { NoState, StepKind } from '../kind.ts';

export const breakKind: StepKind<NoState> = {
  type: 'break',
  class: 'pure',
  ends: 'loop',
  summary: 'Leaves the innermost loop by its port done.',
  description: `The innermost loop ends by its port \`done\`. \`value\`, if given, is the \`value\` of the loop's
output. The loop must be in the same frame: a branch of parallel or an iteration of forEach cannot break a loop around
it. An edge out of a loop's body leaves the loop too, and goes to its target.`,
  example: { stepType: 'break', config: { value: '{{ loop.item }}' } },
  output: 'The value.',
  schema: () =>
    configSchema({
      value: anyValue().optional().describe("The loop's value; null if left out."),
    }),
  ports: () => ({ normal: null, names: [] }),
  plan(config, parse) {
    const value = parse.template(config['value'], '/value');
    return { begin: (visit) => ({ do: 'break', value: visit.render(value) }) };
  },
};
