import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { check } from '../../src/check/check.ts';
import { type Conversion, toCanonical } from '../../src/compat/dialects.ts';
import type { Problem } from '../../src/definition/document/types.ts';
import { dryRun } from '../../src/history/dry-run.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import { taleCases } from '../support/shared-cases.ts';
import { examples, laterTale } from './dialect-examples.ts';
import { TALE_DEFINITIONS } from './dialects/load.ts';

const step = (
  stepSlug: string,
  stepType: string,
  config: Json,
  nextSteps: Json = {},
  more: JsonObject = {},
): JsonObject => ({
  stepSlug,
  name: stepSlug,
  stepType,
  order: 1,
  config,
  nextSteps,
  ...more,
});

function imported(steps: JsonObject[], config: JsonObject = {}): Conversion {
  return toCanonical({ workflowConfig: { name: 'X', config }, stepsConfig: steps });
}

describe('a definition of tale', () => {
  const imported = TALE_DEFINITIONS.map((one) => ({ ...one, checked: check(one.document) }));
  const told = (found: readonly Problem[]) => found.map(({ pointer, code }) => `${pointer} ${code}`);

  it.each(imported)('$name is sound where its host has its actions, or says what is wrong', (one) => {
    const { dialect, problems, warnings, definition } = check(one.document, {
      actions: new Map(one.actions.map((action) => [action, { input: z.unknown() }])),
    });
    expect(dialect).toBe('000');
    expect(told(problems)).toEqual(one.problems);
    expect(told(warnings)).toEqual(
      expect.arrayContaining([
        '/workflowConfig/workflowType not_carried_over',
        '/workflowConfig/config/variables/organizationId not_carried_over',
      ]),
    );
    if (problems.some(({ code }) => code === 'unknown_member')) return;
    expect(Object.keys(definition?.steps ?? {})).toHaveLength((one.document['stepsConfig'] as Json[]).length);
    expect(definition?.steps[definition.start ?? '']?.stepType).toBe('trigger');
  });

  it.each(imported)('$name names every action that the host lacks', ({ document, checked, problems }) => {
    const written = (document['stepsConfig'] as { stepType: string; config: JsonObject }[]).filter(
      ({ stepType, config }) => stepType === 'action' && config['type'] !== 'set_variables',
    );
    // What is wrong with the form of a document comes first.
    const isRead = !problems.some((one) => one.endsWith('unknown_member'));
    expect(checked.problems.filter(({ code }) => code === 'unknown_action')).toHaveLength(isRead ? written.length : 0);
  });
});

