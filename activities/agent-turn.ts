/** The activity `agentTurn`: one model call of an agent, which answers or wants tools called. The manual is src/steps/kinds/agent/agent.ts. */
import type { AgentCall, AgentTurn, OfferedTools } from '../src/contract/agent.ts';
import { isObject } from '../src/definition/document/json.ts';
import type { JsonObject } from '../src/definition/document/types.ts';
import type { Json } from '../src/template/types.ts';
import { type AgentTool, agentTools, type ToolSources } from './agent-tools.ts';
import type { Effect } from './effect.ts';
import { invalid } from './failure.ts';
import type { Fetch } from './guarded-fetch.ts';
import { ask, formatOf, metaOf, optionalText, requestOf } from './llm.ts';
import type { ToolCall } from './llm-call.ts';
import { type ModelReader, openModel } from './models.ts';

export function agentTurnEffect(models: ModelReader | undefined, fetch: Fetch, sources: ToolSources): Effect {
  return async (config, context) => {
    if (!isObject(config)) throw invalid('userPrompt', 'given');
    const model = await openModel(optionalText(config['model']), models, fetch, context);
    const tools = await agentTools(config['tools'] as unknown as OfferedTools, sources, context);
    const request = { ...requestOf(config), tools };
    const { answer, data } = await ask(model, request, formatOf(config), context);
    const turn: AgentTurn = {
      answer: data,
      text: answer.text,
      calls: answer.calls.map((call) => meant(call, tools)),
      messages: answer.messages as unknown as JsonObject[],
    };
    return { data: turn as unknown as Json, meta: metaOf(answer, model, request) };
  };
}

function meant({ id, name, input, invalid: why }: ToolCall, tools: readonly AgentTool[]): AgentCall {
  const target = why === undefined ? tools.find((tool) => tool.name === name)?.target : undefined;
  if (target !== undefined) return { id, name, input, target };
  return { id, name, input, invalid: why ?? `There is no tool '${name}'.` };
}
