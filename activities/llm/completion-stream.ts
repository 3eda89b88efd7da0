/**
 * Some servers answer with a complete `chat.completion` of OpenAI's API although a stream was requested. This file
 * converts it into the events that would have been streamed.
 */
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import { parsedJson } from '../../src/json/model-json.ts';

/** The equivalent event stream; undefined if the text is not a completion. */
export function completionToEventStream(text: string): string | undefined {
  const answer = parsedJson(text);
  if (!isObject(answer) || !Array.isArray(answer['choices'])) return undefined;
  const [first] = answer['choices'];
  if (!isObject(first) || !isObject(first['message'])) return undefined;
  const { message, finish_reason = null } = first;
  const { tool_calls: calls, ...said } = message;
  const delta = Array.isArray(calls) ? { ...said, tool_calls: calls.map(numbered) } : said;
  const common: JsonObject = { ...answer, object: 'chat.completion.chunk' };
  delete common['usage'];
  const events: JsonObject[] = [
    { ...common, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...common, choices: [{ index: 0, delta: {}, finish_reason }] },
    ...(answer['usage'] === undefined ? [] : [{ ...common, choices: [], usage: answer['usage'] }]),
  ];
  return [...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
}

const numbered = (call: Json, index: number): Json => (isObject(call) ? { index, ...call } : call);
