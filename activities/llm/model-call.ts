/**
 * Calls a model once. The answer is streamed, which detects a stuck model and allows progress in heartbeats. Failures
 * are typed. Retries, downloads of files in messages, and tool execution by the AI SDK are switched off.
 */

import { jsonSchema, type ModelMessage, streamText, type ToolSet, tool, wrapLanguageModel } from 'ai';
import { type ModelUsage, usd } from '../../src/contract/organization/models.ts';
import { validatePayload } from '../../src/definition/payload/format.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { ActivityError, transientError } from '../runtime/failure.ts';
import { type ActivityContext, RESULT_LIMIT_BYTES } from '../runtime/wrap-activity.ts';
import { modelFailure, truncatedStreamError } from './model-failure.ts';
import type { OpenModel } from './open-model.ts';

type JsonSchema = Exclude<Parameters<typeof jsonSchema>[0], PromiseLike<unknown> | (() => unknown)>;

export interface ModelRequest {
  readonly system?: string;
  readonly messages: readonly ModelMessage[];
  /** Requests JSON, optionally of this schema. */
  readonly json?: { readonly schema?: JsonObject };
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly tools?: readonly OfferedTool[];
}

export interface OfferedTool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema. */
  readonly inputSchema: JsonObject;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  /** Why the call is invalid: an unknown tool, or an input that does not match. */
  readonly invalid?: string;
}

export interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** stop, length, tool-calls, content-filter, other. */
  readonly finishReason: string;
  readonly usage: ModelUsage;
  /** The model's messages, to continue the conversation with. */
  readonly messages: readonly ModelMessage[];
}

/** After this silence a model counts as stuck. Reasoning models are silent for minutes. */
const IDLE_MS = 240_000;
const MAX_ERROR_CHARACTERS = 2_000;
const PROGRESS_TAIL_CHARACTERS = 200;
/** How many problems of a tool's input are reported to the model. */
const MAX_REPORTED_PROBLEMS = 5;

// Otherwise the SDK prints warnings to the console.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

/** @throws ActivityError `model_status`, `model_connect`, `model_cut`, `model_idle`, `result_too_large`, … */
export async function callModel(
  { entry, model }: OpenModel,
  request: ModelRequest,
  context: ActivityContext,
): Promise<ModelAnswer> {
  const idle = new AbortController();
  let timer = setTimeout(() => idle.abort(), IDLE_MS);
  const resetIdleTimer = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => idle.abort(), IDLE_MS);
  };
  const { system, messages, temperature, maxTokens, tools } = request;
  try {
    const result = streamText({
      model: request.json === undefined ? model : withJsonResponse(model, request.json.schema),
      messages: [...messages],
      maxRetries: 0,
      abortSignal: AbortSignal.any([context.signal, idle.signal]),
      allowSystemInMessages: true,
      // A prompt is untrusted data and must not cause downloads.
      experimental_download: async (files) => {
        if (files.some(({ isUrlSupportedByModel }) => !isUrlSupportedByModel)) throw filesRefused();
        return files.map(() => null);
      },
      onError: () => undefined,
      ...omitUndefined({ system, temperature, maxOutputTokens: maxTokens }),
      ...(tools === undefined || tools.length === 0 ? {} : { tools: toolSet(tools) }),
    });
    let text = '';
    let ended: { finishReason: string; rawFinishReason: string | undefined } | undefined;
    const calls: ToolCall[] = [];
    const progress = (): Json => ({
      characters: text.length,
      tail: context.scrub.beginning(text).slice(-PROGRESS_TAIL_CHARACTERS),
    });
    for await (const part of result.fullStream) {
      resetIdleTimer();
      switch (part.type) {
        case 'text-delta':
          // Evaluated per heartbeat: scrubbing the text for each part would be slower than the model.
          if (text === '') context.progress(progress);
          text += part.text;
          if (text.length > RESULT_LIMIT_BYTES) throw answerTooLong();
          break;
        case 'tool-call':
          calls.push(callOf(part));
          break;
        case 'finish-step':
          ended = part;
          break;
        case 'error':
          throw part.error;
        default:
      }
    }
    if (idle.signal.aborted) throw idleError();
    // Providers report `other` for a stream that ends without a final event.
    if (ended === undefined || (ended.finishReason === 'other' && ended.rawFinishReason === undefined))
      throw truncatedStreamError();
    const { messages: responseMessages } = await result.response;
    return {
      text,
      calls,
      finishReason: ended.finishReason,
      usage: usageOf(entry, await result.totalUsage),
      // Without the SDK's own replies to invalid calls: the workflow replies to all calls.
      messages: JSON.parse(
        JSON.stringify(responseMessages.filter(({ role }) => role === 'assistant')),
      ) as ModelMessage[],
    };
  } catch (error) {
    if (idle.signal.aborted) throw idleError();
    throw modelFailure(error, context);
  } finally {
    clearTimeout(timer);
  }
}

