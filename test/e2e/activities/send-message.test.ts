/** Runs that send messages: what arrives, what the trace says, and the inbox as the gateway shows it. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliverToInbox } from '../../../src/client/organization/inbox-messages.ts';
import type { Definition } from '../../../src/definition/document/types.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { type TestServer as HttpServer, serve } from '../../activities/server.ts';
import { writeAccess } from '../../support/temporal.ts';
import { type Mailbox, mailbox } from '../access/mailbox.ts';
import { type TestGateway, testGateway } from '../gateway/gateway-support.ts';
import { startRun } from '../runs/run-support.ts';
import { unpacked } from './canary-search.ts';

/** The gateway's port is picked after the worker has started; this stands for it. */
const PUBLIC = 'http://signalbox.test';
let gateway: TestGateway;
let receiver: HttpServer;
let refusals = 0;
let box: Mailbox;

beforeAll(async () => {
  receiver = await serve((_seen, response) => {
    response.writeHead(refusals-- > 0 ? 503 : 200).end('ok');
  });
  box = await mailbox();
  gateway = await testGateway({
    SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8',
    SIGNALBOX_PUBLIC_URL: PUBLIC,
    SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789',
    // An inbox that holds a few messages continues as new.
    SIGNALBOX_HISTORY_LIMIT: '20',
    SIGNALBOX_SMTP_URL: box.url,
    SIGNALBOX_MAIL_FROM: 'Signalbox <signalbox@example.com>',
  });
});
afterAll(async () => {
  await gateway.close();
  await receiver.close();
  await box.close();
});

const sending = (config: JsonObject, more: JsonObject = {}): Definition => ({
  name: 'Tell',
  slug: 'tell',
  config: { secrets: { HOOK: 'send-message/hook' } },
  steps: { tell: { stepType: 'send_message', config, ...more } },
});

describe('a run that sends a message', () => {
  it('reaches a webhook with one id through all attempts, by a secret that is bound to its host', async () => {
    const { port } = new URL(receiver.url);
    await gateway.request('PUT', '/api/secrets/send-message%2Fhook', {
      json: { value: 'c4n4ry-hook', allowedHosts: [`127.0.0.1:${port}`] },
    });
    refusals = 2;
    const handle = await startRun(
      gateway.server,
      sending(
        { channel: 'webhook', to: `${receiver.url}/{{ secrets.HOOK }}`, text: 'Order {{ input.order }}' },
        { retry: { initialInterval: '10ms' } },
      ),
      { input: { order: 7 } },
    );
    const result = await handle.result();
    expect(receiver.seen.map(({ url }) => url)).toEqual(Array(3).fill('/c4n4ry-hook'));
    expect(new Set(receiver.seen.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(JSON.parse(receiver.seen[0]!.body)).toMatchObject({ text: 'Order 7' });
    expect(result).toEqual({ id: receiver.seen[0]!.headers['webhook-id'], channel: 'webhook', status: 200 });

    const elsewhere = await startRun(
      gateway.server,
      sending({ channel: 'webhook', to: 'https://api.example.com/{{ secrets.HOOK }}', text: 'x' }),
    );
    await expect(elsewhere.result()).rejects.toMatchObject({ cause: { type: 'secret_not_allowed' } });
  });

  it('sends an e-mail over the host’s server', async () => {
    const handle = await startRun(
      gateway.server,
      sending({ channel: 'email', to: 'ann@example.com', subject: 'Paid', text: 'Thanks' }),
    );
    expect(await handle.result()).toMatchObject({ channel: 'email', accepted: ['ann@example.com'] });
    expect(box.mails).toHaveLength(1);
    expect(box.mails[0]).toContain('From: Signalbox <signalbox@example.com>');
  });

  it('is refused before it runs when its config cannot be right', async () => {
    const { body } = await gateway.request('POST', '/api/workflows/validate', {
      json: sending({
        channel: 'slack',
        to: 'https://hooks.slack.com/x',
        text: '{{ secrets.HOOK }}',
        html: '<b>',
      }) as never,
    });
    expect(body.valid).toBe(false);
    expect(body.problems.map(({ pointer }: { pointer: string }) => pointer)).toContain('/steps/tell/config/html');
  });
});

describe('the inbox', () => {
  const tell = async (to: string[], text: string) => {
    const handle = await startRun(gateway.server, sending({ channel: 'inbox', to, subject: 'News', text }));
    return (await handle.result()) as { id: string };
  };

  it('lists what runs sent to people, the newest first, page by page, also after it has continued as new', async () => {
    const sent: string[] = [];
    for (let i = 0; i < 9; i++) sent.unshift((await tell(i % 2 === 0 ? ['ann'] : ['role:finance'], `no. ${i}`)).id);
    const { body } = await gateway.request('GET', '/api/inbox?limit=5');
    const rest = await gateway.request('GET', `/api/inbox?limit=5&cursor=${body.nextCursor}`);
    const items = [...body.items, ...rest.body.items];
    expect(items.map(({ id }) => id)).toEqual(sent);
    expect(items[0]).toMatchObject({ to: ['ann'], subject: 'News', text: 'no. 8', stepSlug: 'tell' });
    expect(rest.body.nextCursor).toBeUndefined();
    const own = await gateway.request('GET', '/api/inbox?to=ann');
    expect(own.body.items).toHaveLength(5);
    const description = await gateway.server.client.workflow.getHandle('inbox.default').describe();
    expect(description.raw.workflowExecutionInfo?.firstRunId).not.toBe(description.runId);
  });

  it('lets go of a message for good', async () => {
    const { id } = await tell([], 'For everybody');
    expect((await gateway.request('DELETE', `/api/inbox/${id}`)).status).toBe(204);
    const { body } = await gateway.request('GET', '/api/inbox');
    expect(body.items.some((message: { id: string }) => message.id === id)).toBe(false);
    expect((await gateway.request('DELETE', `/api/inbox/${id}`)).status).toBe(404);
    expect((await gateway.request('DELETE', '/api/inbox/else')).status).toBe(400);
  });

  it('takes a message once, however often an attempt hands it over', async () => {
    const held = writeAccess(gateway.server);
    const message = {
      id: `msg_${'0a'.repeat(16)}`,
      to: ['ann'],
      text: 'Once',
      executionId: 'run.default.x',
      stepSlug: 'a',
    };
    await Promise.all([1, 2, 3].map(() => deliverToInbox(held, 'default', message)));
    await deliverToInbox(held, 'default', { ...message, text: 'Otherwise' });
    const { body } = await gateway.request('GET', '/api/inbox');
    expect(body.items.filter(({ id }: { id: string }) => id === message.id)).toMatchObject([{ text: 'Once' }]);
  });

  it('takes no message that is too large', async () => {
    const handle = await startRun(gateway.server, sending({ channel: 'inbox', text: 'x'.repeat(70_000) }));
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'payload_too_large' } });
  });
});

