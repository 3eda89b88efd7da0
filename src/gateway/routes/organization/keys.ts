/**
 * `/api/keys` makes, lists and revokes API keys (ARCHITECTURE.md §5). A key is shown once, when it is made.
 * `/api/reseal` encrypts under the present master key all values encrypted under a former one.
 */
import type { Request } from 'express';
import { z } from 'zod';
import { createKey, listKeys, revokeKey } from '../../../client/organization/api-keys.ts';
import { resealAll } from '../../../client/organization/reseal.ts';
import type { Config } from '../../../config/config.ts';
import { DEFAULT_ORGANIZATION, ROLES } from '../../../contract/organization/organization.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { pageOf } from '../../answers/named.ts';
import { apiKey, madeKey } from '../../answers/organization.ts';
import { needsKeys } from '../../http/auth.ts';
import { idempotentId } from '../../http/idempotency-key.ts';
import { offsetPage } from '../../http/pagination.ts';
import { demandOrganization, principalOf } from '../../http/principal.ts';
import { ok, route } from '../../http/route.ts';
import { emptyBody, jsonOf } from '../../http/route-body.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { LIST_PROBLEMS, WRITE_PROBLEMS } from '../../validation/problem-codes.ts';
import { nameText, pageQuery, slugText } from '../../validation/validation.ts';

const ownName = nameText(100).refine(
  (name) => !ROLES.some((role) => role === name),
  'Expected a role of your own; those of Signalbox go by `role`.',
);
const organization = slugText.optional().describe('Another organization. Only for admins of `default`.');

const keyBody = z.strictObject({
  name: nameText(100).describe('The purpose or the owner of the key.'),
  role: z.enum(ROLES).describe('Each role may do what the roles before it may.'),
  user: nameText(100).optional().describe('The person, who may have several keys. Default: the name.'),
  roles: z.array(ownName).max(50).optional().describe("The person's roles in approvals, such as finance."),
  groups: z.array(nameText(100)).max(50).optional().describe("The person's groups in approvals."),
  emails: z
    .array(z.email().max(254))
    .max(20)
    .optional()
    .describe('E-mail addresses of the person, for links. A `user` that is an address is one already.'),
  organization,
});
const keyListQuery = z.strictObject({ ...pageQuery(), organization });
const keyQuery = z.strictObject({ organization });
const keyId = z.string().regex(/^[0-9a-f]{12}$/);

const resealed = z.object({
  resealed: z.int(),
  unchanged: z.int().describe('Values that are already under the present key.'),
  unreadable: z
    .array(z.object({ organizationId: z.string(), collection: z.string(), name: z.string() }))
    .describe('Values under a key that this gateway does not know.'),
});

export const keyRoutes = [
  route({
    method: 'GET',
    path: '/api/keys',
    role: 'admin',
    id: 'listKeys',
    summary: 'Lists API keys, oldest first, without the keys themselves.',
    description: 'With the person, the role, the addresses and the last use of each.',
    query: keyListQuery,
    answers: { 200: { text: 'A page of keys.', schema: pageOf(apiKey) } },
    problems: [...LIST_PROBLEMS, 'not_found'],
    handle: async ({ gateway, access, req, query: { organization, ...page } }) => {
      const org = requestedOrganization(req, organization);
      return ok(offsetPage(gateway, `keys ${org}`, await listKeys(access, org), page));
    },
  }),
  route({
    method: 'POST',
    path: '/api/keys',
    role: 'admin',
    id: 'createKey',
    summary: 'Makes an API key. The key is shown only in this answer.',
    description:
      "With the first key of `default`, which must be an admin's, requests without a key are refused from then " +
      'on. Naming a new organization creates it. With an Idempotency-Key the same request ' +
      'gets the same key, even if a gateway died before it answered.',
    body: jsonOf(keyBody),
    answers: { 201: { text: 'Made.', schema: madeKey } },
    problems: [...WRITE_PROBLEMS, 'not_found', 'admin_key_first', 'address_taken', 'too_many', 'too_large'],
    handle: async ({ gateway: { config }, access, keyring, principal, req, body }) => {
      const { organization, user, roles, groups, emails, ...request } = body;
      const org = requestedOrganization(req, organization);
      if (org !== DEFAULT_ORGANIZATION && !(await needsKeys(config, keyring)))
        throw new HttpProblem(
          'admin_key_first',
          'While `default` has no keys there is no other organization. Make an admin key of `default` first.',
        );
      const made = await createKey(
        access,
        org,
        { ...request, ...omitUndefined({ user, roles, groups, emails }) },
        { ...rulesFor(config, org), ...omitUndefined({ createdBy: principal.id, requestId: idempotentId(req) }) },
      );
      keyring.forget(org);
      return { status: 201, body: made };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/keys/:id',
    role: 'admin',
    id: 'revokeKey',
    summary: 'Revokes an API key.',
    description:
      'Its callers are refused within seconds, and sessions that were begun with it end. The last key of an ' +
      'admin stays as long as there are others (`last_admin_key`).',
    params: { id: z.string() },
    query: keyQuery,
    answers: { 204: { text: 'Revoked.' } },
    problems: [...WRITE_PROBLEMS, 'not_found', 'last_admin_key'],
    handle: async ({ gateway: { config }, access, keyring, req, params, query }) => {
      const org = requestedOrganization(req, query.organization);
      const id = keyId.safeParse(params.id);
      if (!id.success) throw new HttpProblem('not_found', 'There is no key with that id.');
      await revokeKey(access, org, id.data, rulesFor(config, org));
      keyring.forget(org);
      return { status: 204 };
    },
  }),
  route({
    method: 'POST',
    path: '/api/reseal',
    role: 'admin',
    id: 'reseal',
    summary: 'Encrypts under the present master key all values encrypted under a former one.',
    description:
      'In all organizations, for admins of `default`. It may be repeated. Once no value is unreadable, ' +
      'SIGNALBOX_FORMER_MASTER_KEYS can be removed.',
    body: emptyBody(),
    answers: { 200: { text: 'What was done.', schema: resealed } },
    problems: [...WRITE_PROBLEMS, 'not_found', 'too_large'],
    handle: async ({ access, req }) => {
      demandOrganization(req, DEFAULT_ORGANIZATION);
      return ok(await resealAll(access));
    },
  }),
];

/** Admins of `default` can make keys of other organizations; the key of the environment can make those of `default`. */
const rulesFor = ({ adminKey }: Config, org: string) => ({
  adminElsewhere: org !== DEFAULT_ORGANIZATION || adminKey !== undefined,
});

/** The organization of the keys in the request. @throws HttpProblem `not_found`. */
function requestedOrganization(req: Request, organization: string | undefined): string {
  const { organizationId } = principalOf(req);
  if (organization === undefined) return organizationId;
  if (organizationId === DEFAULT_ORGANIZATION) return organization;
  return demandOrganization(req, organization).organizationId;
}
