import { z } from 'zod';
import type { PayloadFormat } from '../../definition/document/types.ts';
import { isObject, type Json, setOwn } from '../../json/json.ts';
import { payloadMismatch } from '../config/payload.ts';
import { anyValue, configSchema } from '../config/schema.ts';
import { ConfigError, type NoState, StepFailure, type StepKind } from '../kind.ts';

export const trigger: StepKind<NoState> = {
  type: 'trigger',
  aliases: ['starting_step'],
  class: 'pure',
  summary: "Starts the walk, and passes on the run's input.",
  description: `A definition usually has one trigger, which is its first step. Its output is the run's input: the body
of the webhook, the event's data, or the value that the schedule or the caller passed. \`meta.trigger\` tells what
started the run.

With \`inputs\` the payload is checked when the run starts, also where a run was started without the gateway. A payload
that does not fit fails the step with \`invalid_input\`. \`inputs\` is a payload format, or a list of
\`{name, type, required, description}\`.`,
  example: {
    stepType: 'trigger',
    config: { type: 'webhook', inputs: { orderId: 'string' } },
    nextSteps: { success: 'check' },
  },
  output: "The run's input. `meta.trigger` is `{type, id, metadata, receivedAt}`.",
  schema: () =>
    configSchema({
      type: z.string().optional().describe('The expected trigger: manual, webhook, schedule, event. For readers.'),
      inputs: z
        .union([
          z.record(z.string(), z.unknown()),
          z.array(
            z.strictObject({
              name: z.string().min(1),
              type: z.string().optional(),
              required: z.boolean().optional(),
              description: z.string().optional(),
              default: anyValue().optional(),
            }),
          ),
        ])
        .optional()
        .describe('The format of the payload: a payload format, or a list of fields.'),
    }),
  ports: () => ({ normal: 'success', names: ['success'] }),
  plan(config, parse) {
    const input = parse.template('{{ input }}', '');
    const startedBy = parse.expression('execution.trigger', '');
    const startedAt = parse.expression('execution.startedAt', '');
    const format = formatOf(config['inputs']);
    return {
      begin(visit) {
        const data = visit.render(input);
        const problem = payloadMismatch(visit, format, data);
        if (problem !== undefined)
          throw new StepFailure(
            'invalid_input',
            `The run's input does not fit the inputs of the step '${visit.slug}': ${problem}`,
          );
        const by = visit.evaluate(startedBy);
        const meta = { trigger: { ...(isObject(by) ? by : {}), receivedAt: visit.evaluate(startedAt) ?? null } };
        return { do: 'end', port: 'success', data, meta };
      },
    };
  },
};

/** The list of fields of tale as a JSON Schema; a payload format unchanged. */
function formatOf(inputs: Json | undefined): PayloadFormat | undefined {
  if (inputs === undefined || inputs === null) return undefined;
  if (isObject(inputs)) return inputs;
  if (!Array.isArray(inputs)) throw new ConfigError('/inputs', 'Expected a payload format or a list of fields.');
  const properties: { [name: string]: Json } = {};
  const required: string[] = [];
  inputs.forEach((field, i) => {
    const name = isObject(field) ? field['name'] : undefined;
    if (!isObject(field) || typeof name !== 'string')
      throw new ConfigError(`/inputs/${i}`, 'Expected a field such as {name: "orderId", type: "string"}.');
    const type = field['type'];
    setOwn(properties, name, typeof type === 'string' && JSON_TYPES.has(type) ? { type } : {});
    if (field['required'] === true) required.push(name);
  });
  return { type: 'object', properties, required };
}

const JSON_TYPES: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array']);
