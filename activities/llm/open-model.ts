/** Creates models of the AI SDK from an organization's entries. Keys are read right before use and scrubbed. */

import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';
import type { ModelEntry, ModelProvider } from '../../src/contract/models.ts';
import { defined } from '../../src/json/defined.ts';
import type { Fetch } from '../http/guarded-fetch.ts';
import { ActivityError, askOutside, type Outside } from '../runtime/failure.ts';
import type { ActivityContext } from '../runtime/wrap-activity.ts';
import { streamOf } from './completion-stream.ts';

/** Reads models. Throws errors with a `code`: `model_not_found`. */
export interface ModelReader {
  resolve(organizationId: string, name: string | undefined): Promise<ModelEntry & { readonly name: string }>;
}

export interface OpenModel {
  readonly entry: ModelEntry & { readonly name: string };
  readonly model: Exclude<LanguageModel, string>;
}

const ADDRESSES: { readonly [provider in Exclude<ModelProvider, 'openai-compatible'>]: string } = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};
const NO_STREAM = /^\s*(text\/(html|plain)|application\/(xhtml|json))\b/i;
const MOST_SHOWN_CHARACTERS = 200;
const MODELS: Outside = {
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
  const entry = await askOutside(reader, MODELS, (models) => models.resolve(organizationId, name));
  const address = entry.baseUrl ?? (entry.provider === 'openai-compatible' ? '' : ADDRESSES[entry.provider]);
  const baseURL = address.replace(/\/+$/, '');
  if (!URL.canParse(baseURL))
    throw new ActivityError(
      'model_not_found',
      `The model '${entry.name}' has no valid address. Store it again with a baseUrl.`,
    );
  const apiKey =
    entry.apiKeySecret === undefined ? undefined : await context.secret(entry.apiKeySecret, new URL(baseURL).host);
  return { entry, model: modelOf(entry, baseURL, apiKey, streaming(entry.provider, fetch, context)) };
}

/**
 * Every call requests an event stream. A complete answer of OpenAI's API is accepted too. Any other document means that
 * the address is not that of a model.
 */
function streaming(provider: ModelProvider, fetch: Fetch, { scrub }: ActivityContext): Fetch {
  return async (input, init) => {
    const answer = await fetch(input, init);
    const type = answer.headers.get('content-type') ?? '';
    if (!answer.ok || !(type === '' || NO_STREAM.test(type))) return answer;
    const text = await answer.text();
    const headers = { 'content-type': 'text/event-stream' };
    const whole = provider.startsWith('openai') ? streamOf(text) : undefined;
    if (whole !== undefined) return new Response(whole, { headers });
    if (!/json|html/i.test(type) && !/^\s*[{<]/.test(text)) return new Response(text, { headers });
    const said = scrub.text(text).replace(/\s+/g, ' ').slice(0, MOST_SHOWN_CHARACTERS);
    throw new ActivityError(
      'model_answer',
      `The model's address answered with ${scrub.text(type) || 'a document'} instead of a stream of events ` +
        `(text/event-stream) or a chat completion. Check its baseUrl. The answer begins with: ${said}`,
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
        ...defined({ apiKey: key }),
      })(entry.model);
  }
}
