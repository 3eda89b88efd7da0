import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAction } from '../../../src/actions/define.ts';
import { languageSchema } from '../../../src/gateway/manual/language-schema.ts';
import { manual } from '../../../src/gateway/manual/manual.ts';
import { routes } from '../../../src/gateway/route-table.ts';
import type { Json } from '../../../src/json/json.ts';

const tree = z.object({
  name: z.string(),
  get children() {
    return z.array(tree);
  },
});
const common = {
  output: z.object({ found: z.boolean().describe('Whether there is one.') }),
  run: () => ({ found: true }),
};
const actions = new Map(
  [
    defineAction({
      ...common,
      type: 'crm.find',
      summary: 'Finds a customer.',
      description: 'By name.',
      input: z.strictObject({
        name: z.string().describe('Whom.'),
        limit: z.number().max(9).optional().describe('How many.'),
      }),
    }),
    defineAction({ ...common, type: 'crm.tree', summary: 'Takes a tree.', input: tree, light: true }),
  ].map((action) => [action.type, action] as const),
);

describe('host actions in the manual', () => {
  const page = manual(routes, actions).get('actions')?.markdown ?? '';

  it('have their summary, parameters, limits and what they give', () => {
    expect(page).toContain('### crm.find\n\nFinds a customer.\n\nBy name.\n\nAt most 300,000 ms an attempt.');
    expect(page).toContain('| **`name`** | text | Required. Whom. |');
    expect(page).toContain('| `limit` | number | How many. |');
    expect(page).toContain('| **`found`** | boolean | Required. Whether there is one. |');
    expect(page).toContain('Light: it may run within the task of the run.');
  });

  it('are explained where there are none', () => {
    expect(manual(routes).get('actions')?.markdown).toMatch(/defineAction[\s\S]*no actions of its own/);
  });
});

describe('host actions in the JSON Schema', () => {
  const ajv = new Ajv({ allErrors: true, strictTypes: false, strictRequired: false });
  for (const keyword of ['enumDescriptions', 'defaultSnippets']) ajv.addKeyword(keyword);
  const validate = ajv.compile(languageSchema(actions));
  const takes = (type: string, parameters: Json): boolean =>
    validate({ name: 'A', steps: { a: { stepType: 'action', config: { type, parameters } } } });

  it('take what their schema takes, or templates', () => {
    expect(takes('crm.find', { name: 'Ann', limit: 3 })).toBe(true);
    expect(takes('crm.find', { name: 'Ann', limit: '{{ input.limit }}' })).toBe(true);
    expect(takes('crm.tree', { name: 'root', children: [{ name: 'leaf', children: [] }] })).toBe(true);
  });

  it('refuse what cannot be meant', () => {
    expect(takes('crm.find', { name: 'Ann', limit: 'many' })).toBe(false);
    expect(takes('crm.find', { nam: 'Ann' })).toBe(false);
  });
});
