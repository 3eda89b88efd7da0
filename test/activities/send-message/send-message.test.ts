import { createHmac } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import { ApplicationFailure } from '@temporalio/common';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ActivityDependencies, type ActivitySettings, createActivities } from '../../../activities/registry.ts';
import { messageHostOf } from '../../../activities/send-message/send-message.ts';
import type { ActivityOutput } from '../../../src/contract/run/activity.ts';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import type { SecretString } from '../../../src/template/types.ts';
import { environment, inputOf, LOOPBACK, serve, type TestServer } from '../server.ts';

const DELIVERY = /^msg_[0-9a-f]{32}$/;
/** THREATS.md, "Test vectors". */
const STANDARD_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

interface Call {
  readonly secrets?: readonly SecretString[];
  readonly values?: { readonly [name: string]: string };
  readonly settings?: ActivitySettings;
  readonly parts?: ActivityDependencies;
}

async function send(config: JsonObject, { secrets = [], values = {}, settings = LOOPBACK, parts = {} }: Call = {}) {
  const reading = { secrets: { read: async (_org: string, name: string) => values[name] ?? '' } };
  const activity = createActivities(settings, { ...reading, ...parts })['sendMessage']!;
  const { data }: ActivityOutput = await environment().run(activity, inputOf(config, secrets));
  return data as { readonly [member: string]: Json };
}

async function failing(config: JsonObject, call: Call = {}) {
  const error = await send(config, call).then(
    (data) => Promise.reject(new Error(`It did not fail: ${JSON.stringify(data)}`)),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApplicationFailure)) throw error;
  const { type: code, nonRetryable, nextRetryDelay, message, details } = error;
  return { code, nonRetryable, nextRetryDelay, message, details, whole: `${error.stack} ${JSON.stringify(details)}` };
}

