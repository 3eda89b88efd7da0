/** The config of steps that call a model: kind `llm`, and kind `agent`, which adds tools. */

import { z } from 'zod';
import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { planFormat } from '../config/payload.ts';
import { invalid, isAbsent, list, optionalOneOf, optionalText, wholeNumber } from '../config/read.ts';
import { anyValue, payloadFormat, templated, textTemplate } from '../config/schema.ts';
import { ConfigError, type Parse, type StepContext } from '../kind.ts';

const OUTPUT_FORMATS = ['text', 'json'] as const;
const ROLES: readonly Json[] = ['user', 'assistant', 'system'];
const MAX_TOKENS = 10_000_000;
/** An answer takes seconds, or minutes with much reasoning. */
export const MODEL_TIMEOUT_MS = 600_000;
/** An activity learns that it was cancelled from its heartbeats. */
export const MODEL_HEARTBEAT_MS = 15_000;

/** Members of the config's schema. */
export function modelSchema(): z.ZodRawShape {
  return {
    model: textTemplate().optional().describe("A model of the organization. Default: the organization's default."),
    systemPrompt: textTemplate().optional().describe('The role of the model, and how to answer.'),
    userPrompt: anyValue().optional().describe('The prompt. Values other than texts are passed as JSON.'),
    messages: templated(z.array(z.union([z.strictObject({ role: z.string(), content: z.unknown() }), z.string()])))
      .optional()
      .describe('What was said before `userPrompt`, or instead of it: a list of `{role: user | assistant, content}`.'),
    outputFormat: templated(z.enum(OUTPUT_FORMATS)).optional().describe('json with an outputSchema, else text.'),
    outputSchema: payloadFormat().optional().describe('The format of the answer: a payload format.'),
    temperature: templated(z.number().min(0).max(2)).optional().describe("From 0 on. Default: the model's."),
    maxTokens: templated(z.number().int().min(1)).optional().describe('Most tokens of an answer.'),
    description: z.string().optional().describe('For readers.'),
  };
}

/** Parses the members. The result evaluates them into the input of the activities `llm` and `agentTurn`. */
export function planModel(config: JsonObject, parse: Parse): (visit: StepContext) => JsonObject & { messages: Json[] } {
  if (isAbsent(config['userPrompt']) && isAbsent(config['messages']))
    throw new ConfigError('/userPrompt', 'Expected what the model is asked.');
  const template = (member: string) => parse.template(config[member], `/${member}`);
  const [model, systemPrompt, userPrompt] = [template('model'), template('systemPrompt'), template('userPrompt')];
  const [messages, outputFormat] = [template('messages'), template('outputFormat')];
  const [temperature, maxTokens] = [template('temperature'), template('maxTokens')];
  const schema = planFormat(config['outputSchema'], 'outputSchema', parse);
  return (visit) => {
    const modelName = optionalText(visit.render(model), 'model');
    const system = optionalText(visit.render(systemPrompt), 'systemPrompt');
    const renderedPrompt = visit.render(userPrompt);
    const renderedTemperature = visit.render(temperature);
    const renderedMaxTokens = visit.render(maxTokens);
    const format = schema.formatOf(visit, schema.stored(visit));
    const form = optionalOneOf(visit.render(outputFormat), 'outputFormat', OUTPUT_FORMATS);
    const isJson = form === undefined ? format !== undefined : form === 'json';
    return {
      ...omitUndefined({ model: modelName, systemPrompt: system }),
      messages: [
        ...messagesOf(visit.render(messages)),
        ...(isAbsent(renderedPrompt) ? [] : [{ role: 'user', content: asText(renderedPrompt) }]),
      ],
      ...(isJson ? { outputFormat: 'json' } : {}),
      ...(isJson && format !== undefined ? { outputSchema: format } : {}),
      ...(isAbsent(renderedTemperature) ? {} : { temperature: temperatureOf(renderedTemperature) }),
      ...(isAbsent(renderedMaxTokens) ? {} : { maxTokens: wholeNumber(renderedMaxTokens, 'maxTokens', 1, MAX_TOKENS) }),
    };
  };
}

function messagesOf(value: Json): Json[] {
  if (isAbsent(value)) return [];
  return list(value, 'messages').map((message, i) => {
    if (typeof message === 'string') return { role: 'user', content: message };
    const { role, content } = isObject(message) ? message : {};
    if (role === undefined || !ROLES.includes(role))
      throw invalid(`messages[${i}].role`, "'user', 'assistant' or 'system'", role);
    return { role, content: asText(content ?? '') };
  });
}

/** A model reads text; other values are passed as JSON text. */
function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function temperatureOf(value: Json): number {
  if (typeof value !== 'number' || value < 0) throw invalid('temperature', 'a number from 0', value);
  return value;
}
