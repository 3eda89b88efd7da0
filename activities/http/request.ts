/**
 * Builds the request of an http step from its evaluated config. Errors name only the member, because the values contain
 * secrets.
 */

import { BODY_ENCODINGS, HTTP_METHODS } from '../../src/contract/run/activity-options.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import type { SecretString } from '../../src/template/types.ts';
import { invalidConfig } from '../runtime/failure.ts';

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** The headers that are not sent to another origin. */
  readonly credentials: ReadonlySet<string>;
  readonly body: Buffer | undefined;
  readonly isBodySecret: boolean;
}

const METHODS: ReadonlySet<string> = new Set(HTTP_METHODS);
const BODY_FORM_NAMES: ReadonlySet<string> = new Set(BODY_ENCODINGS);
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that a step cannot set, because they belong to the connection. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'proxy-connection',
]);
const CREDENTIAL_HEADERS = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-api-key',
  'api-key',
  'x-auth-token',
  'x-access-token',
];
const DEFAULT_API_KEY = 'x-api-key';
const USER_AGENT = 'signalbox';

/** @throws ActivityError `invalid_config` */
export function readRequest(config: JsonObject, secrets: readonly SecretString[], idempotencyKey: string): HttpRequest {
  const url = readUrl(config['url']);
  addQuery(url, config['query']);
  const headers = new Map<string, string>([
    ['accept', '*/*'],
    // Not deflate, since servers send two formats under this name.
    ['accept-encoding', 'gzip, br'],
    ['user-agent', USER_AGENT],
    ['idempotency-key', toVisibleAscii(idempotencyKey)],
  ]);
  const credentials = new Set(CREDENTIAL_HEADERS);
  for (const { path } of secrets) {
    if (path[0] === 'headers' && typeof path[1] === 'string') credentials.add(path[1].toLowerCase());
  }
  addHeaders(headers, config['headers']);
  addAuth(url, headers, credentials, config['auth']);
  const body = readBody(headers, config['body'], config['bodyAs']);
  return {
    method: readMethod(config['method'], body),
    url,
    headers,
    credentials,
    body,
    isBodySecret: secrets.some(({ path }) => path[0] === 'body'),
  };
}

export function parseUrl(text: string, base?: URL): URL | undefined {
  return URL.canParse(text, base?.href) ? new URL(text, base?.href) : undefined;
}

function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

function readUrl(value: Json | undefined): URL {
  const url = typeof value === 'string' ? parseUrl(value) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw invalidConfig('url', 'an http or https URL');
  if (url.username !== '' || url.password !== '')
    throw invalidConfig(
      'url',
      "without a user name and password; put them in 'auth' as {type: 'basic', username, password}",
    );
  url.hash = '';
  return url;
}

function readMethod(value: Json | undefined, body: Buffer | undefined): string {
  if (isAbsent(value)) return body === undefined ? 'GET' : 'POST';
  const method = typeof value === 'string' ? value.toUpperCase() : '';
  if (!METHODS.has(method)) throw invalidConfig('method', `one of ${HTTP_METHODS.join(', ')}`);
  return method;
}

function addQuery(url: URL, query: Json | undefined): void {
  if (isAbsent(query)) return;
  if (!isObject(query)) throw invalidConfig('query', 'an object');
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one === null) continue;
      if (typeof one === 'object')
        throw invalidConfig(`query.${name}`, 'a text, a number, true or false, or a list of these');
      url.searchParams.append(name, String(one));
    }
  }
}

function addHeaders(headers: Map<string, string>, written: Json | undefined): void {
  if (isAbsent(written)) return;
  if (!isObject(written)) throw invalidConfig('headers', 'an object');
  for (const [name, value] of Object.entries(written)) {
    if (value === null) headers.delete(name.toLowerCase());
    else if (typeof value === 'object') throw invalidConfig(`headers.${name}`, 'a text');
    else addHeader(headers, name, String(value), `headers.${name}`);
  }
}

