/** Where a message may hold secrets and callback URLs, channel by channel, when a template has made the channel. */

import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createActivities } from '../../../activities/registry.ts';
import { messageHostOf } from '../../../activities/send-message/send-message.ts';
import type { ActivityOutput } from '../../../src/contract/run/activity.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import type { SecretString } from '../../../src/template/types.ts';
import { environment, inputOf, LOOPBACK, serve, type TestServer } from '../server.ts';

const KEY = 'c4n4ryc4n4ry-key';
const URL_OF_CALLBACK = 'https://signalbox.test/callbacks/t0k3n.mac';
let receiver: TestServer;
const kept: JsonObject[] = [];

beforeAll(async () => {
  receiver = await serve((seen, response) => void response.end(seen.body));
});
afterAll(() => receiver.close());
beforeEach(() => {
  kept.length = 0;
});

async function send(config: JsonObject, secrets: readonly SecretString[]) {
  const activity = createActivities(LOOPBACK, {
    secrets: { read: async () => KEY },
    inbox: { deliver: async (_org, message) => void kept.push(message as unknown as JsonObject) },
    callbackUrl: () => URL_OF_CALLBACK,
  })['sendMessage']!;
  const input = inputOf(config, secrets);
  return environment()
    .run(activity, input)
    .then(
      (result) => ({ result: result as ActivityOutput, code: undefined, message: undefined }),
      (error: ApplicationFailure) => {
        if (!(error instanceof ApplicationFailure)) throw error;
        return { result: undefined, code: error.type, message: error.message };
      },
    );
}

const secretAt = (...path: (string | number)[]): SecretString[] => [{ path, parts: [{ secret: 'K' }] }];
const callbackAt = (...path: (string | number)[]): SecretString[] => [
  { path, parts: ['Go: ', { callback: 'wait#1', slug: 'wait' }] },
];

describe('a secret', () => {
  it.each(['inbox', 'email'])('is refused in whom a message is for: %s', async (channel) => {
    const config = { channel, to: ['ann@example.com', ''], subject: 'x', text: 'x', from: 'a@example.com' };
    const { code, message } = await send(config, secretAt('to', 1));
    expect(code).toBe('secret_not_allowed');
    expect(message).not.toContain(KEY);
    expect(message).toContain('config.to');
    expect(kept).toEqual([]);
  });

  it('is not bound by a text that looks like the URL of its host', () => {
    const secrets: SecretString[] = [{ path: ['to'], parts: ['https://allowed.test/', { secret: 'K' }] }];
    for (const channel of ['inbox', 'email', 'else'])
      expect(messageHostOf({ mail: {} })(inputOf({ channel, to: '' }, secrets))).toBeUndefined();
  });

  it('that this channel does not take goes nowhere', async () => {
    const config = { channel: 'inbox', text: 'x', headers: { 'x-key': '' } };
    expect(await send(config, secretAt('headers', 'x-key'))).toMatchObject({ code: undefined });
    expect(JSON.stringify(kept)).not.toContain(KEY);
  });

  it('whose value stands in the words by itself goes out as [secret]', async () => {
    const words = { subject: `S ${KEY}`, text: `T ${KEY}`, data: { [KEY]: [KEY] } };
    const secrets = secretAt('headers', 'x-key');
    await send({ channel: 'webhook', to: receiver.url, headers: { 'x-key': '' }, ...words }, secrets);
    expect(receiver.seen.at(-1)?.headers['x-key']).toBe(KEY);
    const told = { subject: 'S [secret]', text: 'T [secret]', data: { '[secret]': ['[secret]'] } };
    expect(JSON.parse(receiver.seen.at(-1)!.body)).toMatchObject(told);
    const slack = { channel: 'slack', to: `${receiver.url}/`, text: `T ${KEY}`, blocks: [{ text: KEY }] };
    await send(slack, [{ path: ['to'], parts: [`${receiver.url}/`, { secret: 'K' }] }]);
    expect(receiver.seen.at(-1)?.url).toBe(`/${KEY}`);
    expect(JSON.parse(receiver.seen.at(-1)!.body)).toEqual({ text: 'T [secret]', blocks: [{ text: '[secret]' }] });
    await send({ channel: 'inbox', to: [KEY, 'ann'], headers: { 'x-key': '' }, ...words }, secrets);
    expect(kept).toMatchObject([{ to: ['[secret]', 'ann'], ...told }]);
  });
});

describe('the URL of a callback', () => {
  it('reaches a webhook and Slack in the words, and stays out of the trace', async () => {
    const hook = { channel: 'webhook', to: `${receiver.url}/`, text: '', data: { deep: [''] } };
    const secrets = [...callbackAt('text'), ...callbackAt('data', 'deep', 0)];
    const { result } = await send(hook, secrets);
    const told = `Go: ${URL_OF_CALLBACK}`;
    expect(JSON.parse(receiver.seen.at(-1)!.body)).toMatchObject({ text: told, data: { deep: [told] } });
    expect(JSON.stringify(result)).not.toContain('t0k3n');
    await send({ channel: 'slack', to: `${receiver.url}/`, text: '', blocks: [{ url: '' }] }, [
      ...callbackAt('text'),
      ...callbackAt('blocks', 0, 'url'),
    ]);
    expect(JSON.parse(receiver.seen.at(-1)!.body)).toEqual({ text: told, blocks: [{ url: told }] });
  });

  it('is not kept by the inbox, only for which visit it is', async () => {
    await send({ channel: 'inbox', to: 'ann', text: '', data: { a: '' } }, [
      ...callbackAt('text'),
      ...callbackAt('data', 'a'),
    ]);
    const told = "Go: {{ callback('wait') }}";
    expect(kept).toMatchObject([{ to: ['ann'], text: told, data: { a: told }, callbacks: { wait: 'wait#1' } }]);
    expect(JSON.stringify(kept)).not.toContain('t0k3n');
  });

  it('is refused in whom a message is for', async () => {
    expect(await send({ channel: 'inbox', to: '', text: 'x' }, callbackAt('to'))).toMatchObject({
      code: 'secret_not_allowed',
    });
  });
});
