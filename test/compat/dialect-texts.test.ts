// biome-ignore-all lint/suspicious/noThenProperty: `then` is a member of agent-ops, and nothing here is awaited.
import { describe, expect, it } from 'vitest';
import { check } from '../../src/check/check.ts';
import { parseDocument } from '../../src/definition/document/parse.ts';
import { textToStore } from '../../src/definition/document/source-text.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import { type Example, examples } from './dialect-examples.ts';

/** The members that databases hold as JSON texts. */
const STORED: ReadonlySet<string> = new Set([
  ...['workflowConfig', 'stepsConfig', 'steps', 'flow', 'config', 'data', 'nextSteps', 'retry', 'retryPolicy', 'tags'],
  ...['triggers', 'variables', 'secrets', 'runtime', 'policy', 'constraints', 'arguments', 'parameters', 'action'],
  ...['forEach', 'dependsOn', 'branches', 'payload_format', 'state_definition', 'variableMapping'],
]);

/** A copy in which members of these names are JSON texts; those within them too. `steps` of a step stay lists. */
function stored(value: Json, isOuter = true): Json {
  if (Array.isArray(value)) return value.map((item) => stored(item, false));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const inner = stored(member, false);
      const isText = STORED.has(key) && typeof member === 'object' && (isOuter || key !== 'steps');
      return [key, isText ? JSON.stringify(inner) : inner];
    }),
  );
}

const whole = (one: Example): boolean => one.name.startsWith('every member') || one.name.startsWith('starts of');

describe('a document whose objects and lists are JSON texts, as databases hold them', () => {
  it.each(examples.filter(whole).map((one) => [one.name, one] as const))('means the same: %s', (_, { document }) => {
    const written = check(document);
    const read = check(stored(document));
    expect(read.problems).toEqual([]);
    expect(read.dialect).toBe(written.dialect);
    expect(read.definition).toEqual(written.definition);
    expect(read.secrets).toEqual(written.secrets);
  });

  it('is held to the limits of documents', () => {
    const steps = (value: Json): JsonObject => ({
      name: 'W',
      steps: [{ name: 'a', action: { toolName: 'T' }, input: value }],
    });
    expect(check(steps('{"a": {"__proto__": 1}}')).problems).toMatchObject([
      { code: 'forbidden_key', pointer: '/steps/0/input/a/__proto__' },
    ]);
    expect(check(steps('{"a": 1, "a": 2}')).problems).toMatchObject([
      { code: 'duplicate_key', pointer: '/steps/0/input/a' },
    ]);
    expect(check(steps(`{"a": ${'['.repeat(190)}${']'.repeat(190)}}`)).problems).toEqual([]);
    const nested = `{"a": ${'['.repeat(150)}1${']'.repeat(150)}}`;
    const text = JSON.stringify([
      { name: 'a', action: { toolName: 'T' }, input: { b: nested, c: JSON.parse(nested) } },
    ]);
    expect(check({ name: 'W', steps: text }).problems).toEqual([]);
    const many = JSON.stringify(
      Array.from({ length: 10_001 }, (_, n) => ({ name: `s${n}`, action: { return: true } })),
    );
    expect(check({ name: 'W', steps: many }).problems).toMatchObject([{ code: 'too_many_steps' }]);
  });

  it('nests no deeper than a document may', () => {
    const deep = (levels: number): string => `${'['.repeat(levels)}1${']'.repeat(levels)}`;
    const list = [{ name: 'a', action: { toolName: 'T' }, input: `{"a": ${deep(198)}}` }];
    expect(check({ name: 'W', steps: list }).problems).toMatchObject([{ code: 'too_deep' }]);
  });

  it('keeps no text that holds a clear secret, whatever escapes it', () => {
    const secret = 'clear"secret';
    const config = JSON.stringify({ secrets: JSON.stringify({ KEY: secret }) }).replaceAll('e', '\\u0065');
    const text = JSON.stringify(
      { workflowConfig: { name: 'W', config }, stepsConfig: [{ stepSlug: 'a', stepType: 'trigger' }] },
      null,
      2,
    );
    const parsed = parseDocument(text);
    if (!('document' in parsed)) throw new Error('It was not read.');
    const { secrets, problems } = check(parsed.document);
    expect({ problems, values: secrets.map(({ value }) => value) }).toEqual({ problems: [], values: [secret] });
    expect(textToStore(text, 'json', 'w', secrets)).toBeUndefined();
    expect(textToStore(text, 'json', 'w', [])).toBe(text);
  });
});

