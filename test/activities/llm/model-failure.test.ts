// How a model call fails, whichever of the providers' protocols the model speaks.
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ModelProvider } from '../../../src/contract/organization/models.ts';
import { KEY, modelFailure, PROVIDERS } from '../llm-step.ts';
import { type ModelServer, modelServer, type Said, TOKENS } from '../model-server.ts';

const IDLE_MS = 240_000;
type Words = { readonly [provider in ModelProvider]: string };
/** How each provider says that it let nothing through, and that there was no room for more. */
const REFUSED: Words = {
  openai: 'content_filter',
  'openai-compatible': 'content_filter',
  anthropic: 'refusal',
  google: 'SAFETY',
};
const CUT: Words = { openai: 'length', 'openai-compatible': 'length', anthropic: 'max_tokens', google: 'MAX_TOKENS' };
let server: ModelServer | undefined;
afterEach(() => server?.close());

async function failing(provider: ModelProvider, said: Said, within?: MockActivityEnvironment) {
  server = await modelServer([said]);
  return modelFailure(server, {}, { entry: { provider }, ...(within === undefined ? {} : { within }) });
}

describe.each(PROVIDERS)('a model call to a provider of kind %s', (provider) => {
  it('is tried again, when the provider says, after too many requests', async () => {
    expect(await failing(provider, { status: 429, headers: { 'retry-after': '7' } })).toMatchObject({
      type: 'model_status',
      nonRetryable: false,
      nextRetryDelay: 7_000,
      details: [{ retryable: true, details: { status: 429, body: expect.stringContaining('status 429') } }],
    });
    expect(server?.seen).toHaveLength(1);
  });

  it('takes a date for when to try again', async () => {
    const at = new Date(Date.now() + 60_000).toUTCString();
    const failed = await failing(provider, { status: 503, headers: { 'retry-after': at } });
    expect(Number(failed.nextRetryDelay)).toBeGreaterThan(50_000);
    expect(Number(failed.nextRetryDelay)).toBeLessThanOrEqual(60_000);
  });

  it.each([500, 502, 503, 529])('is tried again after status %i, which says no time', async (status) => {
    const failed = await failing(provider, { status });
    expect(failed).toMatchObject({ type: 'model_status', nonRetryable: false, details: [{ details: { status } }] });
    expect(failed.nextRetryDelay).toBeUndefined();
    expect(server?.seen).toHaveLength(1);
  });

  it.each([400, 401, 403, 404])('is not tried again after status %i, whatever it says of when', async (status) => {
    const failed = await failing(provider, { status, headers: { 'retry-after': '7' } });
    expect(failed).toMatchObject({ type: 'model_status', nonRetryable: true, details: [{ details: { status } }] });
    expect(failed.nextRetryDelay).toBeUndefined();
  });

  it('takes no half answer: the stream ends, or the connection breaks', async () => {
    const text = 'One two three four';
    expect(await failing(provider, { text, cut: 'stream' })).toMatchObject({ type: 'model_cut', nonRetryable: false });
    await server?.close();
    expect(await failing(provider, { text, cut: 'connection' })).toMatchObject({
      type: expect.stringMatching(/^model_c(ut|onnect)$/),
      nonRetryable: false,
    });
  });

  it('ends when the model says nothing any more', async () => {
    const within = new MockActivityEnvironment({ heartbeatTimeoutMs: 30 }, { logger: new DefaultLogger('ERROR') });
    const heard = new Promise((resolve) => {
      within.on('heartbeat', (detail: unknown) => detail !== undefined && resolve(detail));
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const turning = setInterval(() => vi.advanceTimersByTime(1), 5);
    try {
      const failed = failing(provider, { text: 'One two three four', cut: 'silence' }, within);
      expect(await heard).toMatchObject({ characters: expect.any(Number) });
      clearInterval(turning);
      vi.advanceTimersByTime(IDLE_MS);
      expect(await failed).toMatchObject({ type: 'model_idle', nonRetryable: false });
    } finally {
      clearInterval(turning);
      vi.useRealTimers();
    }
  });

  it.each([
    ['is no JSON', '{"choices": [oops'],
    ['is of another form', '{"choices": 7, "candidates": 7, "type": 7}'],
  ])('fails typed where what comes %s', async (_what, raw) => {
    expect(await failing(provider, { raw })).toMatchObject({ type: 'model_answer', nonRetryable: false });
  });

  it('says in its message what the provider says', async () => {
    expect(await failing(provider, { status: 400 })).toMatchObject({
      message: "The model's provider answered with status 400: status 400",
    });
  });

  it('names a page that comes instead of an answer', async () => {
    const page = { status: 200, headers: { 'content-type': 'text/html' } };
    expect(await failing(provider, page)).toMatchObject({
      type: 'model_answer',
      message: expect.stringMatching(/text\/html.*baseUrl/),
      nonRetryable: false,
    });
  });

  it('is not tried again where a document comes instead of a stream', async () => {
    expect(await failing(provider, { status: 200, headers: { 'content-type': 'application/json' } })).toMatchObject({
      type: 'model_answer',
      message: expect.stringMatching(/application\/json.*instead of a stream of events/),
      nonRetryable: true,
    });
  });

  it('is no empty answer where nothing is let through', async () => {
    expect(await failing(provider, { text: '', finish: REFUSED[provider] })).toMatchObject({
      type: 'model_refused',
      nonRetryable: true,
      details: [{ details: { usage: { input_tokens: TOKENS.input } } }],
    });
  });

  it('asks once for JSON that is cut at maxTokens', async () => {
    server = await modelServer([{ text: '{"a": "b', finish: CUT[provider] }]);
    expect(await modelFailure(server, { outputFormat: 'json' }, { entry: { provider } })).toMatchObject({
      type: 'model_output_invalid',
      message: expect.stringContaining('maxTokens'),
    });
    expect(server.seen).toHaveLength(1);
  });

  it('is followed where its address has moved within the origin, with its key', async () => {
    server = await modelServer((_asked, n) =>
      n === 0
        ? { status: 307, headers: { location: '/moved/messages/chat/completions' } }
        : { status: 401, headers: {} },
    );
    expect(await modelFailure(server, {}, { entry: { provider } })).toMatchObject({
      type: 'model_status',
      details: [{ details: { status: 401 } }],
    });
    const [first, second] = server.seen;
    expect(second).toMatchObject({ method: 'POST', url: '/moved/messages/chat/completions', body: first?.body });
    expect(JSON.stringify(second?.headers)).toContain(KEY);
  });

  it('is taken to no other origin', async () => {
    const other = await modelServer([{ text: 'Mine.' }]);
    const failed = await failing(provider, { status: 308, headers: { location: `${other.url}/v1/x?k=1` } });
    await other.close();
    expect(failed).toMatchObject({
      type: 'http_redirects',
      nonRetryable: true,
      message: expect.stringContaining(`redirects to ${other.url}/v1/x,`),
    });
    expect(other.seen).toHaveLength(0);
  });

  it('is tried again where nobody answers', async () => {
    const gone = await modelServer([]);
    await gone.close();
    expect(await modelFailure(gone, {}, { entry: { provider } })).toMatchObject({
      type: 'model_connect',
      nonRetryable: false,
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

describe('an error within the stream', () => {
  it.each([
    ['openai-compatible', { message: 'm', type: 'server_error', code: null }, false],
    ['openai-compatible', { message: 'm', type: 'invalid_request_error', code: null }, true],
    ['openai-compatible', { message: 'm', type: 'x', code: 'invalid_api_key' }, true],
    ['openai-compatible', { message: 'm', type: 'x', code: 404 }, true],
    ['openai-compatible', { message: 'm', type: 'x', code: 429 }, false],
    ['openai', { message: 'm', type: 'server_error', code: null }, false],
    ['openai', { message: 'm', type: 'x', code: 'invalid_api_key' }, true],
    ['google', { message: 'm', status: 'UNAVAILABLE', code: 503 }, false],
    ['google', { message: 'm', status: 'INVALID_ARGUMENT', code: 400 }, true],
    ['anthropic', { type: 'overloaded_error', message: 'm' }, false],
    ['anthropic', { type: 'invalid_request_error', message: 'm' }, true],
    ['anthropic', { type: 'authentication_error', message: 'm' }, true],
    ['anthropic', { type: 'permission_error', message: 'm' }, true],
    ['anthropic', { type: 'not_found_error', message: 'm' }, true],
  ] as const)('knows whether an error within the stream of %s is final: %j, %s', async (provider, error, final) => {
    expect(await failing(provider, { text: 'One two', error })).toMatchObject({
      type: 'model_status',
      nonRetryable: final,
    });
  });
});

it('knows a final error that a stream begins with', async () => {
  const raw = (type: string) => JSON.stringify({ type: 'error', error: { type, message: 'm' } });
  expect(await failing('anthropic', { raw: raw('invalid_request_error') })).toMatchObject({
    type: 'model_status',
    nonRetryable: true,
  });
  await server?.close();
  expect(await failing('anthropic', { raw: raw('overloaded_error') })).toMatchObject({
    type: 'model_status',
    nonRetryable: false,
    details: [{ details: { body: expect.stringContaining('overloaded_error') } }],
  });
});
