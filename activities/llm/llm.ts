/** The activity `llm`: one prompt, one answer. src/steps/kinds/llm.ts documents the step. */

import type { ModelMessage } from 'ai';
import { addUsage, type ModelUsage } from '../../src/contract/organization/models.ts';
import type { ActivityOutput } from '../../src/contract/run/activity.ts';
import type { PayloadFormat } from '../../src/definition/document/types.ts';
import { validatePayload } from '../../src/definition/payload/format.ts';
import { asJsonSchema } from '../../src/definition/payload/format-schema.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import { possibleJson } from '../../src/json/model-json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import type { Fetch } from '../http/guarded-fetch.ts';
import { ActivityError, invalidConfig } from '../runtime/failure.ts';
import type { ActivityContext, ActivityHandler } from '../runtime/wrap-activity.ts';
import { callModel, type ModelAnswer, type ModelRequest } from './model-call.ts';
import { type ModelReader, type OpenModel, openModel } from './open-model.ts';

const MAX_LISTED_PROBLEMS = 20;
const MAX_SHOWN_CHARACTERS = 4_000;

export function llmActivity(models: ModelReader | undefined, fetch: Fetch): ActivityHandler {
  return async (config, context): Promise<ActivityOutput> => {
    if (!isObject(config)) throw invalidConfig('userPrompt', 'given');
    const model = await openModel(textOrUndefined(config['model']), models, fetch, context);
    const request = requestOf(config);
    const { answer, data } = await askModel(model, request, formatOf(config), context);
    return { data, meta: metaOf(answer, model, request) };
  };
}

/** The expected answer: text, or JSON in an optional format. */
type AnswerForm = 'text' | { readonly format: PayloadFormat | undefined };

export function formatOf(config: JsonObject): AnswerForm {
  if (config['outputFormat'] !== 'json') return 'text';
  return { format: isObject(config['outputSchema']) ? config['outputSchema'] : undefined };
}

export function requestOf(config: JsonObject): ModelRequest {
  const { systemPrompt, messages, temperature, maxTokens } = config;
  if (!Array.isArray(messages)) throw invalidConfig('messages', 'a list');
  return {
    messages: messages as unknown as ModelMessage[],
    ...(typeof systemPrompt === 'string' ? { system: systemPrompt } : {}),
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof maxTokens === 'number' ? { maxTokens } : {}),
  };
}

/**
 * Asks the model for an answer in the expected form. An answer that does not fit is sent back once with its problems.
 * `data` is null if the model calls tools.
 * @throws ActivityError `model_output_invalid`, `model_refused`, and those of callModel
 */
export async function askModel(
  model: OpenModel,
  request: ModelRequest,
  form: AnswerForm,
  context: ActivityContext,
): Promise<{ readonly answer: ModelAnswer; readonly data: Json }> {
  if (form === 'text') {
    const answer = await callModel(model, request, context);
    throwIfRefused(answer);
    return { answer, data: answer.calls.length > 0 ? null : answer.text };
  }
  const jsonRequest = withJsonInstruction(request, form.format);
  const first = await callModel(model, jsonRequest, context);
  throwIfRefused(first);
  if (first.calls.length > 0) return { answer: first, data: null };
  const read = parseAnswer(form.format, first.text);
  if ('data' in read) return { answer: first, data: read.data };
  // A second answer would be truncated too.
  if (first.finishReason === 'length') throw truncatedJsonError(first, read.problems, context);
  const correction: ModelMessage = { role: 'user', content: correctionOf(read.problems) };
  const followUp = [...first.messages, correction];
  const second = await callModel(
    model,
    { ...jsonRequest, messages: [...jsonRequest.messages, ...followUp] },
    context,
  ).catch((error) => {
    throw addUsageToError(error, first.usage);
  });
  const answer: ModelAnswer = {
    ...second,
    messages: [...followUp, ...second.messages],
    usage: { ...second.usage, ...addUsage(first.usage, second.usage) },
  };
  if (answer.calls.length > 0) return { answer, data: null };
  const repaired = parseAnswer(form.format, answer.text);
  if ('data' in repaired) return { answer, data: repaired.data };
  if (answer.finishReason === 'length') throw truncatedJsonError(answer, repaired.problems, context);
  throw invalidOutput(
    `The model's answer does not match outputSchema, also at the second try: ${repaired.problems[0]}`,
    answer,
    repaired.problems,
    context,
  );
}

