import { z } from 'zod';
import { isObject, type Json } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { anyValue, configSchema } from '../config/schema.ts';
import { ConfigError, type NoState, type StepKind } from '../kind.ts';
import { portName } from './condition.ts';

const DEFAULT_PORT = 'default';

export const switchKind: StepKind<NoState> = {
  type: 'switch',
  class: 'pure',
  summary: 'Chooses a port by a value.',
  description: `\`cases\` maps values to ports. Values are compared as texts: \`3\` matches the case \`"3"\`, \`true\`
the case \`"true"\`, null the case \`"null"\`; lists and objects match none. A value without a case goes to
\`default\`, or to the port that \`default\` names.`,
  example: {
    stepType: 'switch',
    config: { value: '{{ input.priority }}', cases: { high: 'page', low: 'queue' } },
    nextSteps: { page: 'call', queue: 'store', default: 'store' },
  },
  output: 'The value.',
  schema: () =>
    configSchema({
      value: anyValue().describe('What decides.'),
      cases: z.record(z.string(), z.string().min(1)).describe('Value → port.'),
      default: z.string().min(1).optional().describe("The port for every other value. Default: 'default'."),
    }),
  ports(step) {
    const { cases, default: written } = step.config ?? {};
    const normal = typeof written === 'string' ? written : DEFAULT_PORT;
    const named = isObject(cases) ? Object.values(cases).filter((port) => typeof port === 'string') : [];
    return { normal, names: [...new Set([...named, normal])] };
  },
  plan(config, parse) {
    if (config['value'] === undefined) throw new ConfigError('/value', 'Expected the value that decides.');
    if (!isObject(config['cases'])) throw new ConfigError('/cases', 'Expected an object: value → port.');
    const value = parse.template(config['value'], '/value');
    const cases = new Map(
      Object.entries(config['cases']).map(([key, port]) => [key, portName(port, childPointer('/cases', key))]),
    );
    const otherwise = portName(config['default'] ?? DEFAULT_PORT, '/default');
    return {
      begin(visit) {
        const data = visit.render(value);
        const key = keyOf(data);
        return { do: 'end', port: (key === undefined ? undefined : cases.get(key)) ?? otherwise, data };
      },
    };
  },
};

function keyOf(value: Json): string | undefined {
  return typeof value === 'object' && value !== null ? undefined : String(value);
}