describe('tale', () => {
  it('takes the inputSchema of its start step as the JSON Schema that it is, also without a type', () => {
    const inputSchema = { properties: { id: { type: 'string', description: 'Whose' } }, required: ['id'] };
    const { definition, problems } = imported([
      step('a', 'start', { inputSchema }, { success: 'b' }),
      step('b', 'output', { mapping: { id: '{{ input.id }}' } }),
    ]);
    expect(problems).toEqual([]);
    if (definition === undefined) throw new Error('It was not imported.');
    const walk = (input: Json) => dryRun(definition, { now: 0, input });
    expect(walk({ id: 'x' })).toMatchObject({ status: 'completed', output: { id: 'x' } });
    expect(walk({ properties: { id: 'x' } })).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_input', path: 'a', message: expect.stringContaining('id') },
    });
    const optional = imported([step('a', 'start', { inputSchema: { properties: inputSchema.properties } })]);
    expect(optional.definition?.steps['a']?.config).toMatchObject({ inputs: { type: 'object' } });
  });

  it('gives retries, modifiers and kinds their canonical names', () => {
    const { definition } = imported(
      [
        step('a', 'start', {}, { success: 'b' }),
        step(
          'b',
          'action',
          { type: 'x', parameters: {}, maxRetries: 4, backoffMs: 50 },
          { success: 'c', failure: 'd' },
          { continueOnError: true },
        ),
        step('c', 'llm', { systemPrompt: 's', userPrompt: 'u', tools: ['t'], maxSteps: 3 }, { success: 'd' }),
        step('d', 'output', { mapping: { a: '{{ steps.b.output.data }}' } }),
      ],
      { retryPolicy: { maxRetries: 2, backoffMs: 3000 }, timeout: 5 },
    );
    expect(definition).toMatchObject({
      dialect: '000',
      start: 'a',
      config: { retryPolicy: { maxAttempts: 3, initialInterval: 3000 }, timeout: 5 },
      steps: {
        a: { stepType: 'trigger' },
        b: {
          retry: { maxAttempts: 5, initialInterval: 50 },
          onError: 'continue',
          nextSteps: { success: 'c', error: 'd' },
          config: { type: 'x', parameters: {} },
        },
        c: { stepType: 'agent', config: { tools: ['t'], maxSteps: 3 } },
        d: { stepType: 'finish', config: { output: { a: '{{ steps.b.output.data }}' } } },
      },
    });
  });

  it('reads noop as the end, unless a step is called so', () => {
    expect(imported([step('a', 'trigger', {}, { success: 'noop' })]).definition?.steps['a']?.nextSteps).toEqual({
      success: '$end',
    });
    expect(
      imported([step('a', 'trigger', {}, { success: 'noop' }), step('noop', 'output', {})]).definition?.steps['a']
        ?.nextSteps,
    ).toEqual({ success: 'noop' });
  });

  it('ends the run where a walk within a loop finds no next step', () => {
    const { definition } = imported([
      step('l', 'loop', { items: [1] }, { loop: 'c', done: 'z' }),
      step('c', 'condition', { expression: 'loop.item > 1' }, { true: 'b' }),
      step('b', 'action', { type: 'x' }, { success: 'l' }),
      step('z', 'action', { type: 'x' }),
    ]);
    expect(definition?.steps['c']?.nextSteps).toEqual({ true: 'b', false: '$end' });
    expect(definition?.steps['b']?.nextSteps).toEqual({ success: 'l' });
    expect(definition?.steps['z']?.nextSteps).toBeUndefined();
  });

  it('calls an item by what the canonical form calls it, also from a loop within', () => {
    const { definition } = imported([
      step('l', 'loop', { items: '{{ steps.x.output.data }}', itemVariable: 'order' }, { loop: 'm' }),
      step('m', 'loop', { items: '{{ order.lines }}', itemVariable: 'line' }, { loop: 'c', done: 'l' }),
      step(
        'c',
        'condition',
        { expression: 'line.count > order.limit && line.order != "order"' },
        { true: 'a', false: 'm' },
      ),
      step(
        'a',
        'action',
        { type: 'x', parameters: { text: '{{ line.sku }} of {{order.id}}: order' } },
        { success: 'm' },
      ),
    ]);
    expect(definition?.steps['m']?.config).toEqual({ items: '{{ loop.item.lines }}' });
    expect(definition?.steps['c']?.config).toEqual({
      expression: 'loop.item.count > loop.parent.item.limit && loop.item.order != "order"',
    });
    expect(definition?.steps['a']?.config).toMatchObject({
      parameters: { text: '{{ loop.item.sku }} of {{loop.parent.item.id}}: order' },
    });
  });

  it('calls an item so in modifiers and in what a loop asks, too', () => {
    const { definition } = imported([
      step('l', 'loop', { items: '{{ input.orders }}', itemVariable: 'order', until: 'order.last' }, { loop: 'm' }),
      step('m', 'loop', { items: '{{ order.lines }}', while: 'order.open' }, { loop: 'a', done: 'l' }),
      step('a', 'action', { type: 'x' }, { success: 'm' }, { when: 'order.open', saveToState: { last: 'order.id' } }),
    ]);
    expect(definition?.steps).toMatchObject({
      l: { config: { until: 'loop.item.last' } },
      m: { config: { items: '{{ loop.item.lines }}', while: 'loop.parent.item.open' } },
      a: { when: 'loop.parent.item.open', saveToState: { last: 'loop.parent.item.id' } },
    });
  });

  it('reads templates in every expression as paths, and says so', () => {
    const { definition, warnings } = imported([
      step('l', 'loop', { while: '{{ loop.state.iterations }} < 2' }, { loop: 'a' }),
      step('a', 'action', { type: 'x' }, { success: 'l' }, { when: '{{ input.a }} == 1', saveToState: { n: '{{b}}' } }),
    ]);
    expect(definition?.steps).toMatchObject({
      l: { config: { while: 'loop.state.iterations < 2' } },
      a: { when: 'input.a == 1', saveToState: { n: 'b' } },
    });
    expect(warnings.map(({ pointer }) => pointer)).toEqual([
      '/stepsConfig/0/config/while',
      '/stepsConfig/1/when',
      '/stepsConfig/1/saveToState/n',
    ]);
  });

  it('begins the next tick after an error where a loop continues on errors', () => {
    const { definition } = imported([
      step('l', 'loop', { items: [1], continueOnError: true }, { loop: 'a' }),
      step('a', 'action', { type: 'x' }, { success: 'l' }),
    ]);
    expect(definition?.steps['a']?.nextSteps).toEqual({ success: 'l', error: 'l' });
    expect(definition?.steps['l']?.config).toEqual({ items: [1] });
  });

  it.each([
    ['{{ count }} > 5', 'count > 5'],
    ['{{ steps.a.output.data.n }} == {{limit}}', 'steps.a.output.data.n == limit'],
    ['"{{ status }}" == "open"', 'status == "open"'],
    ["'{{ a }}-{{ b }}' == key", "(a + '-' + b) == key"],
    ['{{ a || b }} && c', '(a || b) && c'],
    ['{{ a || b }}', 'a || b'],
    ["{{ input.a }} == 'x' && {{ input.b }} == 'y'", "input.a == 'x' && input.b == 'y'"],
    ['"x" == {{ a }} && {{ b }} == "y"', '"x" == a && b == "y"'],
    [`"{{a}}" == "x" && '{{b}}' == 'it\\'s' && c == "z"`, `a == "x" && b == 'it\\'s' && c == "z"`],
    ['{{ a + "}}" }} == "}}"', '(a + "}}") == "}}"'],
    ["'{{ steps['a-b'].output.data }}' == 'x'", "steps['a-b'].output.data == 'x'"],
    ["'{{ a b }}' == 'x' || {{ c", "(a b) == 'x' || {{ c"],
  ])('takes the braces out of %s', (written, plain) => {
    const { definition, warnings } = imported([step('c', 'condition', { expression: written })]);
    expect(definition?.steps['c']?.config).toEqual({ expression: plain });
    expect(warnings.map(({ code }) => code)).toContain('template_in_expression');
  });

  it('sets variables in order, leaves out those named like roots, and says what cannot be secret', () => {
    const { definition, warnings } = imported([
      step('s', 'action', {
        type: 'set_variables',
        parameters: {
          variables: [
            { name: 'a', value: 1 },
            { name: 'input', value: 2 },
            { name: 'k', value: 'x', secure: true },
          ],
        },
      }),
    ]);
    expect(definition?.steps['s']).toMatchObject({
      stepType: 'set',
      config: {
        values: [
          { name: 'a', value: 1 },
          { name: 'k', value: 'x' },
        ],
      },
    });
    expect(warnings.map(({ pointer }) => pointer)).toEqual([
      '/stepsConfig/0/config/parameters/variables/1',
      '/stepsConfig/0/config/parameters/variables/2/secure',
    ]);
  });

  it('makes triggers of what a trigger step says', () => {
    const { definition } = imported([
      step('s', 'trigger', { type: 'schedule', schedule: '0 9 * * *', timezone: 'UTC' }),
    ]);
    expect(definition?.triggers).toEqual([
      { name: 's', type: 'schedule', config: { cron: '0 9 * * *', timezone: 'UTC' } },
    ]);
  });

  it('warns of a name that is a variable and a key of the input', () => {
    const document = {
      workflowConfig: { name: 'X', input: { page: 'number' }, config: { variables: { page: 1 } } },
      stepsConfig: [step('a', 'trigger', {})],
    };
    expect(toCanonical(document).warnings).toMatchObject([
      { code: 'shadowed_input', pointer: '/workflowConfig/config/variables/page' },
    ]);
  });

  it('knows the keys that a trigger says its input has', () => {
    const document = (inputs: Json, variables: JsonObject = {}): JsonObject => ({
      workflowConfig: { name: 'X', config: { variables } },
      stepsConfig: [
        step('a', 'trigger', { inputs }, { success: 'b' }),
        step('b', 'output', { output: '{{ customerId }}' }),
      ],
    });
    for (const inputs of [{ customerId: 'string' }, [{ name: 'customerId', type: 'string' }]]) {
      expect(check(document(inputs)).warnings).toEqual([]);
      expect(check(document(inputs, { customerId: 1 })).warnings).toMatchObject([
        { code: 'shadowed_input', pointer: '/workflowConfig/config/variables/customerId' },
      ]);
    }
    expect(check(document({ other: 'string' })).warnings).toMatchObject([{ code: 'unknown_variable' }]);
  });

  it('says what belongs to a run and is left out', () => {
    const document = { workflowConfig: { name: 'X', status: 'paused' }, stepsConfig: [step('a', 'trigger', {})] };
    const run = { organizationId: 'o', input: {}, triggeredBy: 'me', triggerData: 1 };
    expect(toCanonical({ ...document, ...run }).warnings.map(({ pointer }) => pointer)).toEqual([
      '/organizationId',
      '/input',
      '/triggeredBy',
      '/triggerData',
      '/workflowConfig/status',
    ]);
  });

  it('refuses what has no steps, no slugs, or the same one twice', () => {
    expect(imported([]).problems).toMatchObject([{ pointer: '/stepsConfig' }]);
    expect(imported([step('a b', 'trigger', {})]).problems[0]).toMatchObject({
      pointer: '/stepsConfig/0/stepSlug',
      hint: 'Call it "a_b".',
    });
    expect(imported([step('a', 'trigger', {}), step('a', 'trigger', {})]).problems).toMatchObject([
      { code: 'duplicate_step', pointer: '/stepsConfig/1' },
    ]);
  });
});