describe('members that have another type', () => {
  it('001: forEach and dependsOn as one text are read as the reference and the step', () => {
    const code = 'export default () => 1';
    const { definition, problems, warnings } = check({
      name: 'Fan out',
      steps: [
        { name: 'list', action: { code } },
        { name: 'mail', forEach: '@list.items', action: { code } },
        { name: 'after', dependsOn: 'mail', action: { code } },
        { name: 'last', dependsOn: '@after', action: { code } },
      ],
    });
    expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
    expect(definition?.steps).toMatchObject({
      mail: { forEach: { ref: 'steps.list.output.data.items' } },
      after: { dependsOn: ['mail'] },
      last: { dependsOn: ['after'] },
    });
    const refused = check({ name: 'X', steps: [{ name: 'a', action: { code }, forEach: 5, dependsOn: { a: 1 } }] });
    expect(refused.problems).toMatchObject([
      { pointer: '/steps/0/forEach', code: 'wrong_type', message: '"forEach" must be object or string, got number.' },
      { pointer: '/steps/0/dependsOn', code: 'wrong_type' },
    ]);
  });

  it('002: the arguments of a tool may be one template, and no other text', () => {
    const called = (args: Json) =>
      check({ name: 'X', variables: { args: {} }, steps: [{ type: 'tool', tool: 'T', arguments: args }] });
    expect(called('{{ args }}').definition?.steps['step_0']?.config).toMatchObject({
      input: '{{ (input.args == undefined ? variables.args : input.args) }}',
    });
    for (const wrong of ['text', 5, ['a']])
      expect(called(wrong).problems).toMatchObject([{ pointer: '/steps/0/arguments' }]);
  });

  it('a text that holds no JSON is no object, and the message says so', () => {
    expect(
      check({ workflowConfig: { name: 'X' }, stepsConfig: [{ stepSlug: 'a', stepType: 'trigger', nextSteps: 'b' }] })
        .problems,
    ).toMatchObject([
      {
        pointer: '/stepsConfig/0/nextSteps',
        code: 'wrong_type',
        message: '"nextSteps" must be object, got a text that holds none.',
      },
    ]);
  });

  it.each<[string, Json, string[]]>([
    [
      '000 retries said twice',
      { stepSlug: 'a', stepType: 'action', maxRetries: 1, config: { type: 'x', maxRetries: 2 } },
      ['/stepsConfig/0/maxRetries'],
    ],
    [
      '000 a port in two spellings',
      { stepSlug: 'a', stepType: 'action', config: { type: 'x' }, nextSteps: { failure: 'a', error: 'a' } },
      ['/stepsConfig/0/nextSteps/failure'],
    ],
    [
      '000 members of another trigger',
      { stepSlug: 'a', stepType: 'trigger', config: { type: 'manual', path: 'x', timezone: 'UTC' } },
      ['/stepsConfig/0/config/path', '/stepsConfig/0/config/timezone'],
    ],
  ])('%s: what is not taken is reported', (_, step, places) => {
    const { warnings } = check({ workflowConfig: { name: 'X' }, stepsConfig: [step] });
    const lost = warnings.filter(({ code }) => code === 'not_carried_over');
    expect(lost.map(({ pointer }) => pointer).sort()).toEqual(places);
  });

  it('004: two next nodes of one port are a problem', () => {
    const { problems } = check({
      name: 'X',
      starting_step_id: 's',
      flow: {
        s: { type: 'starting_step', next: 'a', next_step_id: 'b' },
        a: { type: 'finish' },
        b: { type: 'finish' },
      },
    });
    expect(problems).toMatchObject([{ pointer: '/flow/s/next' }]);
  });
});

describe('what a system does by default', () => {
  it('001: a tool is called once, unless the step says otherwise', () => {
    const retryOf = (config: JsonObject) =>
      check({ name: 'X', steps: [{ name: 'a', action: { toolName: 'SEND_EMAIL' }, config }] }).definition?.steps['a']
        ?.retry;
    expect(retryOf({ timeoutMs: 900 })).toEqual({ maxAttempts: 1 });
    expect(retryOf({ maxAttempts: 3 })).toEqual({ maxAttempts: 3 });
    expect(retryOf({ maxRetries: 1, backoffMs: 5 })).toEqual({ maxAttempts: 2, initialInterval: 5 });
  });

  it('004: payloads are debounced only with a key and a time', () => {
    const flow = { s: { type: 'starting_step' } };
    const imported = (more: JsonObject) => check({ name: 'X', starting_step_id: 's', flow, ...more });
    const alone = imported({ debounce_seconds: 2 });
    expect(alone.definition?.config).toEqual({ publicStart: true });
    expect(alone.warnings).toMatchObject([{ pointer: '/debounce_seconds', code: 'not_carried_over' }]);
    expect(imported({ debounce_seconds: 2, debounce_key: 'c' }).definition?.config?.debounce).toEqual({
      seconds: 2,
      key: 'c',
    });
    expect(imported({ debounce_seconds: '2' }).problems).toMatchObject([{ pointer: '/debounce_seconds' }]);
  });

  it('004: attachments as text are JSON, or a template', () => {
    const problemsOf = (attachments_json: Json) =>
      check({
        name: 'X',
        starting_step_id: 's',
        flow: {
          s: { type: 'starting_step', next: 'a' },
          a: { type: 'run_employee', config: { employee_id: 'bob', assignment: 'Do', attachments_json } },
        },
      }).problems.map(({ pointer }) => pointer);
    expect(problemsOf('not json')).toEqual(['/flow/a/config/attachments_json']);
    for (const fine of ['[]', '{{ state.files }}', [{ name: 'a.pdf' }], ''])
      expect(problemsOf(fine)).not.toContain('/flow/a/config/attachments_json');
  });

  it('000: set_variables may set none', () => {
    const config = { type: 'set_variables', parameters: { variables: [] } };
    const { definition, problems } = check({
      workflowConfig: { name: 'X' },
      stepsConfig: [{ stepSlug: 'a', stepType: 'action', config }],
    });
    expect({ problems, step: definition?.steps['a'] }).toEqual({
      problems: [],
      step: { stepType: 'set', config: { values: [] } },
    });
  });
});
