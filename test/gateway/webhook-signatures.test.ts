import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../src/gateway/webhook-signatures/scheme.ts';
import { schemeOf } from '../../src/gateway/webhook-signatures/table.ts';
import type { JsonObject } from '../../src/json/json.ts';
import { githubExamples } from './github-examples.ts';

function verify(
  scheme: string,
  secrets: string[],
  raw: string,
  headers: Record<string, string>,
  now = Date.now(),
  options: JsonObject = {},
): string {
  const delivery: Delivery = { raw: Buffer.from(raw), header: (name) => headers[name.toLowerCase()], now };
  const verdict = schemeOf(scheme)?.verify(delivery, secrets, options);
  return verdict === undefined ? 'no scheme' : verdict.ok ? 'ok' : verdict.code;
}

const hex = (secret: string, text: string, algorithm = 'sha256') =>
  createHmac(algorithm, secret).update(text).digest('hex');

describe('github', () => {
  const secret = "It's a Secret to Everybody";
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';

  it('takes its published vector, and nothing near it', () => {
    expect(verify('github', [secret], 'Hello, World!', { 'x-hub-signature-256': signature })).toBe('ok');
    expect(verify('github', ['other', secret], 'Hello, World!', { 'x-hub-signature-256': signature })).toBe('ok');
    expect(verify('github', [secret], 'Hello, World', { 'x-hub-signature-256': signature })).toBe('signature_invalid');
    expect(verify('github', ['other'], 'Hello, World!', { 'x-hub-signature-256': signature })).toBe(
      'signature_invalid',
    );
    expect(verify('github', [secret], 'Hello, World!', { 'x-hub-signature-256': signature.slice(0, -1) })).toBe(
      'signature_invalid',
    );
    expect(verify('github', [secret], 'Hello, World!', { 'x-hub-signature-256': '' })).toBe('signature_invalid');
    expect(verify('github', [secret], 'Hello, World!', { 'x-hub-signature': signature })).toBe('signature_missing');
    expect(verify('github', [], 'Hello, World!', { 'x-hub-signature-256': signature })).toBe('signature_invalid');
  });

  it('takes real payloads as they were sent', () => {
    const bodies = githubExamples
      .flatMap((event) => event.examples.slice(0, 1))
      .map((example) => JSON.stringify(example, null, 2));
    expect(bodies.length).toBeGreaterThan(30);
    for (const body of bodies) {
      const headers = { 'x-hub-signature-256': `sha256=${hex(secret, body)}` };
      expect(verify('github', [secret], body, headers)).toBe('ok');
      // What was parsed and printed again is not what was signed.
      expect(verify('github', [secret], JSON.stringify(JSON.parse(body)), headers)).toBe('signature_invalid');
    }
  });
});

describe('standard', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const body = '{"test": 2432232314}';
  const sent = 1_614_265_330_000;

  it('takes its published vector within five minutes', () => {
    expect(verify('standard', [secret], body, headers, sent)).toBe('ok');
    expect(verify('standard', [secret], body, headers, sent + 5 * 60_000)).toBe('ok');
    expect(verify('standard', [secret], body, headers, sent + 6 * 60_000)).toBe('signature_expired');
    expect(verify('standard', [secret], body, headers, sent - 6 * 60_000)).toBe('signature_expired');
  });

  it('takes one of several signatures, and none over other parts', () => {
    const several = { ...headers, 'webhook-signature': `v1,AAAA v2,x ${headers['webhook-signature']}` };
    expect(verify('standard', [secret], body, several, sent)).toBe('ok');
    expect(verify('standard', ['whsec_AAAA', secret], body, headers, sent)).toBe('ok');
    const svix = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.replace('webhook-', 'svix-'), value]),
    );
    expect(verify('standard', [secret], body, svix, sent)).toBe('ok');
    expect(verify('standard', [secret], `${body} `, svix, sent)).toBe('signature_invalid');
    expect(verify('standard', [secret], body, { ...svix, 'svix-id': 'msg_2' }, sent)).toBe('signature_invalid');
    // Headers of both families are not mixed.
    const mixed = { ...svix, 'webhook-id': 'msg_2', 'webhook-timestamp': '1' };
    expect(verify('standard', [secret], body, mixed, sent)).toBe('ok');
    expect(verify('standard', [secret], body, { ...headers, 'webhook-id': 'msg_2' }, sent)).toBe('signature_invalid');
    expect(verify('standard', [secret], body, { ...headers, 'webhook-timestamp': '1614265331' }, sent)).toBe(
      'signature_invalid',
    );
    expect(verify('standard', [secret], body, { ...headers, 'webhook-timestamp': 'soon' }, sent)).toBe(
      'signature_expired',
    );
    const { 'webhook-id': _id, ...unnamed } = headers;
    expect(verify('standard', [secret], body, unnamed, sent)).toBe('signature_missing');
  });
});

describe('stripe and slack', () => {
  const now = 1_700_000_000_000;
  const seconds = String(now / 1000);

  it('sign the time with the body', () => {
    const stripe = `t=${seconds},v1=${hex('old', `${seconds}.{}`)},v1=${hex('new', `${seconds}.{}`)},v0=x`;
    expect(verify('stripe', ['new'], '{}', { 'stripe-signature': stripe }, now)).toBe('ok');
    expect(verify('stripe', ['other'], '{}', { 'stripe-signature': stripe }, now)).toBe('signature_invalid');
    expect(verify('stripe', ['new'], '{}', { 'stripe-signature': stripe }, now + 301_000)).toBe('signature_expired');
    const slack = { 'x-slack-request-timestamp': seconds, 'x-slack-signature': `v0=${hex('s', `v0:${seconds}:{}`)}` };
    expect(verify('slack', ['s'], '{}', slack, now)).toBe('ok');
    expect(verify('slack', ['s'], '{ }', slack, now)).toBe('signature_invalid');
    expect(verify('slack', ['s'], '{}', slack, now + 301_000)).toBe('signature_expired');
  });
});

describe('hmac and api_key', () => {
  it('take header, algorithm, encoding and prefix from the config', () => {
    expect(verify('hmac', ['s'], 'x', { 'x-signature': hex('s', 'x') })).toBe('ok');
    expect(verify('hmac', ['s'], 'x', { 'x-signature': hex('s', 'x').toUpperCase() })).toBe('ok');
    const options = {
      header: 'X-Mine',
      algorithm: 'sha512',
      encoding: 'base64',
      prefix: 'sig=',
      timestampHeader: 'X-Time',
    };
    const now = 1_700_000_000_000;
    const signature = `sig=${createHmac('sha512', 's').update('1700000000.x').digest('base64')}`;
    expect(verify('hmac', ['s'], 'x', { 'x-mine': signature, 'x-time': '1700000000' }, now, options)).toBe('ok');
    expect(verify('hmac', ['s'], 'x', { 'x-mine': signature, 'x-time': '1700000000' }, now + 301_000, options)).toBe(
      'signature_expired',
    );
    expect(verify('hmac', ['s'], 'x', { 'x-mine': signature }, now, options)).toBe('signature_missing');
  });

  it('compare keys', () => {
    expect(verify('api_key', ['k1', 'k2'], '', { 'x-api-key': 'k2' })).toBe('ok');
    expect(verify('api_key', ['k1'], '', { authorization: 'Bearer k1' })).toBe('ok');
    expect(verify('api_key', ['k1'], '', { 'x-api-key': 'k' })).toBe('signature_invalid');
    expect(verify('api_key', ['k1'], '', {})).toBe('signature_missing');
  });
});
