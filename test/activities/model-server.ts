/**
 * A server with the protocols of model providers: OpenAI's chat completions, Anthropic's messages and Google's
 * streamGenerateContent, each as an event stream. Answers are scripted, one per request; the last one repeats.
 */

import type { ServerResponse } from 'node:http';
import type { Json } from '../../src/json/json.ts';
import { type Seen, serve, type TestServer } from './server.ts';

export interface Said {
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: Json }[];
  /** Why the answer ends, as the provider calls it, where it is not that all is said. */
  readonly finish?: string;
  /** Instead of an answer. */
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  /** The connection breaks, the stream ends without its last event, or it stays open without further events. */
  readonly cut?: 'connection' | 'stream' | 'silence';
  /** The data of the one event that is the whole answer. */
  readonly raw?: string;
  /** Stands in the stream in the middle of the answer, as each provider writes errors there. */
  readonly error?: { readonly [member: string]: Json };
  /** Milliseconds before it answers. */
  readonly afterMs?: number;
}

export interface ModelServer extends TestServer {
  /** The bodies of the requests, in order. */
  asked(): Asked[];
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into requests of three protocols.
export type Asked = any;

export const TOKENS = { input: 100, output: 20, cached: 40 };

export async function modelServer(script: readonly Said[] | ((asked: Asked, n: number) => Said)): Promise<ModelServer> {
  let n = 0;
  const server = await serve((seen, response) => {
    const asked = JSON.parse(seen.body) as Asked;
    const said = typeof script === 'function' ? script(asked, n) : script[Math.min(n, script.length - 1)]!;
    n++;
    setTimeout(() => answer(seen, said, response), said.afterMs ?? 0);
  });
  return { ...server, asked: () => server.seen.map(({ body }) => JSON.parse(body) as Asked) };
}

function answer(seen: Seen, said: Said, response: ServerResponse): void {
  if (said.status !== undefined) {
    response.writeHead(said.status, { 'content-type': 'application/json', ...said.headers });
    response.end(JSON.stringify({ error: { message: `status ${said.status}`, type: 'error' } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = seen.url.includes('/chat/completions')
    ? openai(said)
    : seen.url.includes('/messages')
      ? anthropic(said)
      : google(said);
  const { error, raw } = said;
  if (raw !== undefined) {
    response.end(`data: ${raw}\n\n`);
    return;
  }
  // So many hold the first half of a text.
  const half = seen.url.includes('/messages') ? 3 : 2;
  const told = said.cut === undefined && error === undefined ? events : events.slice(0, half);
  if (error !== undefined) told.push(['error', { type: 'error', error }]);
  for (const [type, data] of told)
    response.write(`${type === '' ? '' : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`);
  if (said.cut === 'connection') setTimeout(() => response.destroy(), 20);
  else if (said.cut === 'stream') response.end();
  else if (said.cut === undefined) response.end(seen.url.includes('/chat/completions') ? 'data: [DONE]\n\n' : '');
}

type Events = [type: string, data: Json][];

function openai({ text = '', calls = [], finish }: Said): Events {
  const chunk = (delta: Json, finish: string | null): Json => ({
    id: 'chat-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  return [
    ['', chunk({ role: 'assistant', content: '' }, null)],
    ...halves(text).map((content): Events[number] => ['', chunk({ content }, null)]),
    ...calls.map(({ id, name, input }, index): Events[number] => [
      '',
      chunk(
        { tool_calls: [{ index, id, type: 'function', function: { name, arguments: JSON.stringify(input) } }] },
        null,
      ),
    ]),
    ['', chunk({}, finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'))],
    [
      '',
      {
        id: 'chat-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [],
        usage: {
          prompt_tokens: TOKENS.input,
          completion_tokens: TOKENS.output,
          total_tokens: TOKENS.input + TOKENS.output,
          prompt_tokens_details: { cached_tokens: TOKENS.cached },
        },
      },
    ],
  ];
}

function anthropic({ text = '', calls = [], finish }: Said): Events {
  const block = (index: number, start: Json, deltas: readonly Json[]): Events => [
    ['content_block_start', { type: 'content_block_start', index, content_block: start }],
    ...deltas.map((delta): Events[number] => ['content_block_delta', { type: 'content_block_delta', index, delta }]),
    ['content_block_stop', { type: 'content_block_stop', index }],
  ];
  return [
    [
      'message_start',
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: {
            input_tokens: TOKENS.input - TOKENS.cached,
            cache_read_input_tokens: TOKENS.cached,
            cache_creation_input_tokens: 0,
            output_tokens: 1,
          },
        },
      },
    ],
    ...(text === ''
      ? []
      : block(
          0,
          { type: 'text', text: '' },
          halves(text).map((part) => ({ type: 'text_delta', text: part })),
        )),
    ...calls.flatMap(({ id, name, input }, i) =>
      block(i + 1, { type: 'tool_use', id, name, input: {} }, [
        { type: 'input_json_delta', partial_json: JSON.stringify(input) },
      ]),
    ),
    [
      'message_delta',
      {
        type: 'message_delta',
        delta: { stop_reason: finish ?? (calls.length > 0 ? 'tool_use' : 'end_turn'), stop_sequence: null },
        usage: { output_tokens: TOKENS.output },
      },
    ],
    ['message_stop', { type: 'message_stop' }],
  ];
}

function google({ text = '', calls = [], finish: ended = 'STOP' }: Said): Events {
  const chunk = (parts: readonly Json[], finish?: string): Json => ({
    candidates: [
      {
        content: { role: 'model', parts: [...parts] },
        index: 0,
        ...(finish === undefined ? {} : { finishReason: finish }),
      },
    ],
    usageMetadata: {
      promptTokenCount: TOKENS.input,
      cachedContentTokenCount: TOKENS.cached,
      candidatesTokenCount: TOKENS.output,
      totalTokenCount: TOKENS.input + TOKENS.output,
    },
    modelVersion: 'm',
  });
  return [
    ...halves(text).map((part): Events[number] => ['', chunk([{ text: part }])]),
    [
      '',
      chunk(
        calls.map(({ name, input }) => ({ functionCall: { name, args: input } })),
        ended,
      ),
    ],
  ];
}

function halves(text: string): string[] {
  if (text.length < 2) return text === '' ? [] : [text];
  return [text.slice(0, text.length / 2), text.slice(text.length / 2)];
}
