// What is refused says which member is wrong and what was expected there, also where several forms are taken.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientError } from '../../src/client/errors.ts';
import type { Problem } from '../../src/definition/document/types.ts';
import { asProblem } from '../../src/gateway/http/problem.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import { type GatewayWithoutTemporal, gatewayWithoutTemporal } from './gateway-support.ts';

let gateway: GatewayWithoutTemporal;
beforeAll(async () => {
  gateway = await gatewayWithoutTemporal();
});
afterAll(() => gateway.close());

const set: JsonObject = { stepType: 'set', config: { values: { v: 1 } } };

async function ask(method: string, path: string, json?: Json) {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    ...(json === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) }),
  });
  const body = (await response.json()) as { code: string; detail: string; problems: Problem[] };
  return { status: response.status, body };
}

it('says when to come again wherever a limit is full for a while', () => {
  const headers = { 'retry-after': expect.stringMatching(/^\d+$/) };
  for (const code of ['inbox_overflow', 'limit_reached', 'queue_full'])
    expect(asProblem(new ClientError(code, 'Not now.')), code).toMatchObject({ status: 429, options: { headers } });
});

it('says how large a body may be at its address', () => {
  const tooLarge = (limit?: number) => asProblem(Object.assign(new Error('too large'), { status: 413, limit }));
  expect(tooLarge(64 * 1024 * 1024)).toMatchObject({
    code: 'body_too_large',
    message: 'The body is larger than 64 MB, counted after decompression.',
  });
  expect(tooLarge().message).toBe('The body is larger than it may be, counted after decompression.');
});

it('answers for codes that it does not know, whatever they are named', () => {
  for (const code of ['made_up', 'constructor', '__proto__'])
    expect(asProblem(new ClientError(code, 'No.')), code).toMatchObject({ code: 'refused', message: 'No.' });
});

it.each<[string, JsonObject, [pointer: string, message: RegExp][]]>([
  ['that has no name', { steps: { a: set } }, [['/name', /"name" is missing/]]],
  [
    'with an unknown kind and unknown steps',
    { name: 'a', steps: { a: { stepType: 'sett', nextSteps: { success: 'x', error: 'y' } } } },
    [
      ['/steps/a/stepType', /no step kind/],
      ['/steps/a/nextSteps/success', /leads to 'x'/],
      ['/steps/a/nextSteps/error', /leads to 'y'/],
    ],
  ],
  [
    'with a schedule that cannot be read',
    { name: 'a', steps: { a: set }, triggers: [{ name: 't', type: 'schedule', config: { cron: '61 * * * *' } }] },
    [['/triggers/0/config/cron', /[^.]\.$/]],
  ],
  [
    'that waits for more payloads, without saying how long',
    { name: 'a', steps: { a: set }, config: { debounce: { key: 'customer' } } },
    [['/config/debounce/seconds', /the time to wait/]],
  ],
  [
    'whose runs take the place of those of their key, at once',
    { name: 'a', steps: { a: set }, config: { mode: 'restart', debounce: { key: 'customer' } } },
    [],
  ],
])('says all that is wrong with a definition %s, and nothing else', async (_which, definition, expected) => {
  const { body } = await ask('POST', '/api/workflows/validate', definition);
  const problems = expected.map(([pointer, message]) => [pointer, expect.stringMatching(message)]);
  expect(body.problems.map(({ pointer, message }) => [pointer, message])).toEqual(problems);
});

describe('what is taken in several forms', () => {
  const server = (json: Json) => ask('PUT', '/api/mcp-servers/shop', json);
  const listed = (query: string) => ask('GET', `/api/executions?${query}`);
  const bulk = (filter: Json) => ask('POST', '/api/executions/bulk', { action: 'cancel', filter });

  it.each([
    ['neither a url nor a command', () => server({}), '', /`url`.* or `command`.*not both/],
    ['a url and a command', () => server({ url: 'https://a.example', command: 'b' }), '', /not both/],
    ['a url of another scheme', () => server({ url: 'ftp://a.example' }), '/url', /http or https URL/],
    ['a command that is no text', () => server({ command: 7 }), '/command', /expected string/],
    ['arguments of a url', () => server({ url: 'https://a.example', args: [] }), '/args', /args is not known/],
    [
      'a header of another name',
      () => server({ url: 'https://a.example', headers: { 'a b': 'c' } }),
      '/headers/a b',
      /name of a header/,
    ],
    ['a bound that is no number', () => listed('duration[gte]=x'), '/duration/gte', /a number/],
    ['neither a number nor bounds', () => listed('duration=x'), '/duration', /a number/],
    ['a bound of another name', () => listed('tokens[most]=1'), '/tokens/most', /most is not known/],
    ['a bound that is no date', () => listed('started[gte]=x'), '/started/gte', /a date in ISO 8601/],
    ['neither a date nor bounds', () => listed('started=x'), '/started', /ISO 8601, or bounds/],
    ['a state that is an object', () => bulk({ state: { a: {} } }), '/filter/state/a', /string or number or boolean/],
    ['a status that is neither', () => bulk({ status: 7 }), '/filter/status', /string or array/],
  ])('says of %s what was expected, and where', async (_what, asked, pointer, message) => {
    const { status, body } = await asked();
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' });
    expect(body.problems).toEqual([{ pointer, code: expect.any(String), message: expect.stringMatching(message) }]);
    expect(body.detail).toContain(body.problems[0]?.message);
  });
});

it('answers a body of thousands of wrong names with the first of them', async () => {
  const names = Array.from({ length: 20_000 }, (_, at) => [`member${at}`, at]);
  const { status, body } = await ask('POST', '/api/triggers/manual/run', Object.fromEntries(names) as JsonObject);
  expect(status).toBe(400);
  expect(body.problems.length).toBeGreaterThan(100);
  expect(body.problems.length).toBeLessThan(1_000);
});
