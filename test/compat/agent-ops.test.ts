// biome-ignore-all lint/suspicious/noThenProperty: `then` is a member of agent-ops, and nothing here is awaited.

import { describe, expect, it } from 'vitest';
import { check } from '../../src/check/check.ts';
import { toCanonical } from '../../src/compat/dialects.ts';
import { definitionHash } from '../../src/definition/document/canonical.ts';
import type { Json } from '../../src/json/json.ts';

const GIVEN_OR_DEFAULT = "(input['my-var'] == undefined ? variables['my-var'] : input['my-var'])";

describe('agent-ops', () => {
  it('has one hash for any order of keys, and another for another order of a list', () => {
    const of = (step: Json) => definitionHash(toCanonical({ name: 'x', steps: [step] }).definition!);
    const hash = of({ id: 'a', type: 'tool', tool: 't', arguments: { l: [1, 2], m: { p: 1, q: 2 } } });
    expect(of({ arguments: { m: { q: 2, p: 1 }, l: [1, 2] }, tool: 't', type: 'tool', id: 'a' })).toBe(hash);
    expect(of({ id: 'a', type: 'tool', tool: 't', arguments: { l: [2, 1], m: { p: 1, q: 2 } } })).not.toBe(hash);
  });

  it('is walked in the order written, through lists within lists', () => {
    const { definition } = toCanonical({
      name: 'Ship',
      steps: [
        {
          id: 'gate',
          type: 'conditional',
          condition: { variable: 'deploy', equals: true },
          then: [
            { id: 'a', type: 'bash', command: 'x' },
            { id: 'b', type: 'bash', command: 'y' },
          ],
          else: [],
        },
        { id: 'ask', type: 'approval', prompt: 'Ship?' },
        { id: 'go', type: 'tool', tool: 'deploy', arguments: { level: 1 } },
      ],
    });
    expect(definition).toMatchObject({
      start: 'gate',
      config: { maxSteps: 50 },
      steps: {
        gate: {
          stepType: 'condition',
          config: { variable: 'input.deploy', equals: true },
          nextSteps: { true: 'a', false: 'ask' },
        },
        a: { nextSteps: { success: 'b' } },
        b: { nextSteps: { success: 'ask' } },
        ask: { config: { message: 'Ship?', onReject: 'cancel' }, nextSteps: { approved: 'go' } },
        go: { stepType: 'tool', config: { toolName: 'deploy', input: { level: 1 } } },
      },
    });
    expect(definition?.steps['go']?.nextSteps).toBeUndefined();
  });

  it('calls steps without ids by their paths', () => {
    const { definition } = toCanonical({
      steps: [{ type: 'conditional', condition: true, then: [{ type: 'approval' }, { type: 'approval' }] }],
    });
    expect(Object.entries(definition?.steps ?? {}).map(([slug, { name }]) => [slug, name])).toEqual([
      ['step_0', 'step[0]'],
      ['step_0_then_0', 'step[0].then[0]'],
      ['step_0_then_1', 'step[0].then[1]'],
    ]);
  });

  it('has a branch for each step of a parallel, and a body for a loop', () => {
    const { definition } = toCanonical({
      steps: [
        {
          id: 'p',
          type: 'parallel',
          steps: [
            { id: 'x', type: 'agent', goal: 'a' },
            { id: 'done', type: 'agent', goal: 'b' },
          ],
        },
        { id: 'l', type: 'loop', items: 'outputs.list', steps: [{ id: 'y', type: 'agent', goal: 'c' }] },
        { id: 'z', type: 'agent', goal: 'd' },
      ],
    });
    expect(definition?.steps).toMatchObject({
      p: { stepType: 'parallel', nextSteps: { branch_x: 'x', branch_done: 'done', done: 'l' } },
      x: { nextSteps: { success: 'p' } },
      done: { nextSteps: { success: 'p' } },
      l: { config: { items: '{{ outputs.list }}' }, nextSteps: { loop: 'y', done: 'z' } },
      y: { nextSteps: { success: 'l' } },
    });
  });

  it('reads names as outputs, as variables with their default, else as what the run was given', () => {
    const { definition } = toCanonical({
      variables: { env: { type: 'string', default: 'test' } },
      steps: [
        { id: 'a', type: 'bash', command: 'build {{ sha }} {{ variables.env }}', outputVariable: 'built' },
        { id: 'b', type: 'tool', tool: 'bash', arguments: { command: 'push {{ built.stdout }}', timeoutMs: 5000 } },
      ],
    });
    expect(definition?.config?.variables).toEqual({ env: 'test' });
    expect(definition?.steps['a']?.config?.['command']).toBe(
      'build {{ input.sha }} {{ (input.env == undefined ? variables.env : input.env) }}',
    );
    expect(definition?.steps['b']).toMatchObject({
      stepType: 'bash',
      config: { command: 'push {{ outputs.built.stdout }}', timeoutMs: 5000 },
    });
  });

  it.each<[string, Json, Json]>([
    ['{variable}', { variable: 'my-var', equals: 5 }, { variable: GIVEN_OR_DEFAULT, equals: 5 }],
    ['{variable} of a member', { variable: 'my-out.exit-code' }, { expression: "outputs['my-out']['exit-code']" }],
    ['{variable} that nothing declares', { variable: 'their-var' }, { expression: "input['their-var']" }],
    ['an expression', "my-var == 'my-var'", { expression: `${GIVEN_OR_DEFAULT} == 'my-var'` }],
    ['a path', 'variables.my-var > 3', { expression: `${GIVEN_OR_DEFAULT} > 3` }],
    ['a path in brackets', '{{ variables["my-var"] }} > 3', { expression: `${GIVEN_OR_DEFAULT} > 3` }],
    ['a difference', 'mine - var > 3', { expression: 'input.mine - input.var > 3' }],
    ['no default', { variable: 'bare' }, { expression: 'input.bare' }],
  ])('reads names with hyphens, and without a default: %s', (_, condition, config) => {
    const { definition, problems } = toCanonical({
      variables: { 'my-var': { type: 'number', default: 5 }, bare: { type: 'string' } },
      steps: [
        { id: 'a', type: 'bash', command: 'x {{ my-var }} {{ my-out.stdout }}', outputVariable: 'my-out' },
        { id: 'b', type: 'conditional', condition, then: [] },
      ],
    });
    expect(problems).toEqual([]);
    expect(definition?.steps['a']?.config).toEqual({
      command: `x {{ ${GIVEN_OR_DEFAULT} }} {{ outputs['my-out'].stdout }}`,
    });
    expect(definition?.steps['b']?.config).toEqual(config);
  });

  it.each<[string, Json]>([
    ['a conditional without else', { type: 'conditional', condition: true, then: [{ type: 'bash', command: 'x' }] }],
    ['a conditional without steps', { type: 'conditional', condition: 'input.a' }],
    ['an approval', { type: 'approval', prompt: 'Ship?' }],
  ])('may end with %s, and nothing is missing then', (_, step) => {
    expect(check({ name: 'X', steps: [step] })).toMatchObject({ problems: [], warnings: [] });
  });

  it('may write the type of a trigger into its config', () => {
    const config = { type: 'webhook', path: 'orders', method: 'POST' };
    const trigger = (more: Json) => ({ name: 'hook', ...(more as object), variableMapping: { id: '$.order.id' } });
    const { definition } = toCanonical({
      steps: [{ type: 'approval' }],
      triggers: [trigger({ config }), trigger({ type: 'manual', config })],
    });
    expect(definition?.triggers).toEqual([
      trigger({ type: 'webhook', config: { path: 'orders', method: 'POST' } }),
      trigger({ type: 'manual', config }),
    ]);
  });

  it('reads names in the output of the definition too', () => {
    const { definition } = toCanonical({
      variables: { env: 'test' },
      steps: [{ type: 'bash', command: 'x', outputVariable: 'built' }],
      output: ['{{ built.stdout }}', '{{ env }}'],
    });
    expect(definition?.output).toEqual([
      '{{ outputs.built.stdout }}',
      '{{ (input.env == undefined ? variables.env : input.env) }}',
    ]);
  });

  it('says nothing of a timeout that it carries over, and refuses a limit that is no number', () => {
    const { problems, warnings } = toCanonical({
      runtime: { policy: { maxSteps: '7' } },
      steps: [
        { type: 'bash', command: 'x', timeoutMs: 5 },
        { type: 'approval', timeoutMs: 5 },
        { type: 'parallel', steps: [], timeoutMs: 5 },
      ],
    });
    expect(problems).toMatchObject([{ code: 'wrong_type', pointer: '/runtime/policy/maxSteps' }]);
    expect(warnings.map(({ pointer }) => pointer)).toEqual(['/steps/2/timeoutMs']);
  });

  it('says what it leaves out, and keeps a place for what its product walked past', () => {
    const { definition, warnings } = toCanonical({
      runtime: { policy: { maxSteps: 7, mode: 'x' } },
      steps: [
        { id: 'a', type: 'subworkflow' },
        { id: 'b', type: 'loop', steps: [] },
        { id: 'c', type: 'approval', colour: 'red' },
      ],
    });
    expect(definition?.config?.maxSteps).toBe(7);
    expect(definition?.steps).toMatchObject({ a: { stepType: 'removed' }, b: { stepType: 'removed' } });
    expect(warnings.map(({ pointer }) => pointer)).toEqual(
      expect.arrayContaining(['/runtime/policy/mode', '/steps/0', '/steps/1', '/steps/2/colour']),
    );
  });

  it('refuses lists that nest for ever', () => {
    let nested: Json = [{ type: 'approval' }];
    for (let depth = 0; depth < 90; depth++) nested = [{ type: 'conditional', condition: true, then: nested }];
    expect(toCanonical({ steps: nested }).definition).toBeDefined();
    for (let depth = 0; depth < 90; depth++) nested = [{ type: 'conditional', condition: true, then: nested }];
    expect(toCanonical({ steps: nested }).problems).toMatchObject([{ code: 'too_deep' }]);
  });
});
