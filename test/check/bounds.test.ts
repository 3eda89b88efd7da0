// biome-ignore-all lint/suspicious/noThenProperty: `then` is a member of agent-ops, and nothing here is awaited.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { check } from '../../src/check/check.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import { kinds } from '../../src/steps/kinds/table.ts';
import { countCalls } from '../support/work-counters.ts';

const slug = fc.constantFrom('a', 'b', 'c', 'd', '$end', 'noop', '__proto__', 'toString', '');
const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    '{{ steps.a.output.data }}',
    '{{ loop.item }}',
    'steps.b.output.data > 1',
    '{{ secrets.K }}',
    '@a.x',
    '{{',
    '{{input.x}}',
    'input.a && b || c',
    '$.a.b',
  ),
);
const value: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.constantFrom<Json>(null, true, 0, -1, 1e300),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof(
        text,
        fc.constantFrom(
          'expression',
          'items',
          'values',
          'type',
          'parameters',
          'branches',
          'name',
          'value',
          'config',
          'timeout',
          'secret',
        ),
      ),
      tie('json'),
      { maxKeys: 4 },
    ),
  ),
})).json;
const step = fc.record(
  {
    stepType: fc.oneof(fc.constantFrom(...kinds.map(({ type }) => type), 'nope'), value),
    config: value,
    nextSteps: fc.oneof(
      fc.dictionary(fc.constantFrom('success', 'true', 'false', 'loop', 'item', 'done', 'x', 'error'), slug),
      value,
    ),
    when: value,
    saveToState: value,
    rollback: value,
    dependsOn: fc.array(slug),
    forEach: value,
    order: value,
  },
  { requiredKeys: ['stepType'] },
);
const canonical = fc.record(
  {
    name: text,
    steps: fc.dictionary(slug, step),
    flow: fc.constantFrom('ports', 'dag'),
    input: value,
    state: value,
    config: value,
    triggers: value,
    output: value,
  },
  { requiredKeys: ['name', 'steps'] },
);
const flat = fc.record({
  stepSlug: slug,
  name: text,
  stepType: fc.constantFrom('trigger', 'loop', 'condition', 'action', 'llm', 'output', 'x'),
  config: value,
  nextSteps: fc.dictionary(fc.constantFrom('success', 'loop', 'done', 'true', 'failure'), slug),
});
const nested = fc.record({
  id: slug,
  type: fc.constantFrom('tool', 'bash', 'conditional', 'parallel', 'loop', 'approval', 'x'),
  then: value,
  steps: fc.array(fc.record({ type: fc.constantFrom('approval', 'loop') })),
  condition: value,
  items: value,
});
const documents: fc.Arbitrary<Json> = fc.oneof(
  value,
  canonical as fc.Arbitrary<Json>,
  fc.record({ workflowConfig: value, stepsConfig: fc.array(fc.oneof(flat, value)) }) as fc.Arbitrary<Json>,
  fc.record({
    steps: fc.array(
      fc.oneof(
        fc.record({ name: slug, action: value, input: value, when: value, forEach: value, config: value }),
        value,
      ),
    ),
  }) as fc.Arbitrary<Json>,
  fc.record({ steps: fc.array(fc.oneof(nested, value)), variables: value, runtime: value }) as fc.Arbitrary<Json>,
  fc.record({
    flow: fc.dictionary(
      slug,
      fc.oneof(
        step,
        fc.record({ type: fc.constantFrom('condition', 'tool', 'llm'), next: slug, branches: value, config: value }),
      ),
    ),
    starting_step_id: slug,
    payload_format: value,
  }) as fc.Arbitrary<Json>,
);

describe('the checker', () => {
  it('never throws, and every problem has a pointer, a code and a sentence', () => {
    fc.assert(
      fc.property(
        documents,
        fc.constantFrom(undefined, 'canonical', '000', '001', '002', '004'),
        (document, dialect) => {
          const checked = check(document, dialect === undefined ? {} : { dialect });
          for (const { pointer, code, message } of [...checked.problems, ...checked.warnings]) {
            expect(pointer === '' || pointer.startsWith('/')).toBe(true);
            expect(code).toMatch(/^[a-z0-9_:]+$/);
            expect(message.length).toBeGreaterThan(5);
          }
          expect(checked.valid).toBe(checked.problems.length === 0);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('checks 10,000 steps with ten times the work of 1,000', async () => {
    const chained = (count: number): JsonObject => {
      const steps: JsonObject = {};
      for (let i = 0; i < count; i++) {
        const value = i % 2 === 0 ? i : `{{ steps.s${i - 1}.output }}`;
        steps[`s${i}`] = { stepType: 'set', config: { values: { a: value } }, nextSteps: { success: `s${i + 1}` } };
      }
      steps['s0'] = { stepType: 'trigger', nextSteps: { success: 's1' } };
      steps[`s${count - 1}`] = { stepType: 'finish' };
      return steps;
    };
    const work = (count: number): Promise<number> => {
      const steps = chained(count);
      return countCalls(() => expect(check({ name: 'X', steps }).problems).toEqual([]));
    };
    const ratio = (await work(10_000)) / (await work(1_000));
    expect(ratio).toBeLessThan(12);
  });
});