describe('a message to a webhook', () => {
  let receiver: TestServer;
  let status: number;
  beforeAll(async () => {
    receiver = await serve((_seen, response) => {
      response.setHeader('retry-after', '7');
      response.writeHead(status).end('ok');
    });
  });
  beforeEach(() => {
    status = 200;
  });
  afterAll(() => receiver.close());

  it('is a POST with the message, signed by Standard Webhooks', async () => {
    const secrets = [{ path: ['secret'], parts: [{ secret: 'SIGNING' }] }];
    const config = { channel: 'webhook', to: `${receiver.url}/in`, subject: 'Paid', text: 'Thanks', data: { n: 1 } };
    const answered = await send({ ...config, secret: '' }, { secrets, values: { SIGNING: STANDARD_SECRET } });
    const { method, url, headers, body } = receiver.seen.at(-1)!;
    expect([method, url, headers['content-type']]).toEqual(['POST', '/in', 'application/json']);
    const id = String(headers['webhook-id']);
    expect(id).toMatch(DELIVERY);
    expect(JSON.parse(body)).toEqual({ id, subject: 'Paid', text: 'Thanks', data: { n: 1 } });
    expect(answered).toEqual({ id, channel: 'webhook', status: 200 });
    const at = Number(headers['webhook-timestamp']);
    expect(Math.abs(at - Date.now() / 1_000)).toBeLessThan(30);
    const key = Buffer.from(STANDARD_SECRET.slice('whsec_'.length), 'base64');
    const expected = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${expected}`);
  });

  it('is signed with both secrets while rotating, and with none without', async () => {
    const config = { channel: 'webhook', to: receiver.url, text: 'x' };
    await send({ ...config, secret: [STANDARD_SECRET, 'any text'] });
    expect(String(receiver.seen.at(-1)?.headers['webhook-signature']).split(' ')).toHaveLength(2);
    await send(config);
    expect(receiver.seen.at(-1)?.headers['webhook-signature']).toBeUndefined();
  });

  it('keeps its id and its body when it is sent again', async () => {
    const config = { channel: 'webhook', to: receiver.url, text: 'x' };
    status = 503;
    expect(await failing(config)).toMatchObject({
      code: 'http_status',
      nonRetryable: false,
      nextRetryDelay: 7_000,
    });
    status = 200;
    await send(config);
    const [first, second] = receiver.seen.slice(-2);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
    expect(second?.body).toBe(first?.body);
  });

  it('has the headers of the step, which may be secrets', async () => {
    const secrets = [{ path: ['headers', 'x-key'], parts: [{ secret: 'KEY' }] }];
    const config = { channel: 'webhook', to: receiver.url, text: 'x', headers: { 'x-key': '' } };
    await send(config, { secrets, values: { KEY: 'hunter2hunter2' } });
    expect(receiver.seen.at(-1)?.headers['x-key']).toBe('hunter2hunter2');
  });

  it.each(['http://127.0.0.1/', 'http://2130706433/', 'http://[::ffff:7f00:1]/', 'http://169.254.169.254/'])(
    'does not go to %s',
    async (to) => {
      const settings = { ...LOOPBACK, httpAllow: [] };
      expect(await failing({ channel: 'webhook', to, text: 'x' }, { settings })).toMatchObject({
        code: 'address_not_allowed',
        nonRetryable: true,
      });
    },
  );

  it('needs a secret that can sign', async () => {
    const config = { channel: 'webhook', to: receiver.url, text: 'x', secret: 'whsec_!!' };
    const failed = await failing(config);
    expect(failed).toMatchObject({ code: 'invalid_config', nonRetryable: true });
    expect(failed.message).not.toContain('!!');
  });
});

describe('a message to Slack', () => {
  let slack: TestServer;
  beforeAll(async () => {
    slack = await serve((seen, response) => {
      const { text } = JSON.parse(seen.body) as { text?: string };
      if (text === 'unwanted') response.writeHead(400).end('invalid_payload');
      else response.end('ok');
    });
  });
  afterAll(() => slack.close());

  it('is its text under its subject, at a URL that is a secret', async () => {
    const secrets = [{ path: ['to'], parts: [`${slack.url}/services/`, { secret: 'HOOK' }] }];
    const values = { HOOK: 'T000/B000/c4n4rycanary' };
    const answered = await send({ channel: 'slack', to: '', subject: 'Paid', text: 'Thanks' }, { secrets, values });
    expect(slack.seen.at(-1)).toMatchObject({ url: '/services/T000/B000/c4n4rycanary' });
    expect(JSON.parse(slack.seen.at(-1)!.body)).toEqual({ text: '*Paid*\nThanks' });
    expect(answered).toEqual({ id: expect.stringMatching(DELIVERY), channel: 'slack', status: 200 });
    const failed = await failing({ channel: 'slack', to: '', text: 'unwanted' }, { secrets, values });
    expect(failed).toMatchObject({ code: 'http_status', nonRetryable: true });
    expect(failed.whole).toContain('invalid_payload');
    expect(failed.whole).not.toContain('c4n4ry');
  });

  it('may be blocks', async () => {
    const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: 'Hi' } }];
    await send({ channel: 'slack', to: slack.url, blocks });
    expect(JSON.parse(slack.seen.at(-1)!.body)).toEqual({ blocks });
  });
});

describe('an e-mail', () => {
  interface Mail {
    readonly from: string;
    readonly to: readonly string[];
    readonly user: string | undefined;
    readonly source: string;
    readonly secure: boolean;
  }
  const USER = { username: 'ann', password: 'c4n4ry-pass word' };
  let smtp: SMTPServer;
  let port: number;
  let mails: Mail[];

  async function listen(options: SMTPServerOptions = {}): Promise<void> {
    mails = [];
    smtp = new SMTPServer({
      authOptional: true,
      allowInsecureAuth: true,
      logger: false,
      onAuth(auth, _session, callback) {
        if (auth.password === USER.password) callback(null, { user: auth.username ?? '' });
        else callback(new Error('Wrong password'));
      },
      onRcptTo({ address }, _session, callback) {
        const refused = /^(nobody|later)@/.exec(address)?.[1];
        if (refused === undefined) callback();
        else callback(Object.assign(new Error(`no ${refused}`), { responseCode: refused === 'later' ? 451 : 550 }));
      },
      onData(stream, session, callback) {
        let source = '';
        stream.on('data', (chunk: Buffer) => {
          source += chunk.toString();
        });
        stream.on('end', () => {
          const { mailFrom, rcptTo } = session.envelope;
          mails.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            user: session.user === undefined ? undefined : String(session.user),
            source,
            secure: session.secure,
          });
          callback();
        });
      },
      ...options,
    });
    smtp.on('error', () => undefined);
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', () => resolve()));
    port = (smtp.server.address() as AddressInfo).port;
  }
  const close = (): Promise<void> => new Promise((resolve) => smtp.close(() => resolve()));
  beforeEach(() => listen());
  afterEach(close);

  const mail = (more: JsonObject = {}): JsonObject => ({
    channel: 'email',
    from: 'Signalbox <from@example.com>',
    to: 'Ann Ö <ann@example.com>, bob@example.com',
    subject: 'Paid ✓',
    text: 'Thanks, ü.',
    smtp: { host: '127.0.0.1', port, encryption: 'none' },
    ...more,
  });

  it('reaches all whom it is for, with a Message-ID made from the delivery', async () => {
    const answered = await send(mail({ cc: ['carl@example.com'], bcc: 'dora@example.com', html: '<b>Thanks</b>' }));
    const [{ from, to, source }] = mails as [Mail];
    expect([from, to]).toEqual([
      'from@example.com',
      ['ann@example.com', 'bob@example.com', 'carl@example.com', 'dora@example.com'],
    ]);
    expect(source).toContain('multipart/alternative');
    expect(source).not.toContain('dora');
    const id = String(answered['id']);
    expect(id).toMatch(DELIVERY);
    expect(source).toContain(`Message-ID: <${id}@example.com>`);
    expect(source).toContain(`X-Signalbox-Delivery: ${id}`);
    expect(answered).toMatchObject({ channel: 'email', accepted: to, rejected: [], messageId: `<${id}@example.com>` });
    await send(mail());
    expect(mails[1]?.source).toContain(`Message-ID: <${id}@example.com>`);
  });

  it.each<[string, JsonObject]>([
    ['nobody', { to: null }],
    ['an empty list', { to: [] }],
    ['two addresses without a comma', { to: 'ann@example.com bob@example.com' }],
    ['an address with another one as its name', { to: 'bob@example.com <ann@example.com>' }],
    ['two addresses in brackets', { to: '<ann@example.com> <bob@example.com>' }],
    ['several lines', { to: 'ann@example.com\r\nBcc: eve@example.com' }],
    ['several lines in a list', { to: ['ann@example.com', 'bob@example.com\nX: y'] }],
    ['several lines in cc', { cc: 'ann@example.com\r\nBcc: eve@example.com' }],
    ['a name with a line break', { to: '"Ann\nBcc: eve@example.com" <ann@example.com>' }],
  ])('to %s is refused, and not tried again', async (_what, more) => {
    const failed = await failing(mail(more));
    expect(failed).toMatchObject({ code: 'invalid_config', nonRetryable: true });
    expect(failed.message).toMatch(/^config\.(to|cc) must be an e-mail address/);
    expect(mails).toEqual([]);
  });

  it('reaches each recipient, however they are written', async () => {
    const to = ['Ann Ö <ann@example.com>, "Bob, of @Corp" <bob@example.com>', 'carl@example.com <Carl@example.com>'];
    await send(mail({ to, cc: null, bcc: 'Team: dora@example.com, eve@example.com;' }));
    const names = ['ann', 'bob', 'Carl', 'dora', 'eve'];
    expect(mails[0]?.to).toEqual(names.map((name) => `${name}@example.com`));
  });

  it('is sent with a login that is a secret', async () => {
    const secrets = [{ path: ['smtp', 'password'], parts: [{ secret: 'SMTP' }] }];
    const login = { host: '127.0.0.1', port, encryption: 'none', username: USER.username, password: '' };
    await send(mail({ smtp: login }), { secrets, values: { SMTP: USER.password } });
    expect(mails[0]?.user).toBe('ann');
    const failed = await failing(mail({ smtp: login }), { secrets, values: { SMTP: 'c4n4ry-wrong' } });
    expect(failed).toMatchObject({ code: 'smtp_auth', nonRetryable: true });
    expect(failed.whole).not.toContain('c4n4ry');
  });

  it('does not send a password in the clear, unless that is written', async () => {
    await close();
    await listen({ disabledCommands: ['STARTTLS'] });
    const server = { host: '127.0.0.1', port, ...USER };
    expect(await failing(mail({ smtp: server }))).toMatchObject({ code: 'smtp_tls', nonRetryable: true });
    expect(mails).toEqual([]);
    await send(mail({ smtp: { ...server, encryption: 'none' } }));
    expect(mails[0]).toMatchObject({ user: 'ann', secure: false });
  });

  it('does not trust a server whose certificate nobody vouches for', async () => {
    for (const encryption of ['starttls', 'optional'])
      expect(await failing(mail({ smtp: { host: '127.0.0.1', port, encryption } }))).toMatchObject({
        code: 'certificate_not_trusted',
        nonRetryable: true,
      });
    expect(mails).toEqual([]);
  });

  it('goes over the host’s server and sender where the step names none', async () => {
    const login = `${USER.username}:${encodeURIComponent(USER.password)}`;
    const settings: ActivitySettings = {
      ...LOOPBACK,
      // The host's relay may be private; what definitions name may not.
      httpAllow: [],
      mail: { smtpUrl: `smtp://${login}@127.0.0.1:${port}?encryption=none`, from: 'host@example.com' },
    };
    const { from: _from, smtp: _smtp, ...rest } = mail();
    await send(rest, { settings });
    expect(mails[0]).toMatchObject({ from: 'host@example.com', user: 'ann' });
    expect(await failing(mail(), { settings })).toMatchObject({ code: 'address_not_allowed', nonRetryable: true });
    expect(await failing(rest)).toMatchObject({ code: 'smtp_missing', nonRetryable: true });
  });

  it('goes over the host’s server from senders that the host names only', async () => {
    const login = `${USER.username}:${encodeURIComponent(USER.password)}`;
    const settings = (fromAllow?: string[]): ActivitySettings => ({
      ...LOOPBACK,
      mail: {
        smtpUrl: `smtp://${login}@127.0.0.1:${port}?encryption=none`,
        from: 'Host <host@example.com>',
        ...(fromAllow === undefined ? {} : { fromAllow }),
      },
    });
    const { smtp: _smtp, ...rest } = mail();
    const from = (sender: string, ...allowed: string[]) =>
      send({ ...rest, from: sender }, { settings: settings(allowed) }).then(
        () => mails.at(-1)?.from,
        (error: ApplicationFailure) => error.type,
      );
    expect(await from('Invoices <HOST@example.com>')).toBe('HOST@example.com');
    for (const other of ['boss@example.com', 'host@example.com, boss@example.com', 'host@example.com@evil.test'])
      expect(await from(other), other).toMatch(/^(sender_not_allowed|invalid_config)$/);
    expect(mails).toHaveLength(1);
    expect(await from('boss@example.com', 'boss@example.com')).toBe('boss@example.com');
    expect(await from('any@shop.test', '*@shop.test')).toBe('any@shop.test');
    expect(await from('any@not-shop.test', '*@shop.test')).toBe('sender_not_allowed');
    expect(await from('any@else.test', '*')).toBe('any@else.test');
  });

  it('fails typed when it is refused: for now, or for good', async () => {
    expect(await failing(mail({ to: 'nobody@example.com' }))).toMatchObject({
      code: 'smtp_refused',
      nonRetryable: true,
      details: [{ details: { responseCode: 550, rejected: ['nobody@example.com'] } }],
    });
    expect(await failing(mail({ to: 'later@example.com' }))).toMatchObject({
      code: 'smtp_refused',
      nonRetryable: false,
    });
    expect(await send(mail({ to: ['ann@example.com', 'nobody@example.com'] }))).toMatchObject({
      accepted: ['ann@example.com'],
      rejected: ['nobody@example.com'],
    });
  });

  it('fails typed, and is tried again, when there is no server', async () => {
    const trap = createServer();
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    const { port: closed } = trap.address() as AddressInfo;
    await new Promise((resolve) => trap.close(resolve));
    expect(await failing(mail({ smtp: { host: '127.0.0.1', port: closed } }))).toMatchObject({
      code: 'smtp_connect',
      nonRetryable: false,
    });
  });

  it.each(['127.0.0.1', 'localhost', '2130706433', '169.254.169.254', '::ffff:127.0.0.1'])(
    'does not go over %s, unless the host allows it',
    async (host) => {
      const settings = { ...LOOPBACK, httpAllow: [] };
      expect(await failing(mail({ smtp: { host, port } }), { settings })).toMatchObject({
        code: 'address_not_allowed',
      });
      expect(mails).toEqual([]);
    },
  );

  it.each([
    ['to', 'nobody'],
    ['from', 'x'],
    ['cc', ['a@example.com', 'b c']],
    ['subject', ''],
    ['text', { path: '/etc/passwd' }],
    ['html', { href: 'http://127.0.0.1/' }],
    ['smtp', { host: '' }],
  ])('with a wrong %s is invalid_config', async (member, value) => {
    expect(await failing(mail({ [member]: value as Json }))).toMatchObject({ code: 'invalid_config' });
    expect(mails).toEqual([]);
  });

  it('cannot be given other headers or recipients by what stands in its texts', async () => {
    await send(mail({ subject: 'Hi\r\nBcc: eve@example.com', from: 'A\r\nX-Own: 1 <from@example.com>' }));
    expect(mails[0]?.to).toEqual(['ann@example.com', 'bob@example.com']);
    expect(mails[0]?.source).not.toMatch(/^(bcc|x-own):/im);
  });
});

