import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type CheckOptions, check } from '../../src/check/check.ts';
import type { JsonObject } from '../../src/json/json.ts';

/** A definition of these steps; the first is where it starts. */
function definition(steps: JsonObject, more: JsonObject = {}): JsonObject {
  return { name: 'X', slug: 'x', start: Object.keys(steps)[0] ?? '', steps, ...more };
}

function found(document: JsonObject, options: CheckOptions = {}): string[] {
  return check(document, options).problems.map(({ pointer, code }) => `${pointer} ${code}`);
}

function warned(document: JsonObject): string[] {
  return check(document).warnings.map(({ pointer, code }) => `${pointer} ${code}`);
}

const set = (value: string, next?: string): JsonObject => ({
  stepType: 'set',
  config: { values: { v: value } },
  ...(next === undefined ? {} : { nextSteps: { success: next } }),
});

describe('check', () => {
  it('reports templates outside of steps that cannot be read', () => {
    const steps = { a: { stepType: 'trigger' } };
    const config = { concurrency: { limit: 1, key: '{{ ( }}' }, debounce: { key: '{{ 1 + }}', seconds: 1 } };
    expect(found(definition(steps, { output: '{{ 1 + }}', config })).sort()).toEqual([
      '/config/concurrency/key expression_syntax',
      '/config/debounce/key expression_syntax',
      '/output expression_syntax',
    ]);
  });

  it('refuses a list of recipients where a channel has one', () => {
    const url = 'https://a.test/';
    const message = (config: JsonObject): JsonObject => ({
      stepType: 'send_message',
      config: { text: 'Hi', ...config },
    });
    const notify = ['inbox', 'email', 'webhook', 'slack'].map((channel) => ({
      channel,
      to: channel === 'email' ? ['a@b.test', 'c@b.test'] : [url],
    }));
    const steps = {
      a: message({ channel: 'webhook', to: [url] }),
      b: message({ channel: 'slack', to: [url, 'https://b.test/'] }),
      c: message({ channel: 'email', to: ['a@b.test', 'c@b.test'], subject: 'Hi' }),
      d: message({ channel: 'inbox', to: ['ann', 'role:finance'] }),
      e: message({ channel: 'webhook', to: '{{ input.urls }}' }),
      f: { stepType: 'approval', config: { message: 'Go on?', notify } },
    };
    const { problems } = check(definition(steps));
    expect(problems.map(({ pointer }) => pointer)).toEqual([
      '/steps/a/config/to',
      '/steps/b/config/to',
      '/steps/f/config/notify/2/to',
      '/steps/f/config/notify/3/to',
    ]);
    for (const { message } of problems) expect(message).toMatch(/one URL/i);
  });

  it('refuses what cannot be read before a run begins', () => {
    const steps = { a: { stepType: 'set', config: { values: { later: 1 } } } };
    const config = {
      variables: { limit: 1 },
      concurrency: {
        limit: 1,
        key:
          '{{ input.a }}{{ limit }}{{ variables.limit }}{{ organizationId }}{{ steps.a.output }}{{ state.x ' +
          '}}{{ later }}',
      },
      debounce: { key: '{{ input.a }}{{ variables.limit }}{{ now }}', seconds: 1 },
    };
    const mapped = { type: 'webhook', name: 'w', config: { path: 'w' } };
    const triggers = [
      {
        ...mapped,
        variableMapping: { a: '{{ body.a }}{{ query.b }}{{ headers.c }}{{ params.d }}{{ now }}', b: '{{ input.x }}' },
      },
      { type: 'event', name: 'e', config: { name: 'e', filter: 'event.data.x == data.x && name == id && steps.a' } },
    ];
    expect(found(definition(steps, { config, triggers })).sort()).toEqual([
      ...Array<string>(3).fill('/config/concurrency/key unknown_root'),
      ...Array<string>(2).fill('/config/debounce/key unknown_root'),
      '/triggers/0/variableMapping/b unknown_root',
      '/triggers/1/config/filter unknown_root',
    ]);
  });

  it('passes the example of LANGUAGE.md, with its hash and its canonical form', () => {
    const checked = check({
      name: 'Refund approval',
      slug: 'refund-approval',
      input: { orderId: 'string', amount: { type: 'number', description: 'in cents' } },
      config: { variables: { limit: 10_000 }, secrets: { PAYMENTS_KEY: 'payments/live' } },
      steps: {
        received: { stepType: 'trigger', nextSteps: { success: 'big' } },
        big: {
          stepType: 'condition',
          config: { expression: 'input.amount > limit' },
          nextSteps: { true: 'review', false: 'pay' },
        },
        review: {
          stepType: 'approval',
          config: { message: 'Refund {{ input.amount }}?', timeout: '2d' },
          nextSteps: { approved: 'pay', rejected: 'tell', timeout: 'tell' },
        },
        pay: {
          stepType: 'action',
          config: {
            type: 'http.request',
            parameters: { url: 'https://example.com', headers: { authorization: 'Bearer {{ secrets.PAYMENTS_KEY }}' } },
          },
          retry: { maxAttempts: 5 },
        },
        tell: set('{{ steps.review.output.data.comments }}'),
      },
    });
    expect(checked).toMatchObject({ valid: true, dialect: 'canonical', problems: [], warnings: [], secrets: [] });
    expect(checked.hash).toMatch(/^sha256:/);
    expect(checked.definition?.start).toBe('received');
  });

  it('finds what is wrong with a config, with the place within it', () => {
    expect(found(definition({ a: { stepType: 'set', config: { value: {} } } }))).toEqual([
      '/steps/a/config/values missing_member',
      '/steps/a/config/value unknown_member',
    ]);
    expect(found(definition({ a: { stepType: 'http', config: { url: 'https://x.y', method: 'FETCH' } } }))).toEqual([
      '/steps/a/config/method invalid_value',
    ]);
    expect(
      found(definition({ a: { stepType: 'action', config: { type: 'http.request', parameters: { uri: 'x' } } } })),
    ).toContain('/steps/a/config/parameters/uri unknown_member');
  });

  it('refuses a rollback that would start a run', () => {
    const undoneBy = (stepType: string, config: JsonObject): JsonObject => ({
      stepType: 'http',
      config: { url: 'https://a.test' },
      rollback: { stepType, config },
    });
    const steps = {
      a: { ...undoneBy('subworkflow', { workflow: 'undo' }), nextSteps: { success: 'b' } },
      b: { ...undoneBy('run_employee', { employee: 'ann', assignment: 'Undo it.' }), nextSteps: { success: 'c' } },
      c: undoneBy('http', { url: 'https://b.test' }),
    };
    expect(found(definition(steps))).toEqual([
      '/steps/a/rollback/stepType rollback_kind',
      '/steps/b/rollback/stepType rollback_kind',
    ]);
  });

  it('finds expressions and templates that cannot be read, with the column', () => {
    const checked = check(
      definition({ a: { stepType: 'condition', config: { expression: 'input.a > ' } }, b: set('{{ input.a |nope }}') }),
    );
    expect(checked.problems).toMatchObject([
      { pointer: '/steps/a/config/expression', code: 'expression_syntax' },
      { pointer: '/steps/b/config/values/v', code: 'unknown_transform' },
    ]);
  });

  it('finds names of kinds, steps and ports that do not exist, and says which was meant', () => {
    const checked = check(
      definition({
        first: { stepType: 'trigger', nextSteps: { success: 'secnd' } },
        second: { stepType: 'conditon' },
        third: { stepType: 'trigger', nextSteps: { sucess: 'first' } },
      }),
    );
    expect(checked.problems).toMatchObject([
      { pointer: '/steps/first/nextSteps/success', code: 'unknown_step', hint: 'Did you mean "second"?' },
      { pointer: '/steps/second/stepType', code: 'unknown_kind', hint: 'Did you mean "condition"?' },
      { pointer: '/steps/third/nextSteps/sucess', code: 'unknown_port' },
    ]);
  });

  it('asks the host which actions there are, and whether bash may run', () => {
    const document = definition({
      a: { stepType: 'action', config: { type: 'crm.find' } },
      b: { stepType: 'action', config: { type: 'mail' }, preset: { data: 1 } },
    });
    expect(found(document)).toEqual(['/steps/a/config/type unknown_action']);
    expect(found(document, { actions: new Map([['crm.find', { input: z.unknown() }]]) })).toEqual([]);
    const shell = definition({ a: { stepType: 'bash', config: { command: 'ls' } } });
    expect(found(shell, { bash: false })).toContain('/steps/a/stepType bash_disabled');
    expect(found(shell, { bash: true })).not.toContain('/steps/a/stepType bash_disabled');
  });

  it('warns of what a preset with data loses', () => {
    const preset = { data: [1], total: 3, port: 'success', meta: 'none', type: 'action' };
    const document = definition({
      a: { stepType: 'sleep', config: { duration: 1 }, preset, nextSteps: { success: 'b' } },
      b: { stepType: 'sleep', config: { duration: 1 }, preset: { total: 3 } },
    });
    expect(check(document).warnings).toMatchObject([
      { pointer: '/steps/a/preset/total', code: 'unknown_member' },
      { pointer: '/steps/a/preset/meta', code: 'wrong_type' },
    ]);
  });

  it('points into the document as it was written', () => {
    const document = {
      workflowConfig: { name: 'X' },
      stepsConfig: [
        { stepSlug: 'a', name: 'A', stepType: 'trigger', order: 1, config: {}, nextSteps: { success: 'b' } },
        {
          stepSlug: 'b',
          name: 'B',
          stepType: 'condition',
          order: 2,
          config: { expression: 'steps.z.output.data' },
          nextSteps: { default: 'noop' },
        },
      ],
    };
    expect(found(document)).toEqual([
      '/stepsConfig/1/nextSteps/default unknown_port',
      '/stepsConfig/1/config/expression unknown_step',
    ]);
  });

  it('answers without a definition where there is none', () => {
    expect(check(null)).toMatchObject({ valid: false, problems: [{ code: 'wrong_type' }] });
    expect(check(null)).not.toHaveProperty('definition');
  });
});

