/** The response of an http step: read within its limit, decompressed, parsed by its content type. */

import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { MAX_BLOB_STATE_BYTES } from '../../src/definition/document/limits.ts';
import { decodeCharset } from '../../src/json/charset.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import { inexactNumbers } from '../../src/json/json-source.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { ActivityError } from '../runtime/failure.ts';
import type { Scrub } from '../runtime/scrub.ts';

export type ResponseHeaders = { readonly [name: string]: string | string[] | undefined };

export const MAX_REDIRECTS = 5;
export const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Besides 5xx. */
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);
/** The longest Retry-After that is followed. */
const MAX_RETRY_AFTER_MS = 86_400_000;
const MAX_HEADERS = 100;
const MAX_HEADER_CHARACTERS = 2_000;
const TEXT_TYPE =
  /^(text\/|application\/(xml|javascript|x-www-form-urlencoded|graphql|yaml|x-yaml|x-ndjson)\b)|\+(xml|yaml)\b/;
const JSON_TYPE = /^[\w.+-]+\/(json|[\w.-]+\+json)\b/;
/** Content encodings that are compressions; decoderOf supports some of them. */
const COMPRESSION_ENCODINGS: ReadonlySet<string> = new Set([
  'gzip',
  'x-gzip',
  'deflate',
  'br',
  'zstd',
  'compress',
  'x-compress',
  'dcb',
  'dcz',
]);
/** Error codes of zlib and Brotli for invalid input. */
const DECOMPRESSION_ERROR = /^(Z|ERR__ERROR_FORMAT|ERR_BROTLI)_/;
/** How much of a response a message quotes; the details hold more. */
const MAX_QUOTED_CHARACTERS = 300;
/** From how much of a response secrets are removed for that: a scrub of megabytes would hold up other activities. */
const MAX_SCRUBBED_CHARACTERS = 100_000;

/**
 * Reads and decompresses the response. The limit counts decompressed bytes, which rules out decompression bombs.
 * @throws ActivityError `response_too_large` unless `overLimit` is 'cut'; `http_body` if decompression fails
 */
export async function readBytes(
  body: Readable,
  headers: ResponseHeaders,
  limit: number,
  overLimit: 'cut' | HostLimit = {},
): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const encoding = firstValue(headers['content-encoding']).trim().toLowerCase();
  // Some servers write other words there (utf-8, aws-chunked), which change nothing.
  const compressions = encoding.split(/[\s,]+/).filter((name) => COMPRESSION_ENCODINGS.has(name));
  const decoder = compressions.length === 1 ? decoderOf(compressions[0]!) : undefined;
  // The decoder reports the error to its reader.
  const stream = decoder === undefined ? body : pipeline(body, decoder, () => undefined);
  try {
    const read = await readAll(body, stream, limit, overLimit);
    if (decoder === undefined && compressions.length > 0 && read.bytes.length > 0)
      throw decompressionFailure(encoding, 'this encoding is not supported');
    return read;
  } catch (error) {
    const code = networkErrorCode(error);
    if (decoder === undefined || !DECOMPRESSION_ERROR.test(code)) throw error;
    // A response to HEAD has the headers of GET but no body, which is not an error.
    if (decoder.bytesWritten === 0 && code === 'Z_BUF_ERROR') return { bytes: Buffer.alloc(0), isCut: false };
    throw decompressionFailure(encoding, code);
  }
}

function decompressionFailure(encoding: string, reason: string): ActivityError {
  return new ActivityError(
    'http_body',
    `The response has the content-encoding '${encoding.slice(0, 40)}' and cannot be decompressed (${reason}). ` +
      'Request it uncompressed: headers: {accept-encoding: identity}.',
    { details: { contentEncoding: encoding.slice(0, 40), reason } },
  );
}

/** The largest response on this host, also if the step allows more. */
interface HostLimit {
  readonly hostMaxBytes?: number;
}

function tooLarge(limit: number, hostMaxBytes: number | undefined): ActivityError {
  const remedy =
    hostMaxBytes === undefined || limit < hostMaxBytes
      ? `Raise maxBytes${hostMaxBytes === undefined ? '' : ` (up to ${hostMaxBytes})`}, or request less.`
      : 'This is the limit of this host. Request less, or in ' +
        `parts${hostMaxBytes < MAX_BLOB_STATE_BYTES ? '; a blob store (SIGNALBOX_BLOBS) raises the limit' : ''}.`;
  return new ActivityError('response_too_large', `The response has more than ${limit} bytes. ${remedy}`, {
    details: { limit, ...omitUndefined({ most: hostMaxBytes }) },
  });
}

async function readAll(
  body: Readable,
  stream: Readable,
  limit: number,
  overLimit: 'cut' | HostLimit,
): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= limit) {
      chunks.push(chunk);
      continue;
    }
    body.on('error', () => undefined).destroy();
    stream.on('error', () => undefined).destroy();
    if (overLimit === 'cut') {
      chunks.push(chunk.subarray(0, limit - (size - chunk.length)));
      return { bytes: Buffer.concat(chunks), isCut: true };
    }
    throw tooLarge(limit, overLimit.hostMaxBytes);
  }
  return { bytes: Buffer.concat(chunks), isCut: false };
}

function decoderOf(encoding: string) {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return undefined;
  }
}

/**
 * Parses the body. `as` is json, text or base64; if it is absent, the content type decides. An empty body is null.
 * @throws ActivityError `http_body` for invalid JSON, with `shown` in its details; `scrub` is applied to what it quotes
 */
