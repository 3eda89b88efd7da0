import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

/** The worker starts before the gateway has a port: callers in these tests put the real one in its place. */
const PUBLIC = 'http://callbacks.example';

let gateway: TestGateway;
/** The HTTP peer: records its requests, and may call back before it answers. */
let outside: Server;
let outsideUrl: string;
let told: { url: string }[] = [];
let beforeAnswer: (callback: string) => Promise<void> = async () => {};

beforeAll(async () => {
  outside = createServer((req, res) => {
    let text = '';
    req.on('data', (chunk) => {
      text += chunk;
    });
    req.on('end', async () => {
      const { url } = JSON.parse(text) as { url: string };
      told.push({ url });
      await beforeAnswer(pathOf(url));
      res.setHeader('content-type', 'application/json').end(JSON.stringify({ echo: url }));
    });
  });
  await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
  outsideUrl = `http://127.0.0.1:${(outside.address() as AddressInfo).port}/`;
  gateway = await testGateway({
    SIGNALBOX_PUBLIC_URL: PUBLIC,
    SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789',
    SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8',
  });
});
afterAll(async () => {
  await gateway.close();
  outside.close();
});
beforeEach(() => {
  told = [];
  beforeAnswer = async () => {};
});

const pathOf = (url: string): string => url.replace(PUBLIC, '');

/** Sends the URL out, waits for the call, and ends with what was in it. */
function definition(
  slug: string,
  waiting: { [member: string]: Json },
  then: 'end' | 'listen',
): { [member: string]: Json } {
  return {
    name: 'Asks outside',
    slug,
    steps: {
      send: {
        stepType: 'http',
        config: { method: 'POST', url: outsideUrl, body: { url: "{{ callback('wait') }}" } },
        nextSteps: { success: 'wait' },
      },
      wait: {
        name: 'Is it <done>?',
        stepType: 'wait_callback',
        config: waiting,
        nextSteps: { received: then, timeout: 'late' },
      },
      listen: { stepType: 'listen', config: { name: 'go' }, nextSteps: { received: 'end' } },
      end: { stepType: 'finish', config: { output: '{{ steps.wait.output.data }}' } },
      late: { stepType: 'finish', config: { output: 'late' } },
    },
  };
}

