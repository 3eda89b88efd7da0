import { z } from 'zod';
import { actionOf, actionTypes } from './actions.ts';
import { effectEnd } from './http.ts';
import { ConfigError, StepFailure, type StepKind } from './kind.ts';
import { isObject } from './read.ts';
import { anyValue } from './schema.ts';

export const action: StepKind = {
  type: 'action',
  class: 'effect',
  summary: 'Runs an action that the host offers.',
  description: `\`type\` names the action and \`parameters\` is what it takes. Every host offers \`http.request\` (also called
\`http.http_request\`), which takes what the kind \`http\` takes; others are registered where the host is built. An action that is not registered is the problem
\`unknown_action\`; a dry run, and a run with a preset for the step, do without it.`,
  example: {
    stepType: 'action',
    config: { type: 'http.request', parameters: { url: 'https://api.example.com/orders/{{ input.orderId }}' } },
    nextSteps: { success: 'next' },
  },
  output: "The action's.",
  schema: () =>
    z.strictObject({
      type: z
        .string()
        .min(1)
        .describe(`The action: ${actionTypes.map(({ type }) => type).join(', ')}, or one of the host's own.`),
      parameters: z.record(z.string(), anyValue()).optional().describe('What the action takes.'),
      description: z.string().optional().describe('For readers.'),
    }),
  ports: () => ({ normal: 'success', names: ['success'] }),
  plan(config, parse) {
    const { type, parameters = {} } = config;
    if (typeof type !== 'string' || type === '')
      throw new ConfigError('invalid_config', '/type', "Expected an action such as 'http.request'.");
    if (!isObject(parameters)) throw new ConfigError('invalid_config', '/parameters', 'Expected an object.');
    const found = actionOf(type);
    if (found === undefined) {
      // Its templates are checked all the same; that it is not registered is the checker's to say, since a preset may stand in for it.
      parse.secretTemplate(parameters, '/parameters');
      return {
        begin() {
          throw new StepFailure(
            'unknown_action',
            `This host offers no action '${type}'. Register it, or take one of ${actionTypes.map((one) => `'${one.type}'`).join(', ')}.`,
          );
        },
      };
    }
    const spec = found.plan(parameters, '/parameters', parse);
    return { begin: (visit) => ({ do: 'hold', hold: {}, run: [spec(visit)] }), resume: effectEnd };
  },
};