function withJsonResponse(model: OpenModel['model'], schema: JsonObject | undefined): OpenModel['model'] {
  if (model.specificationVersion !== 'v3') return model;
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v3',
      transformParams: async ({ params }) => ({
        ...params,
        responseFormat: { type: 'json', ...(schema === undefined ? {} : { schema: schema as JsonSchema }) },
        // Strict mode accepts only a subset of JSON Schema. The answer is validated here anyway.
        providerOptions: { ...params.providerOptions, openai: { strictJsonSchema: false } },
      }),
    },
  });
}

function toolSet(tools: readonly OfferedTool[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      tool({
        inputSchema: jsonSchema<Json>(inputSchema as JsonSchema, {
          validate: (value) => validateInput(inputSchema, value),
        }),
        ...omitUndefined({ description }),
      }),
    ]),
  );
}

function validateInput(
  schema: JsonObject,
  value: unknown,
): { success: true; value: Json } | { success: false; error: Error } {
  const problems = validatePayload(schema, value as Json).map(
    ({ pointer, message }) => `${pointer || '/'}: ${message}`,
  );
  if (problems.length === 0) return { success: true, value: value as Json };
  return { success: false, error: new Error(problems.slice(0, MAX_REPORTED_PROBLEMS).join(' ')) };
}

function callOf(part: {
  toolCallId: string;
  toolName: string;
  input: unknown;
  invalid?: boolean | undefined;
  error?: unknown;
}): ToolCall {
  const { toolCallId: id, toolName: name, invalid, error } = part;
  const input = (part.input ?? {}) as Json;
  if (invalid !== true) return { id, name, input };
  // The innermost cause is the problem; the SDK wraps it.
  let reason = error;
  while (reason instanceof Error && reason.cause instanceof Error) reason = reason.cause;
  const why = reason instanceof Error ? reason.message : 'The call is invalid.';
  return { id, name, input, invalid: why.slice(0, MAX_ERROR_CHARACTERS) };
}

interface TokenCounts {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly inputTokenDetails: { readonly cacheReadTokens: number | undefined };
}

function usageOf({ name, provider, prices }: OpenModel['entry'], counted: TokenCounts): ModelUsage {
  const input = counted.inputTokens ?? 0;
  const output = counted.outputTokens ?? 0;
  const cached = Math.min(input, counted.inputTokenDetails.cacheReadTokens ?? 0);
  const { input: inputPrice = 0, output: outputPrice = 0, cachedInput = inputPrice } = prices ?? {};
  return {
    key_type: provider,
    model: name,
    input_tokens: input,
    output_tokens: output,
    cached_input_tokens: cached,
    usd_cost: usd(((input - cached) * inputPrice + cached * cachedInput + output * outputPrice) / 1_000_000),
  };
}

const idleError = (): ActivityError => transientError('model_idle', `The model was silent for ${IDLE_MS} ms.`);
const answerTooLong = (): ActivityError =>
  new ActivityError('result_too_large', `The model's answer is longer than ${RESULT_LIMIT_BYTES} characters.`, {
    details: { limit: RESULT_LIMIT_BYTES },
  });
const filesRefused = (): ActivityError =>
  new ActivityError('invalid_config', 'Files in messages are not downloaded. Pass their content.');