async function start(waiting: { [member: string]: Json } = {}, then: 'end' | 'listen' = 'end'): Promise<string> {
  const slug = unique('asks-outside');
  const { status, body } = await gateway.request('POST', '/api/executions', {
    json: { definition: definition(slug, waiting, then), input: { kind: 'string' } },
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.executionId;
}

/** A run that waits, and the path of its callback. */
async function waiting(
  config: { [member: string]: Json } = {},
  then: 'end' | 'listen' = 'end',
): Promise<{ id: string; callback: string }> {
  const id = await start(config, then);
  await gateway.until(`/api/executions/${id}`, ({ body }) => body.waitingFor?.[0]?.kind === 'callback', 30);
  return { id, callback: pathOf(told.at(-1)!.url) };
}

async function outputOf(id: string): Promise<Json> {
  const { body } = await gateway.request('GET', `/api/executions/${id}/result?wait=30`);
  expect(body.status, JSON.stringify(body)).toBe('completed');
  return body.output;
}

const form = (text: string) => ({ text, headers: { 'content-type': 'application/x-www-form-urlencoded' } });

describe('a callback', () => {
  it('ends the step that waits for it; a second one changes nothing, and after the run it is gone', async () => {
    const { id, callback } = await waiting();
    const answer = await gateway.request('POST', callback, { json: { done: true } });
    expect(answer).toMatchObject({ status: 202, body: { accepted: true } });
    expect(await outputOf(id)).toEqual({ done: true });
    const late = await gateway.request('POST', callback, { json: { done: false } });
    expect(late).toMatchObject({ status: 410, body: { code: 'gone' } });
  });

  it('that is repeated while the run continues does not pile up', async () => {
    const { id, callback } = await waiting({}, 'listen');
    const call = (json: Json) => gateway.request('POST', callback, { json });
    const answers = [await call(1), await call(1), await call(2)];
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    const handle = gateway.server.client.workflow.getHandle(id);
    await gateway.until(`/api/executions/${id}`, ({ body }) => body.waitingFor?.[0]?.kind === 'message');
    expect(await handle.query<{ unread: number }>('status')).toMatchObject({ unread: 0 });
    await gateway.request('POST', `/api/executions/${id}/messages/go`, { json: {} });
    expect(await outputOf(id)).toBe(1);
  });

  it('may come before the step waits', async () => {
    beforeAnswer = async (callback) => {
      expect((await gateway.request('PUT', callback, { json: 'early' })).status).toBe(202);
    };
    expect(await outputOf(await start())).toBe('early');
  });

  it.each([
    ['a form', form('a=1&b=x&b=y'), { a: '1', b: ['x', 'y'] }],
    ['text', { text: 'all done', headers: { 'content-type': 'text/plain' } }, 'all done'],
    ['nothing', {}, null],
  ])('takes %s', async (_what, options, output) => {
    const { id, callback } = await waiting();
    expect((await gateway.request('POST', callback, options)).status).toBe(202);
    expect(await outputOf(id)).toEqual(output);
  });

  it.each([
    ['that stands in the definition', { ok: 'boolean' }],
    ['that is made when the step begins', { ok: { type: 'boolean', description: 'For {{ input.kind }}' } }],
  ])('is refused where it does not fit a schema %s', async (_which, schema) => {
    const { id, callback } = await waiting({ schema });
    const wrong = await gateway.request('POST', callback, { json: { ok: 'maybe' } });
    expect(wrong).toMatchObject({ status: 422, body: { code: 'invalid_callback', problems: [{ pointer: '/ok' }] } });
    expect((await gateway.request('POST', callback, form('ok=true'))).status).toBe(202);
    expect(await outputOf(id)).toEqual({ ok: true });
  });

  it('is taken by the methods of the step only', async () => {
    const { id, callback } = await waiting({ methods: ['GET', 'PATCH'] });
    const wrong = await gateway.request('POST', callback, { json: {} });
    expect(wrong).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect(wrong.headers.get('allow')).toBe('GET, PATCH');
    expect((await gateway.request('HEAD', callback)).status).toBe(200);
    expect((await gateway.request('GET', `${callback}?answer=yes`)).status).toBe(202);
    expect(await outputOf(id)).toEqual({ answer: 'yes' });
  });

  it('can be made by a person, with a form', async () => {
    const { id, callback } = await waiting({ schema: { count: { type: 'number', description: 'How "many"' } } });
    const page = await gateway.request('GET', callback);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(page.body).toContain('Is it &lt;done&gt;?');
    expect(page.body).toContain('<label for="field-0">Count</label>\n<small>How &quot;many&quot;</small>\n');
    expect(page.body).toMatch(/<input [^>]*name="count" type="number"/);
    const sent = form('count=3');
    const thanks = await gateway.request('POST', callback, {
      ...sent,
      headers: { ...sent.headers, accept: 'text/html' },
    });
    expect(thanks.status).toBe(202);
    expect(thanks.body).toContain('Thank you');
    expect(await outputOf(id)).toEqual({ count: 3 });
  });

  it('asks people by the form again for what does not fit, and keeps what they typed', async () => {
    const { id, callback } = await waiting({
      schema: {
        type: 'object',
        description: 'Tell us about the <parcel>.',
        required: ['state', 'whole', 'count'],
        properties: {
          state: { title: 'State', enum: ['here', 'lost'], description: 'Where it is' },
          whole: { type: 'boolean', title: 'Is it whole?' },
          count: { type: 'integer' },
          note: { type: 'string' },
        },
      },
    });
    const page = await gateway.request('GET', callback);
    expect(page.body).toContain('<p>Tell us about the &lt;parcel&gt;.</p>');
    expect(page.body).toContain('<label for="field-0">State</label>\n<small>Where it is</small>\n<select');
    // Nothing is chosen for anybody.
    expect(page.body).toMatch(
      /<select [^>]*name="state" required><option value=""><\/option><option value="here">here<\/option>/,
    );
    expect(page.body).toMatch(/<select [^>]*name="whole" required><option value=""><\/option><option value="true">yes/);
    expect(page.body).not.toContain('selected');

    const person = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };
    const again = await gateway.request('POST', callback, {
      text: 'state=lost&whole=&count=two&note=%3Cb%3Eold',
      headers: person,
    });
    expect(again.status).toBe(422);
    expect(again.headers.get('content-type')).toContain('text/html');
    expect(again.body).toContain('<option value="lost" selected>');
    expect(again.body).toMatch(/name="count" type="text" value="two" required aria-invalid="true"/);
    expect(again.body).toContain('value="&lt;b&gt;old"');
    expect(again.body).toMatch(/<p class="error" id="field-1-error">[^<]*missing/);
    expect(again.body).toMatch(/<p class="error" id="field-2-error">/);

    // Programs get the problems, of the same form too.
    const program = await gateway.request('POST', callback, form('state=lost&whole=&count=two'));
    expect(program).toMatchObject({ status: 422, body: { code: 'invalid_callback' } });
    expect(program.body.problems.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
      '/count',
      '/whole',
    ]);

    const thanks = await gateway.request('POST', callback, {
      text: 'state=lost&whole=false&count=2&note=',
      headers: person,
    });
    expect(thanks.status).toBe(202);
    expect(await outputOf(id)).toEqual({ state: 'lost', whole: false, count: 2, note: '' });
    const late = await gateway.request('GET', callback, { headers: { accept: 'text/html' } });
    expect(late.status).toBe(410);
    expect(late.headers.get('content-type')).toContain('text/html');
    expect(late.body).toContain('The execution that waited for this callback has ended.');
  });

  it('is not waited for longer than the timeout', async () => {
    const { id } = await waiting({ timeout: 300 });
    expect(await outputOf(id)).toBe('late');
  });

  it('cannot be forged, and a bad token tells nothing', async () => {
    const { callback } = await waiting();
    const token = callback.slice('/callbacks/'.length);
    const [body = '', mac = ''] = token.split('.');
    const [executionId, path] = JSON.parse(Buffer.from(body, 'base64url').toString()) as [string, string];
    const other = Buffer.from(JSON.stringify([executionId, `${path}#2`, 'wait'])).toString('base64url');
    const otherMac = `${mac.startsWith('A') ? 'B' : 'A'}${mac.slice(1)}`;
    const forged = [`${other}.${mac}`, `${body}.${otherMac}`, body, `${body}.`, '%00', 'x'.repeat(3_000)];
    const answers = await Promise.all(forged.map((one) => gateway.request('POST', `/callbacks/${one}`, { json: {} })));
    for (const answer of answers) {
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual(answers[0]?.body);
    }
  });

  it('comes from its URL alone, not from the route of messages', async () => {
    const { id } = await waiting();
    const name = encodeURIComponent('callback:wait');
    const answer = await gateway.request('POST', `/api/executions/${id}/messages/${name}`, { json: { done: true } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_name' } });
  });

  it('has a URL that stands nowhere in the run', async () => {
    const { id, callback } = await waiting();
    const token = callback.slice('/callbacks/'.length);
    const { body: steps } = await gateway.request('GET', `/api/executions/${id}/steps`);
    expect(steps.items[0].input.body).toEqual({ url: '[callback wait]' });
    expect(steps.items[0].output.data).toEqual({ echo: '[secret]' });
    const history = textOf(await gateway.server.client.workflow.getHandle(id).fetchHistory());
    expect(history).toContain('[callback wait]');
    expect(history).not.toContain(token.slice(-20));
  });
});

/** All payloads of a history as text; as JSON it has them in base64. */
function textOf(history: unknown): string {
  return JSON.stringify(history).replaceAll(/"data":"([A-Za-z0-9+/=]*)"/g, (_all, data: string) =>
    Buffer.from(data, 'base64').toString(),
  );
}
