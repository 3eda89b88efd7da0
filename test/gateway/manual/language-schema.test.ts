import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { check } from '../../../src/check/check.ts';
import { languageSchema } from '../../../src/gateway/manual/language-schema.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { kinds } from '../../../src/steps/kinds/table.ts';
import { loadPrograms } from '../../programs/load.ts';
import { sourceRoot } from '../source-root.ts';

const ajv = new Ajv({ allErrors: true, strictTypes: false, strictRequired: false });
for (const keyword of ['enumDescriptions', 'defaultSnippets']) ajv.addKeyword(keyword);
const validate = ajv.compile(languageSchema());

/** `pointer: message` of what the schema finds wrong. */
function schemaErrors(document: unknown): string[] {
  validate(document);
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath}: ${message} ${JSON.stringify(params)}`,
  );
}

const minimal: JsonObject = { name: 'A', slug: 'a', steps: { a: { stepType: 'trigger' } } };
const withStep = (step: JsonObject): JsonObject => ({ ...minimal, steps: { a: step } });

describe('the JSON Schema of the language', () => {
  const folder = join(sourceRoot, 'deploy/examples');
  it.each(readdirSync(folder).filter((name) => name.endsWith('.yaml')))('takes the example %s', (name) => {
    expect(schemaErrors(parse(readFileSync(join(folder, name), 'utf8')))).toEqual([]);
  });

  it.each(loadPrograms().filter((program) => program.expect !== undefined))('takes the program $name', (program) => {
    expect(schemaErrors(program.definition)).toEqual([]);
  });

  it.each(kinds.map((kind) => [kind.type, kind] as const))('takes the example of the kind %s', (_type, kind) => {
    expect(schemaErrors(withStep(kind.example as unknown as JsonObject))).toEqual([]);
  });

  it('takes what an author may leave out or write short', () => {
    expect(schemaErrors({ slug: 'a', steps: { a: { stepType: 'trigger' } } })).toEqual([]);
    expect(
      schemaErrors({
        ...minimal,
        $schema: 'http://127.0.0.1:8787/schema.json',
        state: { n: 'number' },
        config: { timeoutMs: 5 },
        'x-anchors': { any: ['thing'] },
      }),
    ).toEqual([]);
  });

  it.each<[string, JsonObject]>([
    ['fields', { a: 'string', 'b.c': { type: 'date', description: 'When.' }, type: 'string', required: 'boolean' }],
    ['nothing', {}],
    ['a JSON Schema', { type: 'object', properties: { a: { type: ['string', 'null'] } } }],
    ['a choice', { oneOf: [{ type: 'string' }, { type: 'object' }] }],
  ])('takes an input of %s, as the checker does', (_what, input) => {
    expect(schemaErrors({ ...minimal, input })).toEqual([]);
    expect(check({ ...minimal, input }).problems).toEqual([]);
  });

  it.each<[string, JsonObject, string]>([
    ['no steps', { name: 'A', steps: {} }, '/steps'],
    ['neither name nor slug', { steps: { a: { stepType: 'trigger' } } }, ''],
    ['an unknown member', { ...minimal, versoin: '1.0.0' }, ''],
    ['a damaged slug', { ...minimal, slug: 'Not A Slug' }, '/slug'],
    ['an unknown kind', withStep({ stepType: 'teleport' }), '/steps/a/stepType'],
    ['an unknown member of a config', withStep({ stepType: 'sleep', config: { durations: '1s' } }), '/steps/a/config'],
    ['a member that is missing', withStep({ stepType: 'http', config: {} }), '/steps/a/config'],
    ['a config that is missing', withStep({ stepType: 'http' }), '/steps/a'],
    [
      'a rollback without its config',
      withStep({ stepType: 'trigger', rollback: { stepType: 'http' } }),
      '/steps/a/rollback',
    ],
    ['a field of a type that is none', { ...minimal, input: { amount: 'money' } }, '/input/amount'],
    ['a field that is none', { ...minimal, input: { amount: { type: 'money' } } }, '/input/amount/type'],
    ['a value of the wrong type', withStep({ stepType: 'http', config: { url: 3 } }), '/steps/a/config/url'],
    [
      'a port that the kind cannot give',
      withStep({ stepType: 'sleep', nextSteps: { sucess: 'a' } }),
      '/steps/a/nextSteps',
    ],
    [
      'a condition asked two ways',
      withStep({ stepType: 'condition', config: { expression: 'a', ref: 'b' } }),
      '/steps/a/config',
    ],
    [
      'parameters that the action does not know',
      withStep({ stepType: 'action', config: { type: 'http.request', parameters: { uri: 'https://example.com' } } }),
      '/steps/a/config/parameters',
    ],
    [
      'a rollback that is no effect',
      withStep({ stepType: 'set', config: { values: {} }, rollback: { stepType: 'sleep' } }),
      '/steps/a/rollback/stepType',
    ],
    [
      'a trigger whose config is not of its type',
      { ...minimal, triggers: [{ name: 'nightly', type: 'schedule', config: { path: 'x' } }] },
      '/triggers/0/config',
    ],
  ])('refuses %s, and so does the checker', (_what, document, pointer) => {
    expect(schemaErrors(document).some((one) => one.startsWith(`${pointer}: `))).toBe(true);
    expect(check(document).valid).toBe(false);
  });

  it('refuses no step that the checker takes', () => {
    // A document that the checker finds nothing wrong with, and the schema does, would be marked red for nothing.
    for (const { name, definition } of loadPrograms()) {
      if (check(definition as unknown as JsonObject).valid) expect(schemaErrors(definition), name).toEqual([]);
    }
  });

  it('tells editors what everything is for', () => {
    const silent = Object.entries(languageSchema()['properties'] as { [name: string]: JsonObject })
      .filter(([name]) => name !== 'createdAt' && name !== 'updatedAt')
      .filter(([, member]) => member['description'] === undefined);
    expect(silent).toEqual([]);
    const { step } = languageSchema()['definitions'] as { [name: string]: JsonObject };
    for (const [name, member] of Object.entries(step?.['properties'] as { [name: string]: JsonObject }))
      expect(member['description'], name).toMatch(/\w/);
    expect(((step?.['defaultSnippets'] ?? []) as JsonObject[]).map(({ label }) => label)).toEqual(
      kinds.map(({ type }) => type),
    );
  });
});
