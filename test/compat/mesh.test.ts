import { describe, expect, it } from 'vitest';
import { check } from '../../src/check/check.ts';
import { toCanonical } from '../../src/compat/dialects.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import { parseTemplate, render } from '../../src/template/template.ts';

const step = (name: string, input: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  name,
  action: { toolName: 'TOOL' },
  input,
  ...more,
});

function imported(...steps: JsonObject[]) {
  return toCanonical({ title: 'Graph', steps }, '001');
}

describe('texts of mesh', () => {
  it.each<[string, string]>([
    ['{{ secrets.K }}', '{{ secrets.K }}'],
    ['literal {{ x }} braces', 'literal {{ x }} braces'],
    ['{@input.v}', '{1}'],
    ['{{@input.v}} and {{{@input.v}}}', '{{1}} and {{{1}}}'],
    ['{{{', '{{{'],
  ])('give %j, since nothing but a reference means anything in them: %j', (text, given) => {
    const { definition } = imported(step('a', { text, [text]: 1 }));
    const rendered = render(
      parseTemplate((definition?.steps['a']?.config?.['input'] ?? null) as Json),
      { root: (name) => (name === 'input' ? { v: 1 } : undefined) },
      { now: 0 },
    );
    expect(rendered.value).toEqual({ text: given, [given]: 1 });
  });

  it('are left alone in code', () => {
    const code = 'export default (input) => ({ x: {{ y }} })';
    const { definition } = imported({ name: 'a', action: { code } });
    expect(definition?.steps['a']?.config?.['code']).toBe(code);
  });
});

describe('names of members in mesh', () => {
  it.each<[string, string]>([
    ['@input.naïve', "{{ input['naïve'] }}"],
    ['@input.größe.wert', "{{ input['größe'].wert }}"],
    ['Größe: @input.größe, klein', "Größe: {{ input['größe'] }}, klein"],
    ['@input.имя!', "{{ input['имя'] }}!"],
    ['@input.名前', "{{ input['名前'] }}"],
    ['こんにちは@input.name様', 'こんにちは{{ input.name }}様'],
    ['@input.first-name @input.list.0', "{{ input['first-name'] }} {{ input.list[0] }}"],
  ])('may have letters of any script: %s', (text, template) => {
    expect(imported(step('a', { text })).definition?.steps['a']?.config?.['input']).toEqual({ text: template });
  });
});

describe('a text of mesh', () => {
  it('may hold paths of any length, also one that is none in the end', () => {
    const path = `@input${'.a'.repeat(2000)}`;
    expect(imported(step('a', { text: `${path}!` })).definition?.steps['a']?.config?.['input']).toEqual({
      text: `{{ ${path.slice(1)} }}!`,
    });
  });
});

describe('names of steps in mesh', () => {
  it('that are no slugs are found by the references to them', () => {
    const { definition, warnings } = imported(
      step('get user'),
      step('b', { id: '@get user.id' }, { when: { ref: '@get user.ok' }, dependsOn: ['get user'] }),
    );
    expect(definition?.steps).toMatchObject({
      get_user: { name: 'get user' },
      b: {
        config: { input: { id: '{{ steps.get_user.output.data.id }}' } },
        when: { ref: 'steps.get_user.output.data.ok' },
        dependsOn: ['get_user'],
      },
    });
    expect(warnings).toEqual([]);
  });

  it('that are no slugs are reported where a text around hides the reference', () => {
    const { definition, warnings } = imported(step('get user'), step('b', { id: 'User @get user.id' }));
    expect(definition?.steps['b']?.config).toMatchObject({ input: { id: 'User @get user.id' } });
    expect(warnings).toMatchObject([{ code: 'unknown_step', pointer: '/steps/1/input' }]);
  });

  it('that give one slug give two steps', () => {
    const { definition, problems } = imported(step('get user'), step('get_user'), step('c', { x: '@get user.id' }));
    expect(problems).toEqual([]);
    expect(definition?.steps).toMatchObject({
      get_user_2: { name: 'get user' },
      get_user: {},
      c: { config: { input: { x: '{{ steps.get_user_2.output.data.id }}' } } },
    });
  });

  it.each(['input', 'item', 'index'])('are reported where the engine has the name: %s', (name) => {
    expect(imported(step(name)).warnings).toMatchObject([{ code: 'reserved_name', pointer: '/steps/0/name' }]);
  });
});