export function parseBody(
  bytes: Buffer,
  headers: ResponseHeaders,
  as: string | undefined,
  shown: { readonly status: number; readonly url: string },
  scrub: Pick<Scrub, 'text' | 'beginning'>,
): Json {
  if (bytes.length === 0) return null;
  const type = firstValue(headers['content-type']).trim().toLowerCase();
  const form = as ?? formOf(type, bytes);
  if (form === 'base64') return bytes.toString('base64');
  const text = decode(bytes, type);
  if (form === 'text') return text;
  const { status, url } = shown;
  try {
    const value = JSON.parse(text) as Json;
    const infinite = inexactNumbers(text).find(({ written }) => !Number.isFinite(Number(written)));
    if (infinite === undefined) return value;
    throw new ActivityError(
      'http_body',
      `The response (status ${status}) holds a number that is larger than any that can be kept, at ` +
        `${infinite.pointer || '/'}. Set as: 'text' to accept it as text.`,
      { details: { status, url, contentType: type, bytes: bytes.length } },
    );
  } catch (error) {
    if (error instanceof ActivityError) throw error;
    const isLong = text.length > MAX_SCRUBBED_CHARACTERS;
    const clean = isLong ? scrub.beginning(text.slice(0, MAX_SCRUBBED_CHARACTERS)) : scrub.text(text);
    const excerpt = clean.slice(0, MAX_QUOTED_CHARACTERS);
    throw new ActivityError(
      'http_body',
      `The response (status ${status}) is not valid JSON. It begins with: ${onOneLine(excerpt)}. Set as: 'text' ` +
        'to accept it as text.',
      { details: { status, url, contentType: type, bytes: bytes.length, body: excerpt } },
    );
  }
}

/** Without a content type the bytes decide. */
function formOf(type: string, bytes: Buffer): string {
  if (JSON_TYPE.test(type)) return 'json';
  return TEXT_TYPE.test(type) || (type === '' && isUtf8(bytes)) ? 'text' : 'base64';
}

/** What an error response says, for the message of the failure; nothing for an HTML page. `body` is scrubbed. */
export function failureText(body: Json, headers: ResponseHeaders): string {
  const isPage = /^(text\/html|application\/xhtml)/i.test(firstValue(headers['content-type']).trim());
  if (body === null || body === '' || isPage) return '.';
  const text = onOneLine(typeof body === 'string' ? body : JSON.stringify(body));
  return text === ''
    ? '.'
    : `: ${text.length > MAX_QUOTED_CHARACTERS ? `${text.slice(0, MAX_QUOTED_CHARACTERS)}…` : text}`;
}

const onOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/**
 * Decodes the text by the charset of its content type, else by the encoding that an XML or HTML document declares.
 * UTF-8 if there is none, or an unknown one.
 */
export function decode(bytes: Buffer, contentType: string): string {
  const label = /charset="?([\w.:-]+)/i.exec(contentType)?.[1] ?? declaredCharset(bytes, contentType) ?? 'utf-8';
  return decodeCharset(bytes, label) ?? new TextDecoder().decode(bytes);
}

const XML_TYPE = /^[\w.+-]+\/(xml|[\w.-]+\+xml)\b/i;
const HTML_TYPE = /^text\/html\b/i;
/** Declarations of UTF-16, in bytes that can be read without knowing it, are wrong: HTML's standard takes UTF-8. */
const UTF16_LABEL = /^utf-?16/i;
/** As much of a document as HTML's standard looks at. */
const DECLARATION_SEARCH_BYTES = 1_024;

/** The encoding of an XML declaration, or of a `meta` element. A byte order mark counts more. */
function declaredCharset(bytes: Buffer, contentType: string): string | undefined {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    return bytes[0] === 0xff ? 'utf-16le' : 'utf-16be';
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  const beginning = bytes.subarray(0, DECLARATION_SEARCH_BYTES).toString('latin1');
  const isHtml = HTML_TYPE.test(contentType);
  const xml = XML_TYPE.test(contentType) || isHtml ? /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/i : undefined;
  const html = isHtml ? /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)/i : undefined;
  const found = xml?.exec(beginning)?.[1] ?? html?.exec(beginning)?.[1];
  return found === undefined || UTF16_LABEL.test(found) ? undefined : found;
}

export function isJson(headers: ResponseHeaders): boolean {
  return JSON_TYPE.test(firstValue(headers['content-type']).trim().toLowerCase());
}

/** A bounded number of truncated headers, since history stores them. `scrub` runs before truncation. */
export function truncatedHeaders(headers: ResponseHeaders, scrub: (text: string) => string): JsonObject {
  const shown: [string, Json][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || shown.length === MAX_HEADERS) continue;
    shown.push([name, scrub(Array.isArray(value) ? value.join(', ') : value).slice(0, MAX_HEADER_CHARACTERS)]);
  }
  return Object.fromEntries(shown);
}

/**
 * The target of a redirect. Headers arrive as Latin-1, and servers write addresses in UTF-8, as browsers and curl
 * expect.
 */
export function locationOf(header: string): string {
  const bytes = Buffer.from(header, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : header;
}

export function firstValue(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

/** Whether a later attempt may get another status. */
export function isRetryableStatus(status: number): boolean {
  return RETRYABLE_STATUSES.has(status) || status >= 500;
}

/** Parses a Retry-After of seconds or an HTTP date into milliseconds. */
export function retryAfterMs(value: string): number | undefined {
  if (value === '') return undefined;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : undefined;
}

/** The system's code for a network error, such as `ECONNREFUSED`. */
export function networkErrorCode(error: unknown): string {
  const codes = [
    error,
    ...(error instanceof AggregateError ? error.errors : []),
    error instanceof Error ? error.cause : undefined,
  ]
    .map((one) => (one instanceof Error && 'code' in one ? one.code : undefined))
    .filter((code) => typeof code === 'string');
  return codes[0] ?? 'no answer';
}