describe('the host that a message’s secrets go to', () => {
  const hostOf = messageHostOf({ mail: { smtpUrl: 'smtp://relay.example.com' } });

  it('is that of the URL, or of the SMTP server', () => {
    expect(hostOf(inputOf({ channel: 'webhook', to: 'https://api.example.com/x' }))).toBe('api.example.com');
    const secrets: SecretString[] = [{ path: ['to'], parts: ['https://hooks.slack.com/services/', { secret: 'S' }] }];
    expect(hostOf(inputOf({ channel: 'slack', to: '' }, secrets))).toBe('hooks.slack.com');
    expect(hostOf(inputOf({ channel: 'slack', to: '' }, [{ path: ['to'], parts: [{ secret: 'S' }] }]))).toBeUndefined();
    expect(hostOf(inputOf({ channel: 'email', smtp: { host: 'mail.example.com' } }))).toBe('mail.example.com:587');
    expect(hostOf(inputOf({ channel: 'email' }))).toBe('relay.example.com:587');
  });
});

describe('a message to the inbox', () => {
  it('is handed over once the secrets are out of it', async () => {
    const kept: unknown[] = [];
    const inbox = { deliver: async (org: string, message: object) => void kept.push({ org, ...message }) };
    const answered = await send({ channel: 'inbox', to: 'ann', text: 'Hi', data: { a: 1 } }, { parts: { inbox } });
    expect(answered).toEqual({ id: expect.stringMatching(DELIVERY), channel: 'inbox' });
    expect(kept).toEqual([
      {
        org: 'default',
        id: answered['id'],
        to: ['ann'],
        text: 'Hi',
        data: { a: 1 },
        executionId: 'run.default.w.1',
        stepSlug: 'pay',
      },
    ]);
  });

  it('is tried again where the inbox cannot be reached, and fails for good where it is too large', async () => {
    const inbox = { deliver: () => Promise.reject(new Error('down')) };
    const config = { channel: 'inbox', text: 'x' };
    expect(await failing(config, { parts: { inbox } })).toMatchObject({
      code: 'inbox_unavailable',
      nonRetryable: false,
    });
    const full = {
      deliver: () => Promise.reject(Object.assign(new Error('Too much.'), { code: 'payload_too_large' })),
    };
    expect(await failing(config, { parts: { inbox: full } })).toMatchObject({
      code: 'payload_too_large',
      nonRetryable: true,
    });
  });
});
