import { z } from 'zod';
import { BODY_ENCODINGS, HTTP_METHODS, RESPONSE_FORMATS } from '../../contract/run/activity-options.ts';
import { MAX_BLOB_STATE_BYTES } from '../../definition/document/limits.ts';
import type { JsonObject } from '../../json/json.ts';
import { durationMs, planDuration } from '../config/duration.ts';
import { isAbsent } from '../config/read.ts';
import { anyValue, configSchema, duration, templated, textTemplate } from '../config/schema.ts';
import { ConfigError, type NoState, type Parse, type RunSpec, type StepContext, type StepKind } from '../kind.ts';
import { oneActivity, planMembers } from './one-activity.ts';

const DEFAULT_HTTP_TIMEOUT_MS = 30_000;
/** The time of the activity beyond the request's own limit: reading secrets, measuring the response. */
const MARGIN_MS = 10_000;
/** An activity learns that it was cancelled from its heartbeats. */
const HEARTBEAT_MS = 15_000;
/** Members that may contain secrets (LANGUAGE.md §3). */
const SECRET_MEMBERS: ReadonlySet<string> = new Set(['url', 'query', 'headers', 'auth', 'body']);
const MEMBERS = ['method', 'url', 'query', 'headers', 'auth', 'body', 'bodyAs', 'timeout', 'expect', 'as', 'maxBytes'];

export const http: StepKind<NoState> = {
  type: 'http',
  class: 'effect',
  summary: 'Makes an HTTP request.',
  description: `Sends one request and ends with the parsed body. \`{{ secrets.NAME }}\` may be part of \`url\`,
\`query\`, \`headers\`, \`auth\` and \`body\`. A secret is inserted right before the request, and removed from the
response.

- **Body.** A text is sent as it is, any other value as JSON. \`bodyAs\` changes that: \`form\` (an object), \`base64\`
  (bytes).
- **Response.** Its content type decides how it is read: JSON, text, or base64. Without a content type it is text where
  it is UTF-8. \`as\` changes that. A response of more than \`maxBytes\` is \`response_too_large\`. A response that
  cannot be read that way is \`http_body\`, with its beginning in the details.
- **Status.** 2xx is success; \`expect\` names other statuses. Any other status is \`http_status\`, with the server's
  text in the message, and status and body in the details. 408, 425, 429 and 5xx are retried, after \`Retry-After\`
  where the server sends it. An incomplete response is \`http_connect\` or \`http_timeout\`, and is retried.
- **Idempotency.** Every attempt carries the same \`Idempotency-Key\`, unless the step sets that header itself.
- **Short requests.** \`idempotent: true\` says that repeating the request is safe. Such requests run within the
  workflow task or in a segment, as light activities do; one that takes more than two seconds is sent again, as an
  activity of its own.
- **Destinations.** http and https. The certificate must be trusted where the worker runs, otherwise the error is
  \`certificate_not_trusted\`; \`NODE_EXTRA_CA_CERTS\` adds authorities. Private and local addresses are refused with
  \`address_not_allowed\` unless the host allows them. Up to five redirects are followed. To another origin go neither
  headers with secrets nor those that are known as credentials (\`Authorization\`, \`Cookie\`, \`X-Api-Key\` …). All
  other headers do, as with curl and fetch.`,
  example: {
    stepType: 'http',
    config: {
      method: 'POST',
      url: 'https://api.example.com/refunds',
      auth: { type: 'bearer', token: '{{ secrets.PAYMENTS_KEY }}' },
      body: { order: '{{ input.orderId }}', cents: '{{ input.amount }}' },
    },
    retry: { maxAttempts: 5 },
    nextSteps: { success: 'tell', error: 'ask' },
  },
  output: 'The parsed body; null where there is none. `meta` is `{status, headers, url}`.',
  schema: httpSchema,
  ports: () => ({ normal: 'success', names: ['success'] }),
  needs: ({ maxBytes }) => ({ maxBytes: { value: maxBytes, at: '/maxBytes' } }),
  plan(config, parse) {
    const request = planHttp(config, '', parse);
    return oneActivity(request);
  },
};

export function httpSchema(): z.ZodType {
  const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
  const secretText = textTemplate;
  return configSchema({
    method: templated(z.enum(HTTP_METHODS)).optional().describe('Default: GET, or POST with a body.'),
    url: textTemplate().describe('http or https.'),
    query: templated(z.record(z.string(), z.union([scalar, z.array(scalar)])))
      .optional()
      .describe('Added to the URL; a list repeats the name, null leaves it out.'),
    headers: templated(z.record(z.string(), scalar)).optional().describe('Request headers; null leaves one out.'),
    auth: z
      .union([
        z.strictObject({
          type: z.literal('bearer'),
          token: secretText().describe('Sent as `Authorization: Bearer …`.'),
        }),
        z.strictObject({
          type: z.literal('basic'),
          username: z.string().describe('Who it is.'),
          password: z.string().describe('Its password.'),
        }),
        z.strictObject({
          type: z.literal('apiKey'),
          name: textTemplate().optional().describe('The header or parameter. Default: x-api-key.'),
          value: secretText().describe('The key.'),
          in: z.enum(['header', 'query']).optional().describe('Default: header.'),
        }),
      ])
      .optional()
      .describe('Credentials.'),
    body: anyValue().optional().describe('The request body.'),
    bodyAs: templated(z.enum(BODY_ENCODINGS))
      .optional()
      .describe('The encoding of the body. Default: text for texts, json for other values.'),
    timeout: duration().optional().describe('Limit of one attempt, answer included (30s).'),
    expect: z
      .union([z.number().int(), z.string(), z.array(z.union([z.number().int(), z.string()]))])
      .optional()
      .describe("Statuses that are success: 200, '2xx', '200-299', or a list. Default: 2xx."),
    as: templated(z.enum(RESPONSE_FORMATS))
      .optional()
      .describe('How the response is read. Default: by its content type.'),
    maxBytes: templated(z.number().int().min(1).max(MAX_BLOB_STATE_BYTES))
      .optional()
      .describe('Limit of the answer (1.8 MB); at most 16 MB, and 1.9 MB on a host without a blob store.'),
    idempotent: z
      .boolean()
      .optional()
      .describe('Sending the request again is safe, and its answer is quick: it may run as a light activity.'),
  });
}

/**
 * Parses a request's config. The result evaluates it for one visit. The kind `http` and the action `http.request` share
 * it.
 */
export function planHttp(config: JsonObject, at: string, parse: Parse): (visit: StepContext) => RunSpec {
  if (isAbsent(config['url']))
    throw new ConfigError(`${at}/url`, "Expected a URL such as 'https://api.example.com/orders'.");
  const render = planMembers(config, MEMBERS, at, (member) =>
    SECRET_MEMBERS.has(member) ? parse.secretTemplate : parse.template,
  );
  const timeoutMs = isAbsent(config['timeout'])
    ? () => DEFAULT_HTTP_TIMEOUT_MS
    : planDuration(config['timeout'], `${at}/timeout`, parse);
  return (visit) => {
    const limitMs = timeoutMs(visit);
    const rendered = render(visit);
    (rendered.value as JsonObject)['timeout'] = durationMs(limitMs);
    return {
      activity: 'http',
      config: rendered,
      timeoutMs: limitMs + MARGIN_MS,
      heartbeatMs: HEARTBEAT_MS,
      ...(config['idempotent'] === true ? { light: true, repeatable: true } : {}),
    };
  };
}
