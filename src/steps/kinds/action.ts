import { z } from 'zod';
import type { StepDefinition } from '../../definition/document/types.ts';
import { getOwn, isObject, type JsonObject } from '../../json/json.ts';
import { anyValue } from '../config/schema.ts';
import { ConfigError, type NoState, type Parse, type RunSpec, type StepContext, type StepKind } from '../kind.ts';
import { actionOf, actionTypes } from './actions.ts';
import { oneActivity } from './one-activity.ts';

/** The action's own limit is what counts, and heartbeats tell that its worker lives. */
const LONGEST_MS = 86_400_000;
const HEARTBEAT_MS = 15_000;

export const action: StepKind<NoState> = {
  type: 'action',
  class: 'effect',
  summary: 'Runs an action that the host offers.',
  description: `\`type\` names the action and \`parameters\` is what it takes. Every host offers \`http.request\` (also called
\`http.http_request\`), which takes what the kind \`http\` takes; others are [the host's own](/docs/actions). \`{{ secrets.NAME }}\` may stand in their parameters.

An action that is not registered is the problem \`unknown_action\`, and the error of that code in a run; a dry run, and a run with a preset for the step, do without it.
The host's actions check what they are given and what they give: \`invalid_config\`, \`invalid_output\`. What takes too long is \`action_timeout\`, and whatever an
action throws without a code of its own is \`action_failed\`; both are tried again.`,
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
  needs({ type, parameters = {} }) {
    const maxBytes = { value: getOwn(parameters, 'maxBytes'), at: '/parameters/maxBytes' };
    return { actions: [{ type, at: '/type', parameters: { value: parameters, at: '/parameters' } }], maxBytes };
  },
  plan(config, parse, step) {
    const { type, parameters = {} } = config;
    if (typeof type !== 'string' || type === '')
      throw new ConfigError('invalid_config', '/type', "Expected an action such as 'http.request'.");
    if (!isObject(parameters)) throw new ConfigError('invalid_config', '/parameters', 'Expected an object.');
    const found = actionOf(type);
    const spec =
      found === undefined
        ? planHostAction(type, parameters, parse, step)
        : found.plan(parameters, '/parameters', parse);
    return oneActivity(spec);
  },
};

/**
 * An action of the host's own. The core does not know which there are: it may run on a worker that was started with others
 * than the one before, and must decide the same. So the activity finds the action, checks what it is given, and says
 * whether it is light.
 */
function planHostAction(
  type: string,
  parameters: JsonObject,
  parse: Parse,
  step: StepDefinition,
): (visit: StepContext) => RunSpec {
  const template = parse.secretTemplate(parameters, '/parameters');
  return (visit) => {
    const { value, secrets } = visit.renderSecret(template);
    return {
      activity: 'hostAction',
      config: {
        value: { type, parameters: value, ...(step.local === true ? { local: true } : {}) },
        secrets: secrets.map(({ path, parts }) => ({ path: ['parameters', ...path], parts })),
      },
      light: true,
      timeoutMs: LONGEST_MS,
      heartbeatMs: HEARTBEAT_MS,
    };
  };
}