describe('names of variables', () => {
  it('cannot be those of roots', () => {
    const document = definition(
      {
        a: {
          stepType: 'set',
          config: {
            values: [
              { name: 'item', value: 1 },
              { name: 'ok', value: 1 },
            ],
          },
        },
        b: { stepType: 'set', config: { values: { steps: 1 } } },
        c: { stepType: 'forEach', config: { items: [], as: 'loop' } },
      },
      { config: { variables: { input: 1 } } },
    );
    expect(found(document)).toEqual([
      '/config/variables/input reserved_name',
      '/steps/a/config/values/0/name reserved_name',
      '/steps/b/config/values/steps reserved_name',
      '/steps/c/config/as reserved_name',
    ]);
  });
});

describe('declared types', () => {
  it('are those that input is read by', () => {
    const document = definition(
      { a: set('{{ input.amount }} {{ input.amuont }} {{ input.customer.id }}') },
      { input: { amount: 'number', 'customer.id': 'string' } },
    );
    expect(check(document).problems).toMatchObject([
      { pointer: '/steps/a/config/values/v', code: 'undeclared_input', hint: 'Did you mean "amount"?' },
    ]);
    expect(found(definition({ a: set('{{ input.x }}') }))).toEqual([]);
  });

  it('are those that state is read and written by', () => {
    const steps = {
      a: {
        stepType: 'set',
        config: { target: 'state', values: { n: 1, m: 1 } },
        saveToState: 'k',
        nextSteps: { success: 'b' },
      },
      b: set('{{ state.n }} {{ state.q }}'),
    };
    expect(found(definition(steps, { state: { n: 'number' } }))).toEqual([
      '/steps/a/saveToState undeclared_state',
      '/steps/a/config/values undeclared_state',
      '/steps/b/config/values/v undeclared_state',
    ]);
    expect(found(definition(steps))).toEqual([]);
    expect(warned(definition(steps))).toEqual(['/steps/b/config/values/v undeclared_state']);
    expect(found(definition({ a: set('x') }, { state: { n: { type: 'number', default: 'x' } } }))).toEqual([
      '/state/n wrong_type',
    ]);
  });

  it('must be formats themselves', () => {
    expect(
      found(
        definition(
          { a: { stepType: 'user_input', config: { message: 'm', form: { a: 'text' } } } },
          { input: { b: { type: 'object', properties: 1 }, c: 'strng' } },
        ),
      ),
    ).toEqual(expect.arrayContaining(['/input/c invalid_format', '/steps/a/config/form/a invalid_format']));
  });

  it('are reported where an expression reads an object of which only the members are declared', () => {
    const output = ['{{ input.request }}', '{{ input.request.name }}', '{{ input.a.b }}', '{{ input.a.b.c }}'];
    const input = { 'request.name': 'string', 'a.b.c': 'string', whole: 'object' };
    const { valid, warnings } = check(definition({ a: { stepType: 'finish', config: { output } } }, { input }));
    expect({ valid, told: warnings.map(({ pointer, code }) => `${pointer} ${code}`) }).toEqual({
      valid: true,
      told: ['/steps/a/config/output/0 parts_of_input', '/steps/a/config/output/2 parts_of_input'],
    });
  });

  it('are reported where they name a format that is not checked', () => {
    const form = { type: 'object', properties: { host: { type: 'string', format: 'idn-hostname' } } };
    const { valid, warnings } = check(
      definition({ a: { stepType: 'user_input', config: { message: 'm', form } } }, { input: form }),
    );
    const told = warnings.flatMap(({ pointer, code }) => (code === 'unchecked_format' ? [pointer] : []));
    expect({ valid, told }).toEqual({
      valid: true,
      told: ['/input/properties/host/format', '/steps/a/config/form/properties/host/format'],
    });
  });
});

