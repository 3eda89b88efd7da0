import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { expect, it } from 'vitest';
import { callModel } from '../../../activities/llm/model-call.ts';
import type { ActivityContext } from '../../../activities/runtime/wrap-activity.ts';
import type { Json } from '../../../src/json/json.ts';
import { inputOf } from '../server.ts';

const PARTS = 500;
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

it('reports the progress of an answer on request, and not with each chunk', async () => {
  const parts = Array.from({ length: PARTS }, () => ({ type: 'text-delta', id: 't', delta: 'word ' }) as const);
  const model = new MockLanguageModelV3({
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: 'stream-start', warnings: [] },
          { type: 'text-start', id: 't' },
          ...parts,
          { type: 'text-end', id: 't' },
          { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
        ],
      }),
    }),
  });
  let scrubbed = 0;
  let progress: () => Json = () => null;
  const context: ActivityContext = {
    signal: new AbortController().signal,
    input: inputOf({}),
    attempt: 1,
    isLocal: false,
    scrub: {
      text: (text) => text,
      json: (value) => value,
      jsonInSlices: async (value) => value,
      beginning: (text) => {
        scrubbed++;
        return text.slice(0, -1);
      },
    },
    scrubSecrets: { json: (value) => value },
    callbacks: [],
    secret: async () => '',
    progress: (detail) => {
      progress = detail;
    },
  };
  const entry = { name: 'house', provider: 'openai', model: 'm-1', updatedAt: '' } as const;
  const answer = await callModel({ entry, model }, { messages: [{ role: 'user', content: 'Go.' }] }, context);
  expect(answer.text).toBe('word '.repeat(PARTS));
  expect(scrubbed).toBe(0);
  expect(progress()).toEqual({ characters: 5 * PARTS, tail: 'word '.repeat(41).slice(-201, -1) });
});
