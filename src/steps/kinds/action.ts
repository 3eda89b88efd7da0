import { z } from 'zod';
import type { StepDefinition } from '../../definition/document/types.ts';
import { getOwn, isObject, type JsonObject } from '../../json/json.ts';
import { anyValue, configSchema } from '../config/schema.ts';
import { ConfigError, type NoState, type Parse, type RunSpec, type StepContext, type StepKind } from '../kind.ts';
import { actionOf, actionTypes } from './built-in-actions.ts';
import { oneActivity } from './one-activity.ts';

/** The action has its own limit. Heartbeats show that its worker lives. */
const MAX_TIMEOUT_MS = 86_400_000;
const HEARTBEAT_MS = 15_000;

export const action: StepKind<NoState> = {
  type: 'action',
  class: 'effect',
  summary: 'Runs an action that the host offers.',
  description: `\`type\` names the action, and \`parameters\` are its input. Every host offers \`http.request\` (alias
\`http.http_request\`), which takes what the kind \`http\` takes. A host may add [actions of its own](/docs/actions).
\`{{ secrets.NAME }}\` may be part of their parameters.

An action that is not registered is the problem \`unknown_action\`, and fails a run with that code. A dry run, and a
run with a preset for the step, do not need the action. The host's actions validate their input and their output:
\`invalid_config\`, \`invalid_output\`. An action that takes too long fails with \`action_timeout\`, and an action that
throws without a code fails with \`action_failed\`. Both are retried.`,
  example: {
    stepType: 'action',
    config: { type: 'http.request', parameters: { url: 'https://api.example.com/orders/{{ input.orderId }}' } },
    nextSteps: { success: 'next' },
  },
  output: "The action's.",
  schema: () =>
    configSchema({
      type: z
        .string()
        .min(1)
        .describe(`The action: ${actionTypes.map(({ type }) => type).join(', ')}, or one of the host's own.`),
      parameters: z.record(z.string(), anyValue()).optional().describe('The input of the action.'),
    }),
  ports: () => ({ normal: 'success', names: ['success'] }),
  needs({ type, parameters = {} }) {
    const maxBytes = { value: getOwn(parameters, 'maxBytes'), at: '/parameters/maxBytes' };
    return { actions: [{ type, at: '/type', parameters: { value: parameters, at: '/parameters' } }], maxBytes };
  },
  plan(config, parse, step) {
    const { type, parameters = {} } = config;
    if (typeof type !== 'string' || type === '')
      throw new ConfigError('/type', "Expected an action such as 'http.request'.");
    if (!isObject(parameters)) throw new ConfigError('/parameters', 'Expected an object.');
    const found = actionOf(type);
    const spec =
      found === undefined
        ? planHostAction(type, parameters, parse, step)
        : found.plan(parameters, '/parameters', parse);
    return oneActivity(spec);
  },
};

/**
 * Plans an action of the host. The core does not know the host's actions: workers of one run may have different ones,
 * and the core must decide the same on each. So the activity finds the action, validates its input, and decides whether
 * it runs locally.
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
      action: type,
      timeoutMs: MAX_TIMEOUT_MS,
      heartbeatMs: HEARTBEAT_MS,
    };
  };
}
