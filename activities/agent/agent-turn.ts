/**
 * The activity `agentTurn`: one model call of an agent, which answers or calls tools. src/steps/kinds/agent/agent.ts
 * documents the step.
 */
import type { AgentCall, AgentTurn, OfferedTools } from '../../src/contract/run/agent.ts';
import { asJson, isObject, type JsonObject } from '../../src/json/json.ts';
import type { Fetch } from '../http/guarded-fetch.ts';
import { askModel, formatOf, metaOf, requestOf, textOrUndefined } from '../llm/llm.ts';
import type { ToolCall } from '../llm/model-call.ts';
import { type ModelReader, openModel } from '../llm/open-model.ts';
import { invalidConfig } from '../runtime/failure.ts';
import type { ActivityHandler } from '../runtime/wrap-activity.ts';
import { type AgentTool, agentTools, type ToolSources } from './agent-tools.ts';

export function agentTurnActivity(
  models: ModelReader | undefined,
  fetch: Fetch,
  sources: ToolSources,
): ActivityHandler {
  return async (config, context) => {
    if (!isObject(config)) throw invalidConfig('userPrompt', 'given');
    const model = await openModel(textOrUndefined(config['model']), models, fetch, context);
    const tools = await agentTools(config['tools'] as unknown as OfferedTools, sources, context);
    const request = { ...requestOf(config), tools };
    const { answer, data } = await askModel(model, request, formatOf(config), context);
    const turn: AgentTurn = {
      answer: data,
      text: answer.text,
      calls: answer.calls.map((call) => resolveCall(call, tools)),
      messages: answer.messages as unknown as JsonObject[],
    };
    return { data: asJson(turn), meta: metaOf(answer, model, request) };
  };
}

function resolveCall({ id, name, input, invalid: why }: ToolCall, tools: readonly AgentTool[]): AgentCall {
  const target = why === undefined ? tools.find((tool) => tool.name === name)?.target : undefined;
  if (target !== undefined) return { id, name, input, target };
  return { id, name, input, invalid: why ?? `There is no tool '${name}'.` };
}
