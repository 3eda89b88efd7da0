// biome-ignore-all lint/suspicious/noThenProperty: `then` is a member of agent-ops, and nothing here is awaited.

import { describe, expect, it } from 'vitest';
import { check } from '../../src/check/check.ts';
import type { JsonObject } from '../../src/json/json.ts';

const of000 = (step: JsonObject, config: JsonObject = {}): JsonObject => ({
  workflowConfig: { name: 'X', config },
  stepsConfig: [{ stepSlug: 'a', name: 'A', stepType: 'trigger', order: 1, ...step }],
});
const of001 = (step: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...more,
  steps: [{ name: 'a', action: { toolName: 'T' }, ...step }],
});
const of002 = (step: JsonObject, more: JsonObject = {}): JsonObject => ({ ...more, steps: [step] });
const of004 = (node: JsonObject, more: JsonObject = {}): JsonObject => ({
  name: 'X',
  starting_step_id: 's',
  ...more,
  flow: { s: { type: 'starting_step', next: 'a' }, a: node },
});
const branch = { name: 'yes', condition: 'input.n >', next: 's' };

describe('what is wrong with a document of another system', () => {
  it.each<[JsonObject, string[]]>([
    [of000({ stepType: 'output', config: { mapping: '{{ zork. }}' } }), ['/stepsConfig/0/config/mapping']],
    [of000({ maxRetries: 'x' }), ['/stepsConfig/0/maxRetries']],
    [of000({ config: { backoffMs: [] } }), ['/stepsConfig/0/config/backoffMs']],
    [of000({}, { retryPolicy: { maxRetries: 'x' } }), ['/workflowConfig/config/retryPolicy/maxRetries']],
    [of000({}, { secrets: { KEY: 'x' } }), ['/workflowConfig/config/secrets/KEY']],
    [of000({ stepSlug: 'a b' }), ['/stepsConfig/0/stepSlug']],
    [
      of000({
        stepType: 'action',
        config: { type: 'set_variables', parameters: { variables: [{ name: 'a', value: '{{ 1 + }}' }] } },
      }),
      ['/stepsConfig/0/config/parameters/variables/0/value'],
    ],
    [of001({ input: 'text' }), ['/steps/0/input']],
    [of001({ action: { toolName: 'T', transformCode: 5 } }), ['/steps/0/action/transformCode']],
    [
      of001({ config: { maxAttempts: '3', backoffMs: [], timeoutMs: {}, onError: 'ignore' } }),
      [
        '/steps/0/config/backoffMs',
        '/steps/0/config/maxAttempts',
        '/steps/0/config/onError',
        '/steps/0/config/timeoutMs',
      ],
    ],
    [of001({ forEach: { ref: '@nothing' } }), ['/steps/0/forEach/ref']],
    [of001({}, { timeoutMs: [] }), ['/timeoutMs']],
    [of002({ type: 'bash', command: '{{ 1 + }}', timeoutMs: '5m' }), ['/steps/0/command', '/steps/0/timeoutMs']],
    [
      of002({ type: 'conditional', condition: '1 +', then: [{ type: 'approval', prompt: 5 }] }),
      ['/steps/0/condition', '/steps/0/then/0/prompt'],
    ],
    [of002({ type: 'conditional', condition: { variable: '1 +' } }), ['/steps/0/condition/variable']],
    [of002({ type: 'tool', tool: 'T', arguments: { a: '{{ 1 + }}' } }), ['/steps/0/arguments/a']],
    [of002({ type: 'agent', goal: '{{ 1 + }}' }), ['/steps/0/goal']],
    [of002({ type: 'approval' }, { variables: { input: 1 } }), ['/variables/input']],
    [of004({ type: 'finish' }, { payload_format: { n: 'money' } }), ['/payload_format/n']],
    [of004({ type: 'finish' }, { state_definition: { d: { type: 'date' } } }), ['/state_definition/d/type']],
    [of004({ type: 'finish' }, { mode: 'serial', debounce_seconds: '10' }), ['/debounce_seconds', '/mode']],
    [of004({ type: 'zip' }), ['/flow/a/type']],
    [of004({ type: 'llm', config: { user_prompt: 'x', max_tokens: 'many' } }), ['/flow/a/config/max_tokens']],
    [of004({ type: 'llm', data: { user_prompt: 'x', system_prompt: 5 } }), ['/flow/a/data/system_prompt']],
    [of004({ type: 'tool', tool_name: 'zip' }), ['/flow/a/tool_name']],
    [of004({ type: 'condition', branches: [branch] }), ['/flow/a/branches/0/condition']],
    [of004({ type: 'condition', config: { branches: [branch] } }), ['/flow/a/config/branches/0/condition']],
    [
      of004({ type: 'mapping', config: { mapping: { n: '{{ input.m }}' } } }, { payload_format: { n: 'number' } }),
      ['/flow/a/config/mapping/n'],
    ],
  ])('stands at the place where it was written: %j', (document, pointers) => {
    const { problems } = check(document);
    expect(problems.map(({ pointer }) => pointer).sort()).toEqual(pointers);
  });
});
