/** Sends a message as a POST with the headers of https://www.standardwebhooks.com, signed if there is a secret. */
import { createHmac } from 'node:crypto';
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import { invalidConfig } from '../runtime/failure.ts';
import type { ActivityContext, ActivityHandler } from '../runtime/wrap-activity.ts';
import { type Channel, optionalText, requireText, textList } from './channel.ts';

const SECRET_PREFIX = 'whsec_';
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** `http` is the handler of the activity `http`, with its egress policy, statuses and redirects. */
export function webhookChannel(http: ActivityHandler): Channel {
  return async ({ id, message, context }) => {
    const body = JSON.stringify({
      id,
      subject: optionalText(message['subject'], 'subject') ?? null,
      text: optionalText(message['text'], 'text') ?? null,
      data: message['data'] ?? null,
    });
    const seconds = String(Math.floor(Date.now() / 1_000));
    const keys = textList(message['secret'], 'secret').map(keyOf);
    const headers = {
      ...headersOf(message['headers']),
      'webhook-id': id,
      'webhook-timestamp': seconds,
      ...(keys.length === 0
        ? {}
        : { 'webhook-signature': keys.map((key) => `v1,${signature(key, `${id}.${seconds}.${body}`)}`).join(' ') }),
    };
    return postJson(http, requireText(message['to'], 'to'), body, headers, context);
  };
}

/** Posts JSON text and returns `{status}`. */
export async function postJson(
  http: ActivityHandler,
  url: string,
  body: string,
  headers: JsonObject,
  context: ActivityContext,
): Promise<JsonObject> {
  // Headers with secrets are not sent to another origin, as in http steps.
  const secrets = context.input.secrets.filter(({ path }) => path[0] === 'headers');
  const { meta } = await http(
    {
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', ...headers },
      body,
      bodyAs: 'text',
      as: 'text',
    },
    { ...context, input: { ...context.input, secrets } },
  );
  return { status: meta?.['status'] ?? null };
}

function headersOf(written: Json | undefined): JsonObject {
  if (written === undefined || written === null) return {};
  if (!isObject(written)) throw invalidConfig('headers', 'an object');
  return written;
}

function keyOf(secret: string): string | Buffer {
  if (!secret.startsWith(SECRET_PREFIX)) return secret;
  const encoded = secret.slice(SECRET_PREFIX.length);
  if (!BASE64.test(encoded))
    throw invalidConfig('secret', `${SECRET_PREFIX} and base64, or a text without this prefix`);
  return Buffer.from(encoded, 'base64');
}

const signature = (key: string | Buffer, signed: string): string =>
  createHmac('sha256', key).update(signed).digest('base64');
