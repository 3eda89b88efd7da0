/**
 * `/api/keys`: API keys, made, listed and revoked (ARCHITECTURE.md §5). A key is shown once, when it is made. `/api/reseal`: what
 * was sealed under a former master key is sealed under the present one.
 */

import type { Request, Router } from 'express';
import { z } from 'zod';
import { createKey, listKeys, revokeKey } from '../../../client/organization/api-keys.ts';
import type { Keyring } from '../../../client/organization/keyring.ts';
import { resealAll } from '../../../client/organization/keys-reseal.ts';
import { ROLES } from '../../../contract/organization.ts';
import { DEFAULT_ORGANIZATION } from '../../../engine/state/start.ts';
import { defined } from '../../../json/defined.ts';
import { needsKeys } from '../../http/auth.ts';
import { bodyAs } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { indexedPage } from '../../http/indexed-page.ts';
import { demandOrganization, principalOf } from '../../http/principal.ts';
import { HttpProblem } from '../../http/problem.ts';
import { idOfKey } from '../../http/request-key.ts';
import { resource } from '../../http/resource.ts';
import {
  checked,
  demandNoQuery,
  nameText,
  noMembers,
  pageQuery,
  pathText,
  queryAs,
  slugText,
} from '../../validation/validation.ts';

const ownName = nameText(100).refine(
  (name) => !ROLES.some((role) => role === name),
  'Expected a role of your own; those of Signalbox go by `role`.',
);
const organization = slugText.optional().describe('Another organization than the own: for admins of `default`.');

export const keyBody = z.strictObject({
  name: nameText(100).describe('What the key is for, or whose it is.'),
  role: z.enum(ROLES).describe('Each role may do what those before it may.'),
  user: nameText(100).optional().describe('The person, who may have several keys. Default: the name.'),
  roles: z.array(ownName).max(50).optional().describe("The person's roles in approvals, such as finance."),
  groups: z.array(nameText(100)).max(50).optional().describe("The person's groups in approvals."),
  organization,
});
export const keyListQuery = z.strictObject({ ...pageQuery(), organization });
export const keyQuery = z.strictObject({ organization });
const keyId = z.string().regex(/^[0-9a-f]{12}$/);

export function keyRoutes(router: Router, gateway: Gateway, keyring: Keyring): void {
  const { access, config } = gateway;

  resource(router, '/api/keys', {
    GET: async (req, res) => {
      const { limit, cursor, organization } = queryAs(req, keyListQuery);
      const org = meant(req, organization);
      res.json(indexedPage(gateway, `keys ${org}`, await listKeys(access, org), { limit, cursor }));
    },
    POST: async (req, res) => {
      demandNoQuery(req);
      const { organization, user, roles, groups, ...request } = bodyAs(req, keyBody);
      const org = meant(req, organization);
      const { id: createdBy } = principalOf(req);
      const requestId = idOfKey(req);
      if (org !== DEFAULT_ORGANIZATION && !(await needsKeys(config, keyring))) {
        throw new HttpProblem(
          'admin_key_first',
          'While `default` has no keys there is no other organization. Make an admin key of `default` first.',
        );
      }
      const made = await createKey(
        access,
        org,
        {
          ...request,
          ...defined({ user, roles, groups }),
        },
        {
          ...rulesFor(org),
          ...defined({ createdBy, requestId }),
        },
      );
      keyring.forget(org);
      res.status(201).json(made);
    },
  });

  resource(router, '/api/keys/:id', {
    DELETE: async (req, res) => {
      const org = meant(req, queryAs(req, keyQuery).organization);
      const id = keyId.safeParse(pathText(req, 'id'));
      if (!id.success) throw new HttpProblem('not_found', 'There is no key with that id.');
      await revokeKey(access, org, id.data, rulesFor(org));
      keyring.forget(org);
      res.status(204).end();
    },
  });

  resource(router, '/api/reseal', {
    POST: async (req, res) => {
      demandNoQuery(req);
      bodyAs(req, noMembers);
      demandOrganization(req, DEFAULT_ORGANIZATION);
      res.json(await resealAll(access));
    },
  });

  /** Keys of other organizations can be made by the admins of `default`, and those of `default` by the environment's key. */
  const rulesFor = (org: string) => ({
    adminElsewhere: org !== DEFAULT_ORGANIZATION || config.adminKey !== undefined,
  });
}

/** The organization whose keys are meant. @throws HttpProblem `not_found`. */
function meant(req: Request, organization: string | undefined): string {
  const { organizationId } = principalOf(req);
  if (organization === undefined) return organizationId;
  if (organizationId === DEFAULT_ORGANIZATION) return checked(slugText, organization, 'query');
  return demandOrganization(req, organization).organizationId;
}