describe('an action of mesh', () => {
  it.each<[JsonObject, string[]]>([
    [{ toolName: 'A', transformCode: 'x', server: 's' }, []],
    [{ toolName: 'A', code: 'export default () => 1' }, ['/steps/0/action/code']],
    [{ code: 'export default () => 1', transformCode: 'x' }, ['/steps/0/action/transformCode']],
    [{ return: true, language: 'javascript' }, ['/steps/0/action/language']],
  ])('does one thing, and what it says of another is reported: %j', (action, lost) => {
    const { warnings } = imported({ name: 'a', action });
    expect(warnings.map(({ pointer }) => pointer)).toEqual(lost);
  });
});

describe('the time limit of a step of mesh', () => {
  const limited = (action: JsonObject, timeoutMs: number): unknown => {
    const { definition, problems } = imported({ name: 'a', action, config: { timeoutMs } });
    expect(problems).toEqual([]);
    return definition?.steps['a'];
  };

  it('is the sandbox’s own for code, which ends with an error that is not tried again', () => {
    const code = 'export default () => 1';
    expect(limited({ code }, 700)).toEqual({
      stepType: 'run_code',
      config: { language: 'typescript', code, timeoutMs: 700 },
    });
  });

  it('is that of an attempt for a tool, and for code that may take longer than any sandbox', () => {
    expect(limited({ toolName: 'A' }, 700)).toMatchObject({ timeout: 700, config: { toolName: 'A' } });
    const long = limited({ code: 'export default () => 1' }, 3_600_000);
    expect(long).toMatchObject({ timeout: 3_600_000 });
    expect(long).not.toHaveProperty('config.timeoutMs');
  });
});

describe('what is found in mesh', () => {
  it('is said in its own words: no columns of templates, no braces, and @ before names', () => {
    const found = (...steps: JsonObject[]) => check({ title: 'Graph', steps }, { dialect: '001' }).problems;
    expect(found(step('a', { i: '@item' }))).toMatchObject([
      {
        code: 'outside_iteration',
        pointer: '/steps/0/input/i',
        message: '@item has a value only in a step with forEach.',
        hint: 'Give the step a forEach.',
      },
    ]);
    expect(found(step('a'), step('b', {}, { forEach: { ref: '@a.list' }, when: { ref: '@item.ok' } }))).toMatchObject([
      {
        code: 'outside_iteration',
        pointer: '/steps/1/when/ref',
        message: expect.stringMatching(/^@item has no value here/),
        hint: 'Filter the items in a code step before this one, and refer to that step in forEach.ref.',
      },
    ]);
  });
});

describe('COLLECTION_WORKFLOW_EXECUTION_CREATE of mesh', () => {
  const toolName = 'COLLECTION_WORKFLOW_EXECUTION_CREATE';
  const starting = (input: Json, more: JsonObject = {}) =>
    check({ id: 'wf-7', name: 'R', steps: [{ name: 'a', action: { toolName, ...more }, input }] });

  it('starts a run and does not wait for it; the id of the document is the workflow itself', () => {
    expect(starting({ workflow_collection_id: 'other', input: { n: '@input.n' } }).definition?.steps['a']).toEqual({
      stepType: 'run_workflow',
      config: { workflow: 'other', input: { n: '{{ input.n }}' }, wait: false },
    });
    expect(starting({ workflow_collection_id: 'wf-7' }).definition?.steps['a']?.config).toEqual({
      workflow: '{{ execution.workflow }}',
      wait: false,
    });
    expect(starting('{"workflow_collection_id": "@input.next"}').definition?.steps['a']?.config).toEqual({
      workflow: '{{ input.next }}',
      wait: false,
    });
  });

  it('is a tool like others of a server that the step names', () => {
    expect(starting({ workflow_collection_id: 'x' }, { server: 's' }).definition?.steps['a']?.stepType).toBe('tool');
  });

  it('says what it lacks, and what it leaves out', () => {
    const { warnings } = starting({ workflow_collection_id: 'x', start_at_epoch_ms: 5 }, { transformCode: 'x' });
    expect(warnings.map(({ pointer }) => pointer)).toEqual([
      '/steps/0/action/transformCode',
      '/steps/0/input/start_at_epoch_ms',
      '/id',
    ]);
    const problemsOf = (input: Json) => starting(input).problems.map(({ pointer }) => pointer);
    expect(problemsOf({ input: {} })).toEqual(['/steps/0/input/workflow_collection_id']);
    expect(problemsOf('text')).toEqual(['/steps/0/input']);
    expect(problemsOf({ workflow_collection_id: 5 })).toEqual(['/steps/0/input/workflow_collection_id']);
  });
});