/** A refusal by the model or a filter must not look like an empty answer. @throws ActivityError `model_refused` */
function throwIfRefused({ text, calls, finishReason, usage }: ModelAnswer): void {
  if (finishReason !== 'content-filter' || text !== '' || calls.length > 0) return;
  throw new ActivityError(
    'model_refused',
    'The model or a filter of its provider refused to answer. Change the prompt, or use another model.',
    { details: { finishReason, usage: { ...usage } } },
  );
}

function truncatedJsonError(answer: ModelAnswer, problems: readonly string[], context: ActivityContext): ActivityError {
  const message =
    "The model's answer reached the token limit before its JSON was complete. Raise maxTokens, or ask for less.";
  return invalidOutput(message, answer, problems, context);
}

function invalidOutput(
  message: string,
  { text, usage }: ModelAnswer,
  problems: readonly string[],
  { scrub }: ActivityContext,
): ActivityError {
  return new ActivityError('model_output_invalid', message, {
    details: {
      problems: problems.slice(0, MAX_LISTED_PROBLEMS),
      text: scrub.text(text).slice(0, MAX_SHOWN_CHARACTERS),
      usage: { ...usage },
    },
  });
}

/** Adds the usage of the earlier call to the failure, since it counts for the costs of the run. */
function addUsageToError(error: unknown, usage: ModelUsage): unknown {
  if (!(error instanceof ActivityError)) return error;
  const { code, message, retryable, details, retryAfterMs } = error;
  return new ActivityError(code, message, {
    retryable,
    details: { ...(isObject(details) ? details : {}), usage: { ...usage } },
    ...omitUndefined({ retryAfterMs }),
  });
}

/** `llm` describes the request to the provider; `model` is the organization's name for the model. */
export function metaOf(
  { usage, finishReason }: ModelAnswer,
  { entry }: OpenModel,
  { temperature, maxTokens }: ModelRequest,
): JsonObject {
  const llm = {
    model: entry.model,
    provider: entry.provider,
    ...omitUndefined({ temperature, maxTokens }),
  };
  return { model: usage.model, finishReason, usage: { ...usage }, llm };
}

function withJsonInstruction(request: ModelRequest, format: PayloadFormat | undefined): ModelRequest {
  const schema = format === undefined ? undefined : asJsonSchema(format);
  // Also in words, because some servers ignore the schema of the request.
  const instruction =
    schema === undefined
      ? 'Answer with one JSON value and nothing else.'
      : `Answer with one JSON value and nothing else. It must match this JSON Schema: ${JSON.stringify(schema)}`;
  return {
    ...request,
    system: request.system === undefined ? instruction : `${request.system}\n\n${instruction}`,
    json: schema === undefined ? {} : { schema },
  };
}

function parseAnswer(
  format: PayloadFormat | undefined,
  text: string,
): { readonly data: Json } | { readonly problems: readonly string[] } {
  const readings = possibleJson(text);
  const [likeliest] = readings;
  if (likeliest === undefined) return { problems: ['It is not JSON.'] };
  const fitting = format === undefined ? likeliest : readings.find((one) => validatePayload(format, one).length === 0);
  if (fitting !== undefined || format === undefined) return { data: fitting ?? likeliest };
  return {
    problems: validatePayload(format, likeliest).map(({ pointer, message }) => `${pointer || '/'}: ${message}`),
  };
}

function correctionOf(problems: readonly string[]): string {
  return `The answer does not match:\n${problems
    .slice(0, MAX_LISTED_PROBLEMS)
    .map((problem) => `- ${problem}`)
    .join('\n')}\nAnswer again, with the corrected JSON value and nothing else.`;
}

export function textOrUndefined(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
