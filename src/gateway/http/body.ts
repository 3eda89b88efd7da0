/** Bodies: read once as raw bytes, since signatures cover those, and parsed by the route that knows their schema. */

import express, { type Request, type RequestHandler } from 'express';
import type { z } from 'zod';
import type { Json } from '../../json/json.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import { type LongNumberPolicy, parseJson } from '../validation/json-guard.ts';
import { checked } from '../validation/validation.ts';
import { expectsContinue } from './malformed-http.ts';

export const MAX_BODY_BYTES = 2 * 1024 * 1024;

/**
 * Puts the decompressed bytes into `req.body`. The limit counts decompressed bytes, so a bomb ends at 2 MB. A body that
 * is announced as larger is not waited for.
 */
export function readRawBody(limit = MAX_BODY_BYTES): RequestHandler {
  const read = express.raw({ type: () => true, limit, inflate: true });
  return (req, res, next) => {
    if (Number(req.get('content-length') ?? 0) > limit) return next(tooLarge(limit));
    if (expectsContinue(req)) res.writeContinue();
    read(req, res, next);
  };
}

/** As the reader of Express refuses a body. */
const tooLarge = (limit: number): Error => Object.assign(new Error('The body is too large.'), { status: 413, limit });

/** The bytes of the body, none if it had none. */
export function rawBody(req: Request): Buffer {
  return Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0);
}

/** The media kind of a body. Undefined for other media types, and for charsets other than UTF-8. */
export function mediaOf(req: Request): 'json' | 'yaml' | 'form' | undefined {
  const contentType = req.get('content-type');
  if (!isUtf8(contentType)) return undefined;
  const media = (contentType ?? '').toLowerCase().split(';')[0]?.trim() ?? '';
  if (media === 'application/json' || /^application\/[a-z0-9.+-]+\+json$/.test(media)) return 'json';
  if (/^(application|text)\/(x-)?yaml$/.test(media) || /^application\/[a-z0-9.+-]+\+yaml$/.test(media)) return 'yaml';
  return media === 'application/x-www-form-urlencoded' ? 'form' : undefined;
}

export const ONLY_UTF8 = 'Send the body in UTF-8: the Content-Type names another charset.';

/** Whether a content type names UTF-8, or no charset. */
export function isUtf8(contentType: string | undefined): boolean {
  const [, ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  return charset === undefined || /^charset="?(utf-8|utf8|us-ascii)"?$/.test(charset);
}

/**
 * The JSON body, unchecked. Undefined if the request has no body.
 * @throws HttpProblem `unsupported_media_type`, and those of parseJson.
 */
export function jsonBody(req: Request, long?: LongNumberPolicy): Json | undefined {
  const bytes = jsonBodyBytes(req);
  return bytes.length === 0 ? undefined : parseJson(bytes, long);
}

/** The bytes of a JSON body; empty if the request has no body. @throws HttpProblem `unsupported_media_type`. */
export function jsonBodyBytes(req: Request): Buffer {
  const bytes = rawBody(req);
  if (bytes.length > 0 && mediaOf(req) !== 'json') {
    throw new HttpProblem(
      'unsupported_media_type',
      isUtf8(req.get('content-type'))
        ? 'Send the body as JSON, with the header Content-Type: application/json.'
        : ONLY_UTF8,
    );
  }
  return bytes;
}

/** The JSON body, checked. @throws HttpProblem `invalid_request`, and those of jsonBody. */
export function bodyAs<T>(req: Request, schema: z.ZodType<T>, absent?: Json): T {
  const body = jsonBody(req) ?? absent;
  if (body !== undefined) return checked(schema, body, 'body');
  throw new HttpProblem('invalid_request', 'The request has no body, and needs one. Send JSON.');
}