describe('triggers', () => {
  it('must say what their type needs', () => {
    const triggers = [
      { name: 'a', type: 'webhook', config: { path: '/bad path' } },
      { name: 'a', type: 'schedule', config: { cron: '0 9 * *' } },
      {
        name: 'c',
        type: 'event',
        config: { name: 'x', filter: 'data.a >' },
        variableMapping: { a: '$.a.b[0]', b: 'a.b', c: '{{ body.x }}' },
      },
      { name: 'd', type: 'webhook', config: { path: 'shop/orders', scheme: 'github', secret: 'clear' } },
    ];
    const checked = check(definition({ a: set('x') }, { triggers }));
    expect(checked.problems.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '/triggers/0/config/path invalid_value',
      '/triggers/1/name duplicate_trigger',
      '/triggers/1/config/cron invalid_value',
      '/triggers/2/config/filter expression_syntax',
      '/triggers/2/variableMapping/b invalid_value',
    ]);
    expect(checked.secrets).toEqual([{ name: 'workflows/x/triggers/d/secret', value: 'clear' }]);
  });
});

describe('what is probably not meant', () => {
  it('is && and || mixed without parentheses, and braces in expressions', () => {
    expect(
      warned(
        definition({
          a: {
            stepType: 'condition',
            config: { expression: 'input.a || input.b && input.c' },
            nextSteps: { true: '$end', false: '$end' },
          },
        }),
      ),
    ).toEqual(['/steps/a/config/expression mixed_logic']);
    expect(
      warned(
        definition({
          a: {
            stepType: 'condition',
            config: { expression: 'input.a == "{{ input.b }}"' },
            nextSteps: { true: '$end', false: '$end' },
          },
        }),
      ),
    ).toEqual(['/steps/a/config/expression template_in_expression']);
  });

  it('warns of templates among variables, which begin as they are written', () => {
    const variables = { limit: 5, headers: [{ key: 'Bearer {{ secrets.KEY }}' }], plain: 'a { b }' };
    const document = definition({ a: set('{{ limit }}') }, { config: { variables } });
    expect(warned(document)).toEqual(['/config/variables/headers/0/key template_in_value']);
    expect(found(document)).toEqual([]);
  });
});
