/** Every operation of the gateway. A route that is not here fails a test. */
import { z } from 'zod';
import * as answers from '../answers/answers.ts';
import { keepsAnswers } from '../http/idempotency.ts';
import type { Method } from '../http/resource.ts';
import type { Route } from '../http/route.ts';
import { demandOf, isAudited } from '../http/route-roles.ts';
import { auditRoutes } from '../routes/organization/audit.ts';
import { inboxRoutes } from '../routes/organization/inbox.ts';
import { keyRoutes } from '../routes/organization/keys.ts';
import { limitRoutes } from '../routes/organization/limits.ts';
import { mcpServerRoutes } from '../routes/organization/mcp-servers.ts';
import { modelRoutes } from '../routes/organization/models.ts';
import { secretRoutes } from '../routes/organization/secrets.ts';
import { nameText, slugText } from '../validation/validation.ts';
import { accessOperations } from './openapi-access.ts';
import { executionOperations } from './openapi-executions.ts';
import { type Operation, WRITE_PROBLEMS } from './openapi-operation.ts';
import { publicTriggerOperations } from './openapi-public-trigger.ts';
import { run004Operations } from './openapi-runs-004.ts';
import { triggerOperations } from './openapi-triggers.ts';
import { versionOperations } from './openapi-versions.ts';
import { expressionOperations, workflowOperations } from './openapi-workflows.ts';
import { docsQuery } from './search.ts';

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const page = answers.page;
/** POST as `Post`, for names of operations. */
const capitalized = (method: Method): string => `${method[0]}${method.slice(1).toLowerCase()}`;

const startedOrDebounced = z.union([
  answers.started,
  z.object({ debounced: z.literal(true), until: z.iso.datetime().describe('When it starts if nothing more comes.') }),
]);

/** A webhook answers to the method of its trigger alone. */
const deliveryOf = (method: Method, of: Pick<Operation, 'path' | 'id' | 'parameters'>): Operation => ({
  ...of,
  method,
  tag: 'webhooks',
  summary: 'A delivery that starts a run.',
  description:
    "`path` is the trigger's; slashes in it stay slashes. Without an organization it is one of `default`. Any parameter of the query is taken, as `query` of the payload. Which method, signature and headers are wanted, the trigger says.",
  ...(method === 'GET' || method === 'DELETE'
    ? {}
    : {
        body: {
          schema: answers.anything,
          media: ['application/json', 'application/x-www-form-urlencoded'],
          isOptional: true as const,
        },
      }),
  answers: {
    202: { text: 'Started, or put off; with `respond: result`, and not ended in time.', schema: startedOrDebounced },
    200: {
      text: "The same delivery again; or with `respond: result`, the result; or, to Slack's `url_verification`, its challenge.",
      schema: answers.webhookAnswer,
    },
  },
  problems: [
    ...WRITE_PROBLEMS,
    'not_found',
    'method_not_allowed',
    'required_header_missing',
    'signature_missing',
    'signature_invalid',
    'signature_expired',
    'invalid_json',
    'too_deep',
    'forbidden_key',
    'invalid_name',
    'body_too_large',
    'payload_too_large',
    'invalid_input',
    'invalid_mapping',
    'idempotency_conflict',
    'limit_reached',
    'queue_full',
    'workflow_disabled',
    'request_in_flight',
    'workflow_not_found',
    'version_not_found',
    'version_missing',
    'webhook_unverifiable',
  ],
  isPublic: true,
});

const webhooks: readonly Operation[] = METHODS.flatMap((method) => [
  deliveryOf(method, {
    path: '/webhooks/:org/*path',
    id: `deliver${capitalized(method)}`,
    parameters: { org: slugText, path: nameText(1_000) },
  }),
  deliveryOf(method, {
    path: '/webhooks/:path',
    id: `deliver${capitalized(method)}ToDefault`,
    parameters: { path: nameText(1_000) },
  }),
]);

