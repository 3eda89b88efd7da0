// biome-ignore-all lint/suspicious/noThenProperty: `then` is a member of agent-ops, and nothing here is awaited.

import { describe, expect, it } from 'vitest';
import { check } from '../../src/check/check.ts';
import type { JsonObject } from '../../src/json/json.ts';

const ofTale = (step: JsonObject, config: JsonObject = {}): JsonObject => ({
  workflowConfig: { name: 'X', config },
  stepsConfig: [{ stepSlug: 'a', name: 'A', stepType: 'trigger', order: 1, ...step }],
});
const ofMesh = (step: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...more,
  steps: [{ name: 'a', action: { toolName: 'T' }, ...step }],
});
const ofAgentOps = (step: JsonObject, more: JsonObject = {}): JsonObject => ({ ...more, steps: [step] });
const ofAlloy = (node: JsonObject, more: JsonObject = {}): JsonObject => ({
  name: 'X',
  starting_step_id: 's',
  ...more,
  flow: { s: { type: 'starting_step', next: 'a' }, a: node },
});
const branch = { name: 'yes', condition: 'input.n >', next: 's' };

describe('what is wrong with a document of another system', () => {
  it.each<[JsonObject, string[]]>([
    [ofTale({ stepType: 'output', config: { mapping: '{{ zork. }}' } }), ['/stepsConfig/0/config/mapping']],
    [ofTale({ maxRetries: 'x' }), ['/stepsConfig/0/maxRetries']],
    [ofTale({ config: { backoffMs: [] } }), ['/stepsConfig/0/config/backoffMs']],
    [ofTale({}, { retryPolicy: { maxRetries: 'x' } }), ['/workflowConfig/config/retryPolicy/maxRetries']],
    [ofTale({}, { secrets: { KEY: 'x' } }), ['/workflowConfig/config/secrets/KEY']],
    [ofTale({ stepSlug: 'a b' }), ['/stepsConfig/0/stepSlug']],
    [
      ofTale({
        stepType: 'action',
        config: { type: 'set_variables', parameters: { variables: [{ name: 'a', value: '{{ 1 + }}' }] } },
      }),
      ['/stepsConfig/0/config/parameters/variables/0/value'],
    ],
    [ofMesh({ input: 'text' }), ['/steps/0/input']],
    [ofMesh({ action: { toolName: 'T', transformCode: 5 } }), ['/steps/0/action/transformCode']],
    [
      ofMesh({ config: { maxAttempts: '3', backoffMs: [], timeoutMs: {}, onError: 'ignore' } }),
      [
        '/steps/0/config/backoffMs',
        '/steps/0/config/maxAttempts',
        '/steps/0/config/onError',
        '/steps/0/config/timeoutMs',
      ],
    ],
    [ofMesh({ forEach: { ref: '@nothing' } }), ['/steps/0/forEach/ref']],
    [ofMesh({}, { timeoutMs: [] }), ['/timeoutMs']],
    [ofAgentOps({ type: 'bash', command: '{{ 1 + }}', timeoutMs: '5m' }), ['/steps/0/command', '/steps/0/timeoutMs']],
    [
      ofAgentOps({ type: 'conditional', condition: '1 +', then: [{ type: 'approval', prompt: 5 }] }),
      ['/steps/0/condition', '/steps/0/then/0/prompt'],
    ],
    [ofAgentOps({ type: 'conditional', condition: { variable: '1 +' } }), ['/steps/0/condition/variable']],
    [ofAgentOps({ type: 'tool', tool: 'T', arguments: { a: '{{ 1 + }}' } }), ['/steps/0/arguments/a']],
    [ofAgentOps({ type: 'agent', goal: '{{ 1 + }}' }), ['/steps/0/goal']],
    [ofAgentOps({ type: 'approval' }, { variables: { input: 1 } }), ['/variables/input']],
    [ofAlloy({ type: 'finish' }, { payload_format: { n: 'money' } }), ['/payload_format/n']],
    [ofAlloy({ type: 'finish' }, { state_definition: { d: { type: 'date' } } }), ['/state_definition/d/type']],
    [ofAlloy({ type: 'finish' }, { mode: 'serial', debounce_seconds: '10' }), ['/debounce_seconds', '/mode']],
    [ofAlloy({ type: 'zip' }), ['/flow/a/type']],
    [ofAlloy({ type: 'llm', config: { user_prompt: 'x', max_tokens: 'many' } }), ['/flow/a/config/max_tokens']],
    [ofAlloy({ type: 'llm', data: { user_prompt: 'x', system_prompt: 5 } }), ['/flow/a/data/system_prompt']],
    [ofAlloy({ type: 'tool', tool_name: 'zip' }), ['/flow/a/tool_name']],
    [ofAlloy({ type: 'condition', branches: [branch] }), ['/flow/a/branches/0/condition']],
    [ofAlloy({ type: 'condition', config: { branches: [branch] } }), ['/flow/a/config/branches/0/condition']],
    [
      ofAlloy({ type: 'mapping', config: { mapping: { n: '{{ input.m }}' } } }, { payload_format: { n: 'number' } }),
      ['/flow/a/config/mapping/n'],
    ],
  ])('stands at the place where it was written: %j', (document, pointers) => {
    const { problems } = check(document);
    expect(problems.map(({ pointer }) => pointer).sort()).toEqual(pointers);
  });
});
