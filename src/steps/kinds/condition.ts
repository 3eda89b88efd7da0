import { z } from 'zod';
import { sameJson } from '../../json/equality.ts';
import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import { matchesComparison } from '../comparison.ts';
import { anyValue, configSchema, expression, templated } from '../config/schema.ts';

import { ConfigError, type NoState, type Parse, type StepContext, type StepKind } from '../kind.ts';
import { COMMON_PORTS } from '../ports.ts';

const DEFAULT_PORT = 'default';
const OPERATORS = ['eq', 'neq', 'gt', 'lt'] as const;

export const condition: StepKind<NoState> = {
  type: 'condition',
  class: 'pure',
  summary: 'Chooses a port by a condition.',
  description: `A step uses one of four forms:

- \`expression\`: ends by \`true\` or \`false\`, depending on whether the expression is truthy.
- \`variable\` and \`equals\`: whether the value at the path \`variable\` equals the value, strictly (\`1\` is not
  \`"1"\`; lists and objects compare by content).
- \`ref\` with at most one of \`eq\`, \`neq\`, \`gt\`, \`lt\`: the same in parts, as forms and models write it. Without
  an operator, the step tests whether the value is truthy. \`gt\` and \`lt\` compare numbers; a value that is not a
  number is neither greater nor less.
- \`branches\`: a list of \`{port, expression}\` (or a port with one of the other forms), tested in order. The first
  branch that holds gives the port. If none holds, the port is \`default\`, or the port that \`default\` names.

A port that is not wired ends the tick, the iteration, the branch or the run.`,
  example: {
    stepType: 'condition',
    config: { expression: 'input.amount > limit' },
    nextSteps: { true: 'review', false: 'pay' },
  },
  output: 'The decision: true or false; with `branches` the name of the port.',
  schema: () => {
    const test = {
      expression: expression().describe('Truthy or not.'),
      variable: configSchema({
        variable: expression().describe('A path, such as outputs.deploy or input.kind.'),
        equals: anyValue().describe('The value it must equal.'),
      }),
    };
    const ref = {
      ref: expression().describe('The value to compare.'),
      eq: anyValue().optional().describe('Equals.'),
      neq: anyValue().optional().describe('Does not equal.'),
      gt: templated(z.number()).optional().describe('Is a greater number.'),
      lt: templated(z.number()).optional().describe('Is a smaller number.'),
    };
    const port = z.string().min(1).describe('The port that is taken when this holds.');
    return z.union([
      configSchema({ expression: test.expression }),
      test.variable,
      configSchema({ ...ref }),
      configSchema({
        branches: z
          .array(
            z.union([
              configSchema({ port, expression: test.expression }),
              test.variable.extend({ port }),
              configSchema({ port, ...ref }),
            ]),
          )
          .min(1)
          .describe('Asked in order; the first that holds decides.'),
        default: z.string().min(1).optional().describe("The port if none holds. Default: 'default'."),
      }),
    ]);
  },
  ports(step) {
    const branches = step.config?.['branches'];
    if (!Array.isArray(branches)) return { normal: 'false', names: ['true', 'false'] };
    const normal = defaultPort(step.config ?? {});
    const named = branches.flatMap((branch) =>
      isObject(branch) && typeof branch['port'] === 'string' ? [branch['port']] : [],
    );
    return { normal, names: [...new Set([...named, normal])] };
  },
  plan(config, parse) {
    if (config['branches'] === undefined) {
      const holds = planTest(config, '', parse);
      return {
        begin(visit) {
          const data = holds(visit);
          return { do: 'end', port: data ? 'true' : 'false', data };
        },
      };
    }
    const branches = config['branches'];
    if (!Array.isArray(branches)) throw new ConfigError('/branches', 'Expected a list of {port, expression}.');
    const otherwise = portName(defaultPort(config), '/default');
    const planned = branches.map((branch, i) => {
      const at = `/branches/${i}`;
      if (!isObject(branch))
        throw new ConfigError(at, 'Expected a branch such as {port: "big", expression: "input.amount > 100"}.');
      return { port: portName(branch['port'], `${at}/port`), holds: planTest(branch, at, parse) };
    });
    return {
      begin(visit) {
        const port = planned.find(({ holds }) => holds(visit))?.port ?? otherwise;
        return { do: 'end', port, data: port };
      },
    };
  },
};

function defaultPort(config: JsonObject): string {
  return typeof config['default'] === 'string' ? config['default'] : DEFAULT_PORT;
}

/** A port that a config names. `error` and `skipped` are reserved. */
export function portName(value: Json | undefined, at: string): string {
  if (typeof value !== 'string' || value === '')
    throw new ConfigError(at, "Expected the name of a port, such as 'big'.");
  if (COMMON_PORTS.has(value))
    throw new ConfigError(
      at,
      `The port '${value}' is kept for steps that ${value === 'error' ? 'fail' : 'are skipped'}; take another name.`,
      'reserved_port',
    );
  return value;
}

/** One test, in one of the first three forms. */
function planTest(config: JsonObject, at: string, parse: Parse): (visit: StepContext) => boolean {
  const { expression: source, variable, ref } = config;
  if ([source, variable, ref].filter((form) => form !== undefined).length !== 1)
    throw new ConfigError(at, "Expected one of 'expression', 'variable' with 'equals', 'ref', or 'branches'.");
  if (typeof source === 'string') {
    const parsed = parse.expression(source, `${at}/expression`);
    return (visit) => visit.test(parsed);
  }
  if (typeof variable === 'string') {
    const parsed = parse.expression(variable, `${at}/variable`);
    const wanted = parse.template(config['equals'], `${at}/equals`);
    return (visit) => sameJson(visit.evaluate(parsed) ?? null, visit.render(wanted));
  }
  if (typeof ref === 'string') return planRef(ref, config, at, parse);
  throw new ConfigError(at, "Expected an expression as a text; 'expression', 'variable' and 'ref' are texts.");
}

function planRef(ref: string, config: JsonObject, at: string, parse: Parse): (visit: StepContext) => boolean {
  const parsed = parse.expression(ref, `${at}/ref`);
  const written = OPERATORS.filter((operator) => config[operator] !== undefined);
  const operator = written[0];
  if (written.length > 1) throw new ConfigError(`${at}/${written[1]}`, 'Expected at most one of eq, neq, gt, lt.');
  if (operator === undefined) return (visit) => visit.test(parsed);
  const operand = parse.template(config[operator], `${at}/${operator}`);
  return (visit) => matchesComparison(visit.evaluate(parsed), { op: operator, value: visit.render(operand) });
}
