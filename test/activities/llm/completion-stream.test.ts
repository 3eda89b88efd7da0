/** Models whose server answers whole, although a stream was asked for. */
import { afterEach, describe, expect, it } from 'vitest';
import { completionToEventStream } from '../../../activities/llm/completion-stream.ts';
import { askModel, modelFailure } from '../llm-step.ts';
import { serve, type TestServer } from '../server.ts';

let server: TestServer;
afterEach(() => server?.close());

const COMPLETION = {
  id: 'c-1',
  object: 'chat.completion',
  created: 1,
  model: 'm-1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Sorted.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 },
};
const answering = (body: string, type?: string) =>
  serve((_seen, response) => {
    if (type !== undefined) response.setHeader('content-type', type);
    response.end(body);
  });

describe.each(['openai', 'openai-compatible'] as const)('a model of %s that does not stream', (provider) => {
  it.each([['application/json; charset=utf-8'], ['text/plain'], [undefined]])('is as good: %s', async (type) => {
    server = await answering(JSON.stringify(COMPLETION), type);
    expect(await askModel(server, {}, { entry: { provider } })).toMatchObject({
      data: 'Sorted.',
      meta: { usage: { input_tokens: 12, output_tokens: 3 } },
    });
    expect(server.seen).toHaveLength(1);
    expect(JSON.parse(server.seen[0]!.body)).toMatchObject({ stream: true });
  });

  it.each([
    ['{"error": "no model here"}', 'application/json'],
    ['{"error": "no model here"}', undefined],
    ['{"choices": []}', 'text/plain'],
  ])('is not tried again where it is no answer: %s', async (body, type) => {
    server = await answering(body, type);
    expect(await modelFailure(server, {}, { entry: { provider } })).toMatchObject({
      type: 'model_answer',
      nonRetryable: true,
    });
  });
});

it('keeps the calls of tools apart, and leaves what is no answer', () => {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{"a":1}' } });
  const message = { role: 'assistant', content: null, tool_calls: [call('1'), call('2')] };
  const stream = completionToEventStream(JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] }))!;
  const events = stream
    .trimEnd()
    .split('\n\n')
    .map((line) => line.replace(/^data: /, ''));
  expect(events.at(-1)).toBe('[DONE]');
  expect(JSON.parse(events[0]!)).toMatchObject({
    choices: [
      {
        delta: {
          tool_calls: [
            { index: 0, id: '1' },
            { index: 1, id: '2' },
          ],
        },
        finish_reason: null,
      },
    ],
  });
  expect(JSON.parse(events[1]!)).toMatchObject({ choices: [{ delta: {}, finish_reason: 'tool_calls' }] });
  for (const text of ['', '[]', 'data: {}', '{"choices": 7}', '{"choices": [{"delta": {}}]}'])
    expect(completionToEventStream(text)).toBeUndefined();
});
