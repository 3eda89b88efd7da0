/** `/callbacks/:token`: ends a wait_callback step (ARCHITECTURE.md §5). The token authorizes the caller. */

import type { Request } from 'express';
import { z } from 'zod';
import { deliverCallback, type ExpectedCallback, expectCallback } from '../../../client/triggers/callbacks.ts';
import type { Problem } from '../../../definition/document/types.ts';
import { validatePayload } from '../../../definition/payload/format.ts';
import type { Json, JsonObject } from '../../../json/json.ts';
import { named, text } from '../../answers/named.ts';
import { jsonBody, mediaOf, rawBody } from '../../http/body.ts';
import { capitalized, METHODS } from '../../http/method.ts';
import { type Incoming, type Route, rawRoute, SENT } from '../../http/route.ts';
import { bodyOfMethod } from '../../http/route-body.ts';
import { methodNotAllowed } from '../../http/router.ts';
import { coerceFields, formBodyFields, paramsToFields } from '../../input/form-fields.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { decodeText } from '../../validation/json-guard.ts';
import { BODY_PROBLEMS, WRITE_PROBLEMS } from '../../validation/problem-codes.ts';
import { nameText } from '../../validation/validation.ts';
import { callbackPage, prefersHtml, sendPage, thanksPage, withHtmlProblems } from './public-pages.ts';

const callbackTaken = named('CallbackTaken', z.object({ accepted: z.literal(true) }));
const ACCEPTED_ANSWER = { 202: { text: 'Taken.', schema: callbackTaken } };
const FORM = { 200: { text: 'The form.', schema: text, media: ['text/html'] } };

/** The step's config limits the methods further. */
export const callbackRoutes: readonly Route[] = METHODS.map((method) =>
  rawRoute({
    method,
    path: '/callbacks/:token',
    role: 'public',
    callers: 'anywhere',
    writes: true,
    id: `callBack${capitalized(method)}`,
    summary:
      method === 'GET' ? 'A form for people; or the callback, where the step takes GET.' : 'Ends a wait_callback step.',
    description: 'POST and PUT, unless the step names other methods. A request that accepts HTML is answered in HTML.',
    params: { token: nameText(4_000) },
    ...bodyOfMethod(method, ['application/json', 'application/x-www-form-urlencoded', 'text/plain']),
    answers: method === 'GET' ? { ...ACCEPTED_ANSWER, ...FORM } : ACCEPTED_ANSWER,
    problems: [
      ...WRITE_PROBLEMS,
      'not_found',
      'gone',
      'method_not_allowed',
      'closed',
      'invalid_callback',
      ...BODY_PROBLEMS,
      'payload_too_large',
      'inbox_overflow',
    ],
    handle: async (incoming) => {
      const { access, req, res } = incoming;
      await withHtmlProblems(req, res, async () => {
        await answer(incoming, await expectCallback(access, String(req.params['token'])));
      });
      return SENT;
    },
  }),
);

async function answer({ access, req, res, takeBody }: Incoming, expected: ExpectedCallback): Promise<void> {
  const { methods, title, schema } = expected;
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  if (isRead && !methods.includes('GET') && methods.includes('POST')) {
    sendPage(res, 200, callbackPage(title, schema === 'unknown' ? undefined : schema));
    return;
  }
  // A HEAD request, as link checkers send it, is not a callback.
  if (req.method === 'HEAD' && methods.includes('GET')) {
    res.status(200).end();
    return;
  }
  if (!methods.some((method) => method === req.method)) throw methodNotAllowed(req.method, methods.join(', '));
  await takeBody(expected.organizationId);
  const payload = isRead ? queryOf(req) : bodyOf(req, expected);
  const problems = schema === undefined || schema === 'unknown' ? [] : validatePayload(schema, payload);
  if (problems.length > 0) {
    // A person sees the form again, with the values that were typed.
    const isForm = prefersHtml(req) && mediaOf(req) === 'form' && methods.includes('POST');
    if (!isForm || schema === undefined || schema === 'unknown') throw invalidCallback(problems);
    sendPage(res, 422, callbackPage(title, schema, { typed: formBodyFields(req), problems }));
    return;
  }
  await deliverCallback(access, expected, payload);
  if (prefersHtml(req)) sendPage(res, 202, thanksPage(title));
  else res.status(202).json({ accepted: true });
}

/** Nothing was delivered. */
function invalidCallback(problems: readonly Problem[]): HttpProblem {
  const [first] = problems;
  return new HttpProblem(
    'invalid_callback',
    `The body is not what is waited for, and was not delivered. ${first?.pointer || '/'}: ${first?.message ?? ''}`,
    { problems },
  );
}

/** Parses JSON, a form, or text; no body is null. @throws HttpProblem `unsupported_media_type`, and those of JSON. */
function bodyOf(req: Request, { schema }: ExpectedCallback): Json {
  const bytes = rawBody(req);
  if (bytes.length === 0) return null;
  const media = mediaOf(req);
  if (media === 'json') return jsonBody(req, 'texts') ?? null;
  if (media === 'form') {
    const fields = formBodyFields(req);
    return schema === undefined || schema === 'unknown' ? fields : coerceFields(schema, fields);
  }
  const type = (req.get('content-type') ?? 'text/plain').toLowerCase();
  if (/^text\/plain\b/.test(type)) return decodeText(bytes);
  throw new HttpProblem('unsupported_media_type', 'Send the body as JSON, as a form (urlencoded), or as plain text.');
}

function queryOf(req: Request): JsonObject {
  const at = req.originalUrl.indexOf('?');
  return paramsToFields(new URLSearchParams(at < 0 ? '' : req.originalUrl.slice(at + 1)));
}
