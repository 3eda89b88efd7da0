/** `/api/secrets`: stored encrypted, listed by name, and never answered (E7). */

import type { Router } from 'express';
import { z } from 'zod';
import { deleteSecret, LONGEST_SECRET_BYTES, listSecrets, putSecret } from '../../../client/organization/secrets.ts';
import { SHORTEST_SECRET_CHARACTERS } from '../../../definition/document/limits.ts';
import { defined } from '../../../json/defined.ts';
import { bodyAs } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { namedPage } from '../../http/named-page.ts';
import { principalOf } from '../../http/principal.ts';
import { resource } from '../../http/resource.ts';
import { checked, demandNoQuery, nameText, pageQuery, queryAs, slugText } from '../../validation/validation.ts';

export const secretName = nameText(200).regex(
  /^[A-Za-z0-9][A-Za-z0-9._/-]*$/,
  'Expected letters, digits and . _ - /, such as payments/live.',
);
const host = z
  .string()
  .max(255)
  .regex(/^(\*\.)?[A-Za-z0-9._-]+(:\d{1,5})?$/, 'Expected a host such as api.example.com or *.example.com.');

const LEFT_OUT = 'Left out, it stays as it was, and of a new secret it is any.';

export const secretBody = z.strictObject({
  value: z
    .string()
    .max(LONGEST_SECRET_BYTES)
    .describe('It is never answered.')
    // Told as secret_too_short, as wherever else a secret comes in.
    .meta({ minLength: SHORTEST_SECRET_CHARACTERS }),
  allowedHosts: z
    .array(host)
    .min(1)
    .max(100)
    .nullish()
    .describe(`Hosts that it may be sent to; null: any. ${LEFT_OUT}`),
  allowedWorkflows: z
    .array(slugText)
    .min(1)
    .max(100)
    .nullish()
    .describe(`Workflows that may use it; null: any. ${LEFT_OUT}`),
});

export const secretListQuery = z.strictObject(pageQuery());

export function secretRoutes(router: Router, gateway: Gateway): void {
  const { access } = gateway;

  resource(router, '/api/secrets', {
    GET: async (req, res) => {
      const page = queryAs(req, secretListQuery);
      const { organizationId } = principalOf(req);
      const secrets = await listSecrets(access, organizationId);
      res.json(namedPage(gateway, 'secrets', organizationId, secrets, page));
    },
  });

  resource(router, '/api/secrets/:name', {
    PUT: async (req, res) => {
      demandNoQuery(req);
      const body = bodyAs(req, secretBody);
      const { created, secret } = await putSecret(
        access,
        principalOf(req).organizationId,
        checked(secretName, req.params['name'], 'path'),
        {
          value: body.value,
          ...defined({ allowedHosts: body.allowedHosts, allowedWorkflows: body.allowedWorkflows }),
        },
      );
      res.status(created ? 201 : 200).json(secret);
    },
    DELETE: async (req, res) => {
      demandNoQuery(req);
      await deleteSecret(access, principalOf(req).organizationId, checked(secretName, req.params['name'], 'path'));
      res.status(204).end();
    },
  });
}