function addHeader(headers: Map<string, string>, name: string, value: string, member: string): void {
  const lower = name.toLowerCase();
  if (!HEADER_NAME.test(name)) throw invalidConfig(member, 'a valid header name');
  if (RESERVED_HEADERS.has(lower)) throw invalidConfig(member, 'left out: it belongs to the connection');
  if (!HEADER_VALUE.test(value)) throw invalidConfig(member, 'one line of Latin-1 text');
  headers.set(lower, value);
}

function addAuth(url: URL, headers: Map<string, string>, credentials: Set<string>, auth: Json | undefined): void {
  if (isAbsent(auth)) return;
  if (!isObject(auth)) throw invalidConfig('auth', "an object such as {type: 'bearer', token}");
  const read = (member: string): string => {
    const value = auth[member];
    if (typeof value !== 'string' && typeof value !== 'number') throw invalidConfig(`auth.${member}`, 'a text');
    return String(value);
  };
  switch (auth['type']) {
    case 'bearer':
      addHeader(headers, 'authorization', `Bearer ${read('token')}`, 'auth.token');
      return;
    case 'basic': {
      const pair = Buffer.from(`${read('username')}:${read('password')}`).toString('base64');
      addHeader(headers, 'authorization', `Basic ${pair}`, 'auth');
      return;
    }
    case 'apiKey': {
      const name = isAbsent(auth['name']) ? DEFAULT_API_KEY : read('name');
      if (auth['in'] === 'query') {
        url.searchParams.append(name, read('value'));
        return;
      }
      if (!isAbsent(auth['in']) && auth['in'] !== 'header') throw invalidConfig('auth.in', "'header' or 'query'");
      addHeader(headers, name, read('value'), 'auth.value');
      credentials.add(name.toLowerCase());
      return;
    }
    default:
      throw invalidConfig('auth.type', "'bearer', 'basic' or 'apiKey'");
  }
}

function readBody(headers: Map<string, string>, body: Json | undefined, written: Json | undefined): Buffer | undefined {
  if (body === undefined) return undefined;
  const form = isAbsent(written) ? defaultForm(headers, body) : written;
  if (typeof form !== 'string' || !BODY_FORM_NAMES.has(form))
    throw invalidConfig('bodyAs', `one of ${BODY_ENCODINGS.join(', ')}`);
  const typed = (type: string, bytes: Buffer): Buffer => {
    if (!headers.has('content-type')) headers.set('content-type', type);
    return bytes;
  };
  if (form === 'json') return typed('application/json', Buffer.from(JSON.stringify(body)));
  if (form === 'form') return typed('application/x-www-form-urlencoded', Buffer.from(formText(body)));
  const text = typeof body === 'object' ? undefined : String(body);
  if (text === undefined) throw invalidConfig('body', `a text, since bodyAs is '${form}'`);
  if (form === 'text') return typed('text/plain; charset=utf-8', Buffer.from(text));
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw invalidConfig('body', "base64, since bodyAs is 'base64'");
  return typed('application/octet-stream', Buffer.from(text, 'base64'));
}

function defaultForm(headers: ReadonlyMap<string, string>, body: Json): string {
  if (typeof body === 'string') return 'text';
  const isForm = headers.get('content-type')?.startsWith('application/x-www-form-urlencoded') === true;
  return isForm && isObject(body) ? 'form' : 'json';
}

function formText(body: Json): string {
  if (!isObject(body)) throw invalidConfig('body', "an object, since bodyAs is 'form'");
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(body)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one === null) continue;
      fields.append(name, typeof one === 'object' ? JSON.stringify(one) : String(one));
    }
  }
  return fields.toString();
}

/** The key contains branch names with any characters; a header value must be visible ASCII. */
function toVisibleAscii(key: string): string {
  return key.replace(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(Buffer.from(character).toString()));
}
