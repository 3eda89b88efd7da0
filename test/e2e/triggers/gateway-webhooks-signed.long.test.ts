// Deliveries that are signed: whose they are, and that each is taken once.

import { createHmac } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { startGateway } from '../../../src/gateway/serve.ts';
import type { Json } from '../../../src/json/json.ts';
import { githubExamples } from '../../gateway/github-examples.ts';
import { echoDefinition, requestTo, sharedGateway, unique } from '../gateway/gateway-support.ts';
import { github, hookedAt, type Members, outputOf } from './webhook-support.ts';

const gateway = sharedGateway();

/** Every payload of a history as text. */
function textsOf(value: unknown): string[] {
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('utf8')];
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

describe('webhooks of senders who sign', () => {
  it('start runs of real GitHub deliveries, each once', async () => {
    const { slug, path } = await hookedAt(
      gateway,
      { scheme: 'github', secret: 'canary-github' },
      {
        variableMapping: {
          repository: '$.repository.full_name',
          event: '{{ headers["x-github-event"] }}',
          signature: '{{ headers["x-hub-signature-256"] }}',
        },
      },
    );
    const push = githubExamples.find((event) => event.name === 'push')!.examples[0]!;
    const body = JSON.stringify(push);
    const delivery = crypto.randomUUID();
    const first = await gateway.request('POST', `/webhooks/${path}`, {
      text: body,
      headers: github('canary-github', body, delivery),
    });
    expect(first).toMatchObject({ status: 202, body: { status: 'pending' } });
    expect(await outputOf(gateway, first)).toEqual({
      repository: (push['repository'] as { full_name: string }).full_name,
      event: 'push',
      signature: null,
    });
    const replayed = await gateway.request('POST', `/webhooks/default/${path}`, {
      text: body,
      headers: github('canary-github', body, delivery),
    });
    expect(replayed).toMatchObject({ status: 200, body: { executionId: first.body.executionId } });
    // The id is not signed: whoever has seen a delivery could send it again under another.
    const renamed = await gateway.request('POST', `/webhooks/${path}`, {
      text: body,
      headers: github('canary-github', body, crypto.randomUUID()),
    });
    expect(renamed).toMatchObject({ status: 200, body: { executionId: first.body.executionId } });
    const { 'x-github-delivery': _id, ...without } = github('canary-github', body, delivery);
    const nameless = await gateway.request('POST', `/webhooks/${path}`, { text: body, headers: without });
    expect(nameless).toMatchObject({ status: 200, body: { executionId: first.body.executionId } });
    const other = JSON.stringify({ ...push, after: 'another' });
    const next = await gateway.request('POST', `/webhooks/${path}`, {
      text: other,
      headers: github('canary-github', other, crypto.randomUUID()),
    });
    expect(next.status).toBe(202);
    expect(next.body.executionId).not.toBe(first.body.executionId);
    const read = await gateway.request('GET', `/api/executions/${first.body.executionId}`);
    const metadata = { path, deliveryId: delivery };
    expect(read.body.trigger).toEqual({ type: 'webhook', id: `${slug}.in`, name: 'in', metadata });

    const forged = await gateway.request('POST', `/webhooks/${path}`, {
      text: `${body} `,
      headers: github('canary-github', body, crypto.randomUUID()),
    });
    expect(forged).toMatchObject({ status: 401, body: { code: 'signature_invalid' } });
    const bare = await gateway.request('POST', `/webhooks/${path}`, { text: body });
    expect(bare).toMatchObject({ status: 401, body: { code: 'signature_missing' } });
    const noJson = 'not json';
    const odd = await gateway.request('POST', `/webhooks/${path}`, {
      text: noJson,
      headers: github('canary-github', noJson, crypto.randomUUID()),
    });
    expect(odd).toMatchObject({ status: 400, body: { code: 'invalid_json' } });

    const shown = await gateway.request('GET', `/api/workflows/${slug}`);
    expect(JSON.stringify(shown.body)).not.toContain('canary-github');
    const actor = gateway.server.client.workflow.getHandle('org.default');
    const kept = [...textsOf(await actor.fetchHistory()), JSON.stringify(await actor.describe())].join('\n');
    expect(kept).toContain(`workflows/${slug}/triggers/in/secret`);
    expect(kept).not.toContain('canary-github');
  });

  it('start one run for repeated bytes, also concurrently, after a restart, and until the window is over', async () => {
    const day = 24 * 60 * 60 * 1000;
    const secret = 'that of the sender';
    const hex = (text: string) => createHmac('sha256', secret).update(text).digest('hex');
    const cases: [config: Members, windowMs: number][] = [
      [{ scheme: 'github' }, day],
      [{ scheme: 'github', replayWindow: '1h' }, day / 24],
      [{ scheme: 'hmac' }, 5 * 60 * 1000],
      [{ scheme: 'hmac', replayWindow: '2h' }, day / 12],
    ];
    for (const [config, windowMs] of cases) {
      const { path } = await hookedAt(gateway, { secret, ...config });
      const text = JSON.stringify({ of: path });
      const headers = (): Record<string, string> =>
        config['scheme'] === 'github' ? github(secret, text, crypto.randomUUID()) : { 'x-signature': hex(text) };
      const send = (more = '') => gateway.request('POST', `/webhooks/${path}${more}`, { text, headers: headers() });
      const at = Date.now();
      const answers = await Promise.all(Array.from({ length: 8 }, () => send()));
      expect(answers.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 202]);
      const [{ executionId }] = answers.map(({ body }) => body);
      expect(new Set(answers.map(({ body }) => body.executionId)).size).toBe(1);
      // What is not signed makes no other delivery of it.
      expect(await send('?shop=x')).toMatchObject({ status: 200, body: { executionId } });
      // The time of this process alone: the gateway's.
      vi.useFakeTimers({ toFake: ['Date'] });
      try {
        vi.setSystemTime(at + windowMs - 5_000);
        expect(await send()).toMatchObject({ status: 200, body: { executionId } });
        vi.setSystemTime(at + windowMs + 5_000);
        const later = await send();
        expect(later.status, JSON.stringify(config)).toBe(202);
        expect(later.body.executionId).not.toBe(executionId);
      } finally {
        vi.useRealTimers();
      }
    }
    const { path } = await hookedAt(gateway, { scheme: 'github', secret });
    const text = JSON.stringify({ of: path });
    const first = await gateway.request('POST', `/webhooks/${path}`, { text, headers: github(secret, text, 'a') });
    const again = await startGateway(gateway.server.config, { temporal: gateway.server });
    const replayed = await requestTo(again.url, 'POST', `/webhooks/${path}`, {
      text,
      headers: github(secret, text, 'b'),
    });
    await again.close();
    expect(replayed).toMatchObject({ status: 200, body: { executionId: first.body.executionId } });
  });

  it('take both secrets while rotating', async () => {
    const { path } = await hookedAt(gateway, { scheme: 'github', secrets: ['old one', 'new one'] });
    for (const secret of ['old one', 'new one']) {
      const answer = await gateway.request('POST', `/webhooks/${path}`, {
        text: `{"by":"${secret}"}`,
        headers: github(secret, `{"by":"${secret}"}`, crypto.randomUUID()),
      });
      expect(answer.status).toBe(202);
    }
  });

  it('go on with their secret where a write that brings another is refused', async () => {
    const { slug, path } = await hookedAt(gateway, { scheme: 'github', secret: 'the secret that counts' });
    const other = await hookedAt(gateway, { scheme: 'none' });
    const brings = (config: Members): Members[] => [
      { name: 'in', type: 'webhook', config: { scheme: 'github', secret: 'one that was refused', ...config } },
    ];
    const refused = async (method: string, place: string, json: Json, code: string, headers = {}) =>
      expect(await gateway.request(method, place, { json, headers })).toMatchObject({ body: { code } });
    const place = `/api/workflows/${slug}`;
    const json = echoDefinition(slug, { triggers: brings({ path }) });
    await refused('PUT', place, json, 'hash_mismatch', { 'if-match': `"sha256:${'0'.repeat(64)}"` });
    await refused('PUT', place, json, 'already_exists', { 'if-none-match': '*' });
    const taken = echoDefinition(slug, { triggers: brings({ path: other.path }) });
    await refused('PUT', place, taken, 'path_taken');
    await refused('POST', '/api/workflows/sync', { workflow: taken }, 'path_taken');
    const [trigger] = brings({ path: unique('path') });
    await refused('POST', '/api/triggers', { workflowId: slug, ...trigger }, 'trigger_exists');
    const config = { path, scheme: 'github', secret: 'one that was refused' };
    await refused('PATCH', `/api/triggers/${slug}.in`, { config }, 'trigger_of_definition');

    const own = { path: unique('path'), scheme: 'github', secret: 'the secret that counts' };
    const made = { workflowId: slug, name: 'own', type: 'webhook', config: own };
    expect((await gateway.request('POST', '/api/triggers', { json: made })).status).toBe(201);
    await refused('PATCH', `/api/triggers/${slug}.own`, { config: { ...config, path: other.path } }, 'path_taken');

    for (const live of [path, own.path]) {
      const headers = github('the secret that counts', '{}', crypto.randomUUID());
      expect((await gateway.request('POST', `/webhooks/${live}`, { text: '{}', headers })).status).toBe(202);
    }
  });

  it('start one run of a signed delivery, whatever key it is sent again with', async () => {
    const secret = 'that of the sender';
    const text = '{"paid":1}';
    const hex = (signed: string) => createHmac('sha256', secret).update(signed).digest('hex');
    const at = (ms: number) => String(Math.floor(ms / 1000));
    const now = at(Date.now());
    const signed: [scheme: string, headers: (at: string) => Record<string, string>][] = [
      ['stripe', (time) => ({ 'stripe-signature': `t=${time},v1=${hex(`${time}.${text}`)}` })],
      [
        'slack',
        (time) => ({ 'x-slack-request-timestamp': time, 'x-slack-signature': `v0=${hex(`v0:${time}:${text}`)}` }),
      ],
      ['hmac', () => ({ 'x-signature': hex(text) })],
    ];
    for (const [scheme, headersAt] of signed) {
      const { path } = await hookedAt(gateway, { scheme, secret });
      const send = (time: string, key: string) =>
        gateway.request('POST', `/webhooks/${path}`, {
          text,
          headers: { ...headersAt(time), 'idempotency-key': key },
        });
      if (scheme !== 'hmac')
        expect(await send(at(Date.now() - 301_000), 'old'), scheme).toMatchObject({
          status: 401,
          body: { code: 'signature_expired' },
        });
      const first = await send(now, 'one');
      expect(first.status, scheme).toBe(202);
      expect(await send(now, 'two'), scheme).toMatchObject({
        status: 200,
        body: { executionId: first.body.executionId },
      });
    }
  });

  it('count as repeated what comes again while its run is put off', async () => {
    const secret = 'that of GitHub';
    const config = { debounce: { seconds: 3 } };
    const { slug, path } = await hookedAt(gateway, { scheme: 'github', secret }, {}, { config });
    const text = JSON.stringify({ n: unique('n') });
    // The same delivery twice, and its bytes once more under another id.
    for (const delivery of ['one', 'one', 'two']) {
      const answer = await gateway.request('POST', `/webhooks/${path}`, {
        text,
        headers: github(secret, text, delivery),
      });
      expect(answer).toMatchObject({ status: 202, body: { debounced: true } });
    }
    const { body } = await gateway.until(`/api/triggers/${slug}.in`, ({ body }) => body.counts.started === 1, 30);
    expect(body.counts).toEqual({ started: 1, repeated: 2, debounced: 1, refused: 0 });
  });

  it('answer Slack with its challenge, and start nothing of it', async () => {
    const secret = 'that of Slack';
    const { slug, path } = await hookedAt(gateway, { scheme: 'slack', secret, headers: { 'X-Kind': '*' } });
    const send = (json: Json, headers: Record<string, string> = {}) => {
      const text = JSON.stringify(json);
      const time = String(Math.floor(Date.now() / 1000));
      const signature = createHmac('sha256', secret).update(`v0:${time}:${text}`).digest('hex');
      return gateway.request('POST', `/webhooks/${path}`, {
        text,
        headers: {
          'content-type': 'application/json',
          'x-slack-request-timestamp': time,
          'x-slack-signature': `v0=${signature}`,
          ...headers,
        },
      });
    };
    const asked = { token: 'old', type: 'url_verification', challenge: '3eZbrw1aBm2rZgRNFdxV' };
    expect(await send(asked)).toMatchObject({ status: 200, body: { challenge: asked.challenge } });
    expect(await send(asked, { 'x-slack-signature': 'v0=00' })).toMatchObject({
      status: 401,
      body: { code: 'signature_invalid' },
    });
    const event = { type: 'event_callback', event: { type: 'app_mention' }, challenge: 'no question' };
    expect((await send(event, { 'x-kind': 'event' })).status).toBe(202);
    const { body } = await gateway.until(`/api/triggers/${slug}.in`, ({ body }) => body.counts.started > 0);
    expect(body.counts).toEqual({ started: 1, repeated: 0, debounced: 0, refused: 0 });
    expect((await gateway.request('POST', `/api/triggers/${slug}.in/disable`)).status).toBe(200);
    expect((await send(asked)).status).toBe(404);
  });
});