describe('the later form of tale', () => {
  const documents = [
    ...taleCases,
    ...examples.filter(({ dialect, document }) => dialect === '000' && document['workflowConfig'] !== undefined),
  ];

  it.each(documents)('means the same, and names its own places: $name', ({ document }) => {
    const later = laterTale(document);
    const moved = ({ pointer, ...rest }: { pointer: string }): JsonObject => ({
      ...rest,
      pointer: pointer.replace(/^\/workflowConfig(?=\/|$)/, '').replace(/^\/stepsConfig/, '/steps'),
    });
    const [before, after] = [check(document), check(later)];
    expect(after.dialect).toBe('000');
    expect(after.definition).toEqual(before.definition);
    expect(after.draft).toEqual(before.draft);
    for (const list of ['problems', 'warnings'] as const) expect(after[list]).toEqual(before[list].map(moved));
  });

  it('is read from rows of tables: JSON texts, versions as numbers, and members that only the tables have', () => {
    const { problems, warnings, definition } = toCanonical({
      _id: 'wf_1',
      organizationId: 'org',
      name: 'Count',
      version: 3,
      status: 'inactive',
      config: '{"timeout": 60000, "variables": {"greeting": "Hello"}}',
      steps: JSON.stringify([
        step('begin', 'start', '{"inputs": {"who": "string"}}', '{"success": "end"}'),
        step('end', 'output', { mapping: { said: '{{ greeting }} {{ who }}' } }, {}, { wfDefinitionId: 'wf_1' }),
      ]),
    });
    expect(problems).toEqual([]);
    expect(warnings.map(({ code, pointer }) => [code, pointer])).toEqual([
      ['not_carried_over', '/_id'],
      ['not_carried_over', '/organizationId'],
      ['not_carried_over', '/steps/1/wfDefinitionId'],
    ]);
    expect(definition).toMatchObject({
      name: 'Count',
      version: '3.0.0',
      enabled: false,
      config: { timeout: 60_000, variables: { greeting: 'Hello' } },
    });
    if (definition === undefined) throw new Error('It was not imported.');
    expect(dryRun(definition, { now: 0, input: { who: 'Ann' } })).toMatchObject({
      status: 'completed',
      output: { said: 'Hello Ann' },
    });
  });

  it('keeps workflowConfig, if it has one, and leaves out steps beside stepsConfig', () => {
    const steps = [step('a', 'start', {})];
    const { definition } = toCanonical({ workflowConfig: { name: 'X', version: 2 }, steps });
    expect(definition).toMatchObject({ name: 'X', version: '2.0.0' });
    expect(toCanonical({ workflowConfig: { name: 'X' }, stepsConfig: steps, steps }).warnings).toMatchObject([
      { code: 'not_carried_over', pointer: '/steps' },
    ]);
  });

  it('refuses a version that counts nothing, and a list without steps', () => {
    const steps = [step('a', 'start', {})];
    for (const version of [1.5, -1])
      expect(toCanonical({ name: 'X', version, steps }).problems).toMatchObject([{ pointer: '/version' }]);
    expect(toCanonical({ name: 'X', steps: [] }, '000').problems).toMatchObject([{ pointer: '/steps' }]);
  });
});
