import { z } from 'zod';
import { getOwn, isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import type { Template } from '../../template/template.ts';
import { object, text } from '../config/read.ts';
import { anyValue, configSchema, templated, textTemplate } from '../config/schema.ts';
import { type Assignments, type Behaviour, ConfigError, type NoState, type Parse, type StepKind } from '../kind.ts';

const TARGETS = ['variables', 'state'] as const;
type Target = (typeof TARGETS)[number];

export const set: StepKind<NoState> = {
  type: 'set',
  class: 'pure',
  summary: "Writes the run's variables or its state.",
  description: `With an object, all values are evaluated before any is written, so none reads another. With a list
\`[{name, value}]\` they are evaluated and written in order, so each reads those before it.

Variables are readable as \`variables.name\` and as \`name\`. With \`target: state\`, the definition's \`state\`
declares the keys and their types. A root (\`input\`, \`steps\`, …) cannot be written.`,
  example: {
    stepType: 'set',
    config: {
      values: [
        { name: 'page', value: '{{ page + 1 }}' },
        { name: 'isLast', value: '{{ page >= input.pages }}' },
      ],
    },
    nextSteps: { success: 'fetch' },
  },
  output: 'The values as an object.',
  schema: () =>
    configSchema({
      values: z
        .union([
          templated(z.record(z.string(), anyValue())),
          z.array(
            z.strictObject({
              name: textTemplate().describe('The variable, or the key of the state.'),
              value: anyValue().optional().describe('The value. Default: null.'),
            }),
          ),
        ])
        .describe('An object (evaluated together), or a list (in order).'),
      target: z.enum(TARGETS).optional().describe("'variables' (default) or 'state'."),
    }),
  ports: () => ({ normal: 'success', names: ['success'] }),
  assigns: ({ target, values }) => ({ target: target === 'state' ? 'state' : 'variables', names: namesIn(values) }),
  plan(config, parse) {
    const { values, target = 'variables' } = config;
    if (target !== 'variables' && target !== 'state')
      throw new ConfigError('/target', "Expected 'variables' or 'state'.");
    if (Array.isArray(values)) return assignInOrder(values, target, parse);
    if (!isObject(values) && typeof values !== 'string')
      throw new ConfigError('/values', 'Expected an object of values, or a list of {name, value}.');
    return assignTogether(parse.template(values, '/values'), target);
  },
};

function namesIn(values: Json | undefined): Assignments['names'] {
  if (Array.isArray(values))
    return values.flatMap((entry, i) => {
      const name = getOwn(entry, 'name');
      return typeof name === 'string' ? [{ name, at: `/values/${i}/name` }] : [];
    });
  if (!isObject(values)) return undefined;
  return Object.keys(values).map((name) => ({ name, at: childPointer('/values', name) }));
}

function assignTogether(template: Template, target: Target): Behaviour<NoState> {
  return {
    begin(visit) {
      const data = object(visit.render(template), 'values');
      for (const [name, value] of Object.entries(data)) visit.assign(target, name, value);
      return { do: 'end', port: 'success', data };
    },
  };
}

function assignInOrder(entries: readonly Json[], target: Target, parse: Parse): Behaviour<NoState> {
  const planned = entries.map((entry, i) => {
    const at = `/values/${i}`;
    if (!isObject(entry) || typeof entry['name'] !== 'string')
      throw new ConfigError(at, 'Expected an entry such as {name: "page", value: 1}.');
    return { name: parse.template(entry['name'], `${at}/name`), value: parse.template(entry['value'], `${at}/value`) };
  });
  return {
    begin(visit) {
      const data: JsonObject = {};
      planned.forEach((entry, i) => {
        const name = text(visit.render(entry.name), `values[${i}].name`);
        const value = visit.render(entry.value);
        visit.assign(target, name, value);
        setOwn(data, name, value);
      });
      return { do: 'end', port: 'success', data };
    },
  };
}
