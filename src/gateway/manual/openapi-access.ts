/** Keys, the audit and the codec, for the OpenAPI document. */
import { z } from 'zod';
import { ROLES } from '../../contract/organization.ts';
import { codecBody } from '../http/codec.ts';
import { auditQuery } from '../routes/organization/audit.ts';
import { keyBody, keyListQuery, keyQuery } from '../routes/organization/keys.ts';
import { LIST_PROBLEMS, type Operation, WRITE_PROBLEMS } from './openapi-operation.ts';

const text = z.string();
const time = z.iso.datetime().describe('ISO 8601.');

const key = {
  id: text,
  organizationId: text,
  name: text,
  role: z.enum(ROLES),
  user: text.describe('The person who uses it.'),
  roles: z.array(text),
  groups: z.array(text),
  prefix: text.describe("The key's beginning, by which keys are told apart."),
  createdAt: time,
  createdBy: text.optional(),
  lastUsedAt: time.optional().describe('Up to ten minutes late.'),
};
const keyPage = z.object({ items: z.array(z.object(key)), nextCursor: text.optional() });
const madeKey = z.object({ ...key, key: text.describe('Shown this once.') });

const resealed = z.object({
  resealed: z.int(),
  unchanged: z.int().describe('Under the present key already.'),
  unreadable: z
    .array(z.object({ organizationId: text, collection: text, name: text }))
    .describe('Under a key that is not known here.'),
});
const change = z.object({
  id: text,
  at: time,
  by: text.optional().describe('The person; absent while there are no keys.'),
  keyId: text.optional(),
  action: text.describe('Method and route.'),
  target: z.record(z.string(), z.unknown()).describe('Parameters of the route, and what the answer named.'),
  requestId: text.optional().describe('X-Request-Id of the answer.'),
  outcome: z.enum(['done', 'refused', 'unknown']),
  status: z.int().optional().describe('Of the answer.'),
});
const auditPage = z.object({ items: z.array(change), nextCursor: text.optional() });

export const accessOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/api/keys',
    id: 'listKeys',
    tag: 'access',
    summary: 'Lists API keys, oldest first, without the keys themselves.',
    query: keyListQuery,
    answers: { 200: { text: 'A page of keys.', schema: keyPage } },
    problems: [...LIST_PROBLEMS, 'not_found'],
  },
  {
    method: 'POST',
    path: '/api/keys',
    id: 'createKey',
    tag: 'access',
    summary: 'Makes an API key, and shows it this once.',
    description:
      "With the first key of `default`, which must be an admin's, requests without a key are refused from then on. An organization that is named for the first time is made. With an Idempotency-Key the same request gets the same key, also where a gateway died before it could show it.",
    body: { schema: keyBody },
    answers: { 201: { text: 'Made.', schema: madeKey } },
    problems: [...WRITE_PROBLEMS, 'not_found', 'admin_key_first', 'too_many', 'too_large'],
  },
  {
    method: 'DELETE',
    path: '/api/keys/:id',
    id: 'revokeKey',
    tag: 'access',
    summary: 'Revokes an API key: it gets nobody in any more.',
    parameters: { id: text },
    query: keyQuery,
    answers: { 204: { text: 'Revoked.' } },
    problems: [...WRITE_PROBLEMS, 'not_found', 'last_admin_key'],
  },
  {
    method: 'POST',
    path: '/api/reseal',
    id: 'reseal',
    tag: 'access',
    summary: 'Seals under the present master key what is sealed under a former one.',
    description:
      'In all organizations, for admins of `default`. It may be repeated. When nothing is unreadable, SIGNALBOX_FORMER_MASTER_KEYS can go.',
    body: { schema: z.strictObject({}), isOptional: true },
    answers: { 200: { text: 'What was done.', schema: resealed } },
    problems: [...WRITE_PROBLEMS, 'not_found', 'too_large'],
  },
  {
    method: 'GET',
    path: '/api/audit',
    id: 'listAudit',
    tag: 'access',
    summary: 'Lists who changed what, and when, the latest first.',
    description:
      'Each change is written down before it is made. Starts of runs and messages to them are not here: runs tell those themselves.',
    query: auditQuery,
    answers: { 200: { text: 'A page of changes.', schema: auditPage } },
    problems: LIST_PROBLEMS,
  },
  ...(['encode', 'decode'] as const).map(
    (way): Operation => ({
      method: 'POST',
      path: `/codec/${way}`,
      id: `${way}Payloads`,
      tag: 'access',
      summary:
        way === 'encode'
          ? "Encodes payloads of Temporal's as this store does."
          : 'Decodes payloads that this store has encoded.',
      description: "For Temporal's Web UI and CLI (`--codec-endpoint`), and for admins of `default`.",
      body: { schema: codecBody },
      answers: { 200: { text: 'The payloads, in order.', schema: codecBody } },
      problems: ['not_found', 'codec_failed'],
    }),
  ),
];