describe('the URL of a callback in a message', () => {
  it('reaches the inbox of runners, ends the wait, and stands in no history', async () => {
    const definition: Definition = {
      name: 'Ask',
      slug: 'ask',
      start: 'tell',
      steps: {
        tell: {
          stepType: 'send_message',
          config: { channel: 'inbox', to: ['ann'], text: "Answer at {{ callback('answer') }} please" },
          nextSteps: { success: 'answer' },
        },
        answer: { stepType: 'wait_callback', nextSteps: { received: 'done' } },
        done: { stepType: 'finish', config: { output: '{{ steps.answer.output.data }}' } },
      },
    };
    const handle = await startRun(gateway.server, definition);
    const shown = async () => {
      const { body } = await gateway.request('GET', '/api/inbox?to=ann');
      return body.items.find((one: { executionId: string }) => one.executionId === handle.workflowId);
    };
    await expect.poll(shown).toBeDefined();
    const { text, callbacks } = await shown();
    expect(callbacks).toBeUndefined();
    const url = /^Answer at (http\S+) please$/.exec(text)?.[1] ?? '';
    const token = url.split('/').at(-1)!;
    const answered = await fetch(url.replace(PUBLIC, gateway.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"agreed": true}',
    });
    expect(answered.status).toBeLessThan(300);
    expect(await handle.result()).toEqual({ agreed: true });
    const { body: trace } = await gateway.request('GET', `/api/executions/${handle.workflowId}/steps`);
    const inbox = await gateway.server.client.workflow.getHandle('inbox.default').fetchHistory();
    const description = await gateway.server.client.workflow.getHandle('inbox.default').describe();
    for (const kept of [trace, await handle.fetchHistory(), inbox, description.raw, description.memo])
      expect(unpacked(kept)).not.toContain(token);
  });

  it('is refused as whom a message is for, with a secret, when the channel turns out to be the inbox', async () => {
    const config = { channel: '{{ input.channel }}', to: ['ann', '{{ secrets.HOOK }}'], text: 'x' };
    const handle = await startRun(gateway.server, sending(config), { input: { channel: 'inbox' } });
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'secret_not_allowed' } });
  });
});
