import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { check } from '../../src/check/check.ts';
import type { Json } from '../../src/json/json.ts';

const input = z.strictObject({
  name: z.string().max(5),
  cents: z.number().optional(),
  lines: z.array(z.object({ id: z.number() })).optional(),
  kind: z.union([z.object({ a: z.number() }), z.object({ b: z.boolean() })]).optional(),
});
const actions = new Map([['crm.find', { input }]]);
const found = (parameters: Json, where: 'step' | 'rollback' = 'step') => {
  const config = { type: 'crm.find', parameters };
  const step: Json =
    where === 'step'
      ? { stepType: 'action', config }
      : { stepType: 'http', config: { url: 'https://a.example' }, rollback: { stepType: 'action', config } };
  const document: Json = { name: 'A', slug: 'a', input: { id: 'number', key: 'string' }, steps: { a: step } };
  return check(document, { actions }).problems.map(({ pointer, code }) => `${pointer} ${code}`);
};
const at = '/steps/a/config/parameters';

describe('the parameters of a host action', () => {
  it.each<[Json]>([
    [{ name: 'Ann', cents: 5, lines: [{ id: 1 }] }],
    [{ name: '{{ input.key|upper }}', cents: '{{ input.id }}', lines: '{{ [] }}' }],
    [{ name: 'A', lines: [{ id: '{{ input.id }}' }], kind: { a: '{{ input.id }}' } }],
    [{ '{{ input.key }}': 'A' }],
  ])('may have templates anywhere: %j', (parameters) => {
    expect(found(parameters)).toEqual([]);
  });

  it.each<[Json, string[]]>([
    [{}, [`${at}/name missing_member`]],
    [{ name: 'Ann', age: '{{ input.id }}' }, [`${at}/age unknown_member`]],
    [{ name: 5, cents: '{{ input.id }}' }, [`${at}/name wrong_type`]],
    [{ name: 'Ann', lines: [{ id: 'x' }, { id: '{{ input.id }}' }] }, [`${at}/lines/0/id wrong_type`]],
    [{ name: 'Ann-Marie' }, [`${at}/name invalid_value`]],
  ])('are checked where they are written: %j', (parameters, problems) => {
    expect(found(parameters)).toEqual(problems);
  });

  it('are checked in a rollback too', () => {
    expect(found({ name: 1 }, 'rollback')).toEqual(['/steps/a/rollback/config/parameters/name wrong_type']);
  });

  it('are left to the run where the schema answers later', () => {
    const later = new Map([['crm.find', { input: z.unknown().refine(async () => false) }]]);
    const document: Json = { name: 'A', slug: 'a', steps: { a: { stepType: 'action', config: { type: 'crm.find' } } } };
    expect(check(document, { actions: later }).problems).toEqual([]);
  });
});
