import { describe, expect, it } from 'vitest';
import { check } from '../../src/check/check.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';

/** The canonical step of that slug, and what could not be carried over. */
function imported(document: Json, slug: string) {
  const { definition, problems, warnings } = check(document);
  const lost = warnings.filter(({ code }) => code === 'not_carried_over');
  return { step: definition?.steps[slug], problems, lost };
}

describe('models, agents and tools of other dialects', () => {
  it('000: an llm with tools is an agent, one without is an llm', () => {
    const step = (config: Json): Json => ({
      workflowConfig: { name: 'W', slug: 'w' },
      stepsConfig: [
        { stepSlug: 'start', stepType: 'trigger', config: {}, nextSteps: { success: 'ask' } },
        { stepSlug: 'ask', stepType: 'llm', config },
      ],
    });
    const prompt = { model: 'gpt-4o', systemPrompt: 'Be brief.', userPrompt: 'Hello', temperature: 0.2 };
    expect(imported(step({ ...prompt, outputFormat: 'json' }), 'ask')).toMatchObject({
      step: { stepType: 'llm', config: { ...prompt, outputFormat: 'json' } },
      problems: [],
      lost: [],
    });
    const tools = { tools: ['find_order'], mcpServerIds: ['shop'], maxSteps: 5 };
    expect(imported(step({ ...prompt, ...tools }), 'ask')).toMatchObject({
      step: { stepType: 'agent', config: { ...prompt, ...tools } },
      problems: [],
      lost: [],
    });
  });

  it('001: a tool call is a tool step, with what transforms its result', () => {
    const document = {
      title: 'W',
      steps: [
        {
          name: 'find',
          action: { toolName: 'find_order', transformCode: 'export default (r) => r.id' },
          input: { id: '@input.id' },
        },
      ],
    };
    expect(imported(document, 'find')).toMatchObject({
      step: {
        stepType: 'tool',
        config: {
          toolName: 'find_order',
          input: { id: '{{ input.id }}' },
          transformCode: 'export default (r) => r.id',
        },
      },
      problems: [],
      lost: [],
    });
  });

  it('002: agent, agent_message and tool keep what they say', () => {
    const document = {
      name: 'W',
      steps: [
        { id: 'a', name: 'a', type: 'agent', goal: 'Find it', tools: ['find_order'], maxSteps: 3, timeoutMs: 60_000 },
        {
          id: 'b',
          name: 'b',
          type: 'agent_message',
          content: 'Stop',
          interrupt: true,
          await_response: true,
          await_timeout_ms: 2_000,
          timeoutMs: 5_000,
        },
        { id: 'c', name: 'c', type: 'tool', tool: 'find_order', arguments: { id: 1 } },
      ],
    };
    const { definition, problems, warnings } = check(document);
    expect({ problems, lost: warnings.filter(({ code }) => code === 'not_carried_over') }).toEqual({
      problems: [],
      lost: [],
    });
    expect(Object.values(definition?.steps ?? {})).toMatchObject([
      { stepType: 'agent', config: { userPrompt: 'Find it', tools: ['find_order'], maxSteps: 3 }, timeout: 60_000 },
      {
        stepType: 'agent_message',
        config: { content: 'Stop', interrupt: true, await_response: true, await_timeout_ms: 2_000 },
        timeout: 5_000,
      },
      { stepType: 'tool', config: { toolName: 'find_order', input: { id: 1 } } },
    ]);
  });

  it('004: llm and agent nodes keep their members under the names of the kinds', () => {
    const document = {
      name: 'W',
      starting_step_id: 's',
      flow: [
        { id: 's', type: 'starting_step', next_step_id: 'l' },
        {
          id: 'l',
          type: 'llm',
          config: { user_prompt: 'Hi', output_format: 'json', max_tokens: 10 },
          next_step_id: 'a',
        },
        {
          id: 'a',
          type: 'agent',
          config: {
            system_prompt: 'You help.',
            user_prompt: 'Go',
            mcp_server_ids: ['shop'],
            max_steps: 4,
            max_tokens: 9,
          },
        },
      ],
    };
    const { definition, problems } = check(document);
    expect(problems).toEqual([]);
    expect(definition?.steps).toMatchObject({
      l: { stepType: 'llm', config: { userPrompt: 'Hi', outputFormat: 'json', maxTokens: 10 } },
      a: {
        stepType: 'agent',
        config: { systemPrompt: 'You help.', userPrompt: 'Go', mcpServerIds: ['shop'], maxSteps: 4, maxTokens: 9 },
      },
    });
  });

  it('004: a message without a channel is kept in the inbox, and a warning says so', () => {
    const of = (config: JsonObject) =>
      check({ name: 'W', starting_step_id: 'm', flow: { m: { type: 'send_message', config } } });
    const { definition, problems, warnings } = of({ message: 'in chat' });
    expect(problems).toEqual([]);
    expect(definition?.steps['m']?.config).toEqual({ text: 'in chat', channel: 'inbox' });
    expect(warnings).toMatchObject([{ pointer: '/flow/m/config/channel', code: 'missing_member' }]);
    const named = of({ message: 'x', channel: 'webhook', to: 'https://example.com/' });
    expect(named.definition?.steps['m']?.config).toMatchObject({ channel: 'webhook' });
    expect(named.warnings).toEqual([]);
  });

  it('004: the prompt of a model may be called so, and is one', () => {
    const of = (type: string, config: JsonObject) =>
      check({ name: 'W', starting_step_id: 'a', flow: { a: { type, config } } });
    for (const type of ['llm', 'agent'])
      expect(of(type, { prompt: 'Hi' }).definition?.steps['a']?.config).toEqual({ userPrompt: 'Hi' });
    expect(of('llm', { user_prompt: 'Hi', prompt: 'Ho' })).toMatchObject({
      definition: { steps: { a: { config: { userPrompt: 'Hi' } } } },
      warnings: [{ code: 'not_carried_over', pointer: '/flow/a/config/prompt' }],
    });
  });
});
