import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterEach, describe, expect, it } from 'vitest';
import { type ActivityDependencies, createActivities } from '../../../activities/registry.ts';
import type { ModelEntry, ModelProvider } from '../../../src/contract/organization/models.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { type Asking, askModel, KEY, modelFailure, PROVIDERS } from '../llm-step.ts';
import { type ModelServer, modelServer, type Said, TOKENS } from '../model-server.ts';
import { environment, inputOf, LOOPBACK } from '../server.ts';

const PRICES = { input: 2, output: 10, cachedInput: 0.5 };
/** How each provider calls `temperature: 0.2, maxTokens: 50`. */
const LIMITS: { readonly [provider in ModelProvider]: JsonObject } = {
  openai: { temperature: 0.2, max_tokens: 50 },
  'openai-compatible': { temperature: 0.2, max_tokens: 50 },
  anthropic: { temperature: 0.2, max_tokens: 50 },
  google: { generationConfig: { temperature: 0.2, maxOutputTokens: 50 } },
};
let server: ModelServer;
afterEach(() => server.close());

const llm = (config: JsonObject, entry: Partial<ModelEntry> = {}, more: Asking = {}) =>
  askModel(server, config, { entry, ...more });

async function failing(config: JsonObject, script: readonly Said[]): Promise<ApplicationFailure> {
  server = await modelServer(script);
  return modelFailure(server, config);
}

