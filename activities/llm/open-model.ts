/** Creates models of the AI SDK from an organization's entries. Keys are read right before use and scrubbed. */

import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';
import type { ModelEntry, ModelProvider } from '../../src/contract/organization/models.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import type { Fetch } from '../http/guarded-fetch.ts';
import { ActivityError, callService, type WorkerService } from '../runtime/failure.ts';
import type { ActivityContext } from '../runtime/wrap-activity.ts';
import { completionToEventStream } from './completion-stream.ts';

/** Reads models. Throws errors with a `code`: `model_not_found`. */
export interface ModelReader {
  resolve(organizationId: string, name: string | undefined): Promise<ModelEntry & { readonly name: string }>;
}

export interface OpenModel {
  readonly entry: ModelEntry & { readonly name: string };
  readonly model: Exclude<LanguageModel, string>;
}

const BASE_URLS: { readonly [provider in Exclude<ModelProvider, 'openai-compatible'>]: string } = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};
const NON_STREAM_TYPE = /^\s*(text\/(html|plain)|application\/(xhtml|json))\b/i;
const MAX_SHOWN_CHARACTERS = 200;
const MODEL_SERVICE: WorkerService = {
  code: 'models_unavailable',
  lacking: 'cannot read models',
  failed: 'The model could not be read.',
  final: ['model_not_found'],
};
/** The SDK requires a key even if the server ignores it. */
const NO_KEY = 'none';

/** @throws ActivityError `model_not_found`, or an error of reading its key */
export async function openModel(
  name: string | undefined,
  reader: ModelReader | undefined,
  fetch: Fetch,
  context: ActivityContext,
): Promise<OpenModel> {
  const { organizationId } = context.input.execution;
  const entry = await callService(reader, MODEL_SERVICE, (models) => models.resolve(organizationId, name));
  const address = entry.baseUrl ?? (entry.provider === 'openai-compatible' ? '' : BASE_URLS[entry.provider]);
  const baseURL = address.replace(/\/+$/, '');
  if (!URL.canParse(baseURL))
    throw new ActivityError(
      'model_not_found',
      `The model '${entry.name}' has no valid address. Store it again with a baseUrl.`,
    );
  const apiKey =
    entry.apiKeySecret === undefined ? undefined : await context.secret(entry.apiKeySecret, new URL(baseURL).host);
  return { entry, model: modelOf(entry, baseURL, apiKey, requireEventStream(entry.provider, fetch, context)) };
}

/**
 * Every call requests an event stream. A complete answer of OpenAI's API is accepted too. Any other document means that
 * the address is not that of a model.
 */
function requireEventStream(provider: ModelProvider, fetch: Fetch, { scrub }: ActivityContext): Fetch {
  return async (input, init) => {
    const answer = await fetch(input, init);
    const type = answer.headers.get('content-type') ?? '';
    if (!answer.ok || !(type === '' || NON_STREAM_TYPE.test(type))) return answer;
    const text = await answer.text();
    const headers = { 'content-type': 'text/event-stream' };
    const eventStream = provider.startsWith('openai') ? completionToEventStream(text) : undefined;
    if (eventStream !== undefined) return new Response(eventStream, { headers });
    if (!/json|html/i.test(type) && !/^\s*[{<]/.test(text)) return new Response(text, { headers });
    const excerpt = scrub.text(text).replace(/\s+/g, ' ').slice(0, MAX_SHOWN_CHARACTERS);
    throw new ActivityError(
      'model_answer',
      `The model's address answered with ${scrub.text(type) || 'a document'} instead of a stream of events ` +
        `(text/event-stream) or a chat completion. Check its baseUrl. The answer begins with: ${excerpt}`,
      // An HTML page may come from a proxy while the model is down; a retry does not change another document.
      { retryable: /html/i.test(type) },
    );
  };
}

function modelOf(entry: ModelEntry, baseURL: string, key: string | undefined, fetch: Fetch): OpenModel['model'] {
  const settings = { baseURL, apiKey: key ?? NO_KEY, fetch };
  switch (entry.provider) {
    case 'openai':
      // Not the Responses API, whose conversations are stored by the provider: a run's history holds them.
      return createOpenAI(settings).chat(entry.model);
    case 'anthropic':
      return createAnthropic(settings)(entry.model);
    case 'google':
      return createGoogleGenerativeAI(settings)(entry.model);
    case 'openai-compatible':
      return createOpenAICompatible({
        name: 'openai-compatible',
        baseURL,
        fetch,
        includeUsage: true,
        ...omitUndefined({ apiKey: key }),
      })(entry.model);
  }
}