/** Which methods are taken, the step says. */
const callbacks: readonly Operation[] = METHODS.map((method) => ({
  method,
  path: '/callbacks/:token',
  id: `callBack${capitalized(method)}`,
  tag: 'webhooks',
  summary:
    method === 'GET' ? 'A form for people; or the callback, where the step takes GET.' : 'Ends a wait_callback step.',
  description: 'POST and PUT unless the step says otherwise. Whoever asks for HTML is thanked in HTML.',
  parameters: { token: nameText(4_000) },
  ...(method === 'GET' || method === 'DELETE'
    ? {}
    : {
        body: {
          schema: answers.anything,
          media: ['application/json', 'application/x-www-form-urlencoded', 'text/plain'],
          isOptional: true as const,
        },
      }),
  answers: {
    202: { text: 'Taken.', schema: answers.callbackTaken },
    ...(method === 'GET' ? { 200: { text: 'The form.', schema: page, media: ['text/html'] } } : {}),
  },
  problems: [
    ...WRITE_PROBLEMS,
    'not_found',
    'gone',
    'method_not_allowed',
    'closed',
    'invalid_callback',
    'invalid_json',
    'too_deep',
    'forbidden_key',
    'invalid_name',
    'body_too_large',
    'payload_too_large',
    'unsupported_media_type',
    'inbox_overflow',
  ],
  isPublic: true,
}));

const own: readonly Operation[] = [
  {
    method: 'GET',
    path: '/healthz',
    id: 'healthz',
    tag: 'gateway',
    summary: 'Whether the gateway answers.',
    answers: { 200: { text: 'It does.', schema: answers.healthy } },
  },
  {
    method: 'GET',
    path: '/readyz',
    id: 'readyz',
    tag: 'gateway',
    summary:
      'Whether Temporal and its database answer, and whether a worker lives: a silent one is noticed within 15 seconds, or 75 where Temporal takes no heartbeats.',
    answers: { 200: { text: 'They do.', schema: answers.ready } },
  },
  {
    method: 'GET',
    path: '/openapi.json',
    id: 'openapi',
    tag: 'gateway',
    summary: 'This document.',
    answers: { 200: { text: 'OpenAPI 3.1.', schema: answers.anyObject } },
  },
  {
    method: 'GET',
    path: '/schema.json',
    id: 'schema',
    tag: 'gateway',
    summary: 'The definition language as a JSON Schema, for editors.',
    answers: { 200: { text: 'A JSON Schema.', schema: answers.anyObject, media: ['application/schema+json'] } },
  },
  {
    method: 'GET',
    path: '/docs',
    id: 'docs',
    tag: 'gateway',
    summary: 'The manual.',
    query: docsQuery,
    answers: { 200: { text: 'Its front page, or what a search found.', schema: page, media: ['text/html'] } },
  },
  {
    method: 'GET',
    path: '/docs/:page',
    id: 'docsPage',
    tag: 'gateway',
    summary: 'A page of the manual: a step kind, or a topic. With `.md` at its end, in Markdown.',
    parameters: { page: nameText(1_000) },
    answers: { 200: { text: 'The page.', schema: page, media: ['text/html', 'text/markdown'] } },
    problems: ['not_found'],
  },
];

const legacy: readonly Operation[] = [
  ...workflowOperations,
  ...versionOperations,
  ...executionOperations,
  ...run004Operations,
  ...accessOperations,
  ...expressionOperations,
  ...triggerOperations,
  ...publicTriggerOperations,
  ...webhooks,
  ...callbacks,
  ...own,
];

const asRoute = ({ parameters, isPublic, ...operation }: Operation): Route =>
  ({
    ...operation,
    role: demandOf(operation.method, operation.path),
    idempotency: keepsAnswers(operation.method, operation.path) ? 'answer' : 'none',
    isAudited: isAudited(operation.method, operation.path),
    asksTemporal:
      !/^\/(healthz|docs|openapi\.json|schema\.json)/.test(operation.path) &&
      operation.path !== '/api/expressions/evaluate' &&
      operation.path !== '/api/workflows/validate',
    params: parameters ?? {},
    ...(isPublic === true ? { callers: 'anywhere' } : {}),
  }) as unknown as Route;

export const operations: readonly Route[] = [
  ...legacy.map(asRoute),
  ...auditRoutes,
  ...inboxRoutes,
  ...keyRoutes,
  ...limitRoutes,
  ...mcpServerRoutes,
  ...modelRoutes,
  ...secretRoutes,
];