describe('the activity llm', () => {
  it.each(PROVIDERS)('asks a provider of kind %s, and counts what it used', async (provider) => {
    server = await modelServer([{ text: 'It is a complaint.' }]);
    const { data, meta } = await llm(
      { systemPrompt: 'You sort.', temperature: 0.2, maxTokens: 50 },
      { provider, prices: PRICES },
    );
    expect(data).toBe('It is a complaint.');
    expect(meta).toEqual({
      model: 'house',
      finishReason: 'stop',
      usage: {
        key_type: provider,
        model: 'house',
        input_tokens: TOKENS.input,
        output_tokens: TOKENS.output,
        cached_input_tokens: TOKENS.cached,
        usd_cost: 0.00034,
      },
      llm: { model: 'm-1', provider, temperature: 0.2, maxTokens: 50 },
    });
    const [{ headers, body, url }] = server.seen as [(typeof server.seen)[number]];
    expect(JSON.stringify([headers, url])).toContain(KEY);
    expect(body).toContain('You sort.');
    expect(body).toContain('Sort {{ secrets.KEY }}');
    expect(JSON.parse(body)).toMatchObject(LIMITS[provider]);
  });

  it.each(PROVIDERS)('takes JSON of kind %s, also inside a fence', async (provider) => {
    server = await modelServer([{ text: '```json\n{"category": "late"}\n```' }]);
    const schema = { category: 'string' };
    expect(await llm({ outputFormat: 'json', outputSchema: schema }, { provider })).toMatchObject({
      data: { category: 'late' },
    });
    expect(server.seen[0]!.body).toContain('category');
  });

  it('sends an answer back once that does not fit, and counts both', async () => {
    server = await modelServer([{ text: '{"urgent": "yes"}' }, { text: '{"urgent": true}' }]);
    const { data, meta } = await llm({ outputFormat: 'json', outputSchema: { urgent: 'boolean' } });
    expect(data).toEqual({ urgent: true });
    expect(meta).toMatchObject({ usage: { input_tokens: 2 * TOKENS.input, output_tokens: 2 * TOKENS.output } });
    const [, second] = server.asked();
    expect(second.messages.slice(-2)).toEqual([
      { role: 'assistant', content: '{"urgent": "yes"}' },
      { role: 'user', content: expect.stringContaining('/urgent: "urgent" must be boolean') },
    ]);
  });

  it('fails typed when the second answer does not fit either', async () => {
    const failed = await failing({ outputFormat: 'json', outputSchema: { urgent: 'boolean' } }, [{ text: 'Sorry.' }]);
    expect(server.seen).toHaveLength(2);
    expect(failed).toMatchObject({
      type: 'model_output_invalid',
      nonRetryable: true,
      details: [
        { details: { problems: ['It is not JSON.'], text: 'Sorry.', usage: { input_tokens: 2 * TOKENS.input } } },
      ],
    });
  });

  it('reports what the first answer has cost when the second does not come', async () => {
    const failed = await failing({ outputFormat: 'json' }, [
      { text: 'Sorry.' },
      { status: 429, headers: { 'retry-after': '3' } },
    ]);
    expect(failed).toMatchObject({
      type: 'model_status',
      nextRetryDelay: 3_000,
      details: [{ details: { status: 429, usage: { key_type: 'openai-compatible', input_tokens: TOKENS.input } } }],
    });
    await server.close();
    expect(await failing({ outputFormat: 'json' }, [{ text: 'Sorry.' }, { text: 'One', cut: 'stream' }])).toMatchObject(
      {
        type: 'model_cut',
        details: [{ details: { usage: { model: 'house', output_tokens: TOKENS.output } } }],
      },
    );
  });

  it('adds what the attempts before it have cost, and reports it to the next', async () => {
    const usage = {
      key_type: 'openai-compatible',
      model: 'house',
      input_tokens: 1_000,
      output_tokens: 10,
      cached_input_tokens: 0,
      usd_cost: 0.25,
    };
    const attempt = () => {
      const within = new MockActivityEnvironment(
        { attempt: 2, heartbeatDetails: { characters: 3, usage } },
        { logger: new DefaultLogger('ERROR') },
      );
      const beats: unknown[] = [];
      within.on('heartbeat', (detail: unknown) => beats.push(detail));
      return { within, beats };
    };
    const first = attempt();
    server = await modelServer([{ text: 'Hello' }]);
    expect((await llm({}, {}, first)).meta).toMatchObject({
      finishReason: 'stop',
      usage: { input_tokens: 1_000 + TOKENS.input, output_tokens: 10 + TOKENS.output, usd_cost: 0.25 },
    });
    await server.close();
    const second = attempt();
    server = await modelServer([{ text: 'Sorry.' }, { status: 503 }]);
    const sum = { ...usage, input_tokens: 1_000 + TOKENS.input, output_tokens: 10 + TOKENS.output };
    expect(await modelFailure(server, { outputFormat: 'json' }, { within: second.within })).toMatchObject({
      details: [{ details: { status: 503, usage: { input_tokens: sum.input_tokens } } }],
    });
    expect(second.beats).toEqual([{ usage: { ...sum, cached_input_tokens: TOKENS.cached } }]);
  });

  it('goes where the host allows it only', async () => {
    server = await modelServer([{ text: 'Hello' }]);
    const error = await llm({}, {}, { settings: { ...LOOPBACK, httpAllow: [] } }).catch((thrown) => thrown);
    expect(error).toMatchObject({ type: 'address_not_allowed', nonRetryable: true });
    expect(server.seen).toHaveLength(0);
  });

  it('names a model that is not there', async () => {
    server = await modelServer([]);
    expect(await llm({ model: 'unknown' }).catch((thrown) => thrown)).toMatchObject({
      type: 'model_not_found',
      nonRetryable: true,
    });
  });

  it('fails typed where models cannot be read: never, or not now', async () => {
    server = await modelServer([]);
    const config = { messages: [{ role: 'user', content: 'Hello' }] };
    const asking = (parts: ActivityDependencies) =>
      environment()
        .run(createActivities(LOOPBACK, parts)['llm']!, inputOf(config))
        .catch((error) => error);
    expect(await asking({})).toMatchObject({ type: 'models_unavailable', nonRetryable: true });
    const away = { resolve: () => Promise.reject(new Error('away')) };
    expect(await asking({ models: away })).toMatchObject({ type: 'models_unavailable', nonRetryable: false });
  });

  it('reveals no key, whatever the model answers', async () => {
    server = await modelServer([{ text: `Your key is ${KEY}.` }]);
    expect((await llm({})).data).toBe('Your key is [secret].');
  });

  it('reports progress with its heartbeats', async () => {
    const text = `A long answer. Half of the key may come before the rest: ${'…'.repeat(300)} ${KEY.slice(0, -1)}`;
    server = await modelServer([
      { text, afterMs: 10 },
      { text: 'B', afterMs: 400 },
    ]);
    const within = new MockActivityEnvironment({ heartbeatTimeoutMs: 300 }, { logger: new DefaultLogger('ERROR') });
    const beats: unknown[] = [];
    within.on('heartbeat', (detail: unknown) => beats.push(detail));
    // The first answer is no JSON, so the second is waited for, with what the first said.
    await llm({ outputFormat: 'json' }, {}, { within }).catch(() => undefined);
    expect(beats).toContainEqual({ characters: text.length, tail: expect.stringMatching(/…$/) });
    expect(JSON.stringify(beats)).not.toContain('canary');
  });

  it('loads nothing from addresses in messages', async () => {
    server = await modelServer([{ text: 'Hello' }]);
    const image = { type: 'image', image: `${server.url}/picture.png` };
    const error = await llm({ messages: [{ role: 'user', content: [image] }] }, { provider: 'google' }).catch((e) => e);
    expect(error).toBeInstanceOf(ApplicationFailure);
    expect(server.seen).toHaveLength(0);
  });
});
