/** `/api/secrets`: stored encrypted, listed by name, and never returned (E7). */

import { z } from 'zod';
import { deleteSecret, listSecrets, MAX_SECRET_BYTES, putSecret } from '../../../client/organization/secrets.ts';
import { MIN_SECRET_CHARACTERS } from '../../../definition/document/limits.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { named, pageOf } from '../../answers/named.ts';
import { secret } from '../../answers/organization.ts';
import { nameText, slugText } from '../../validation/validation.ts';
import { namedCollection } from './named-collection.ts';

export const secretName = nameText(200).regex(
  /^[A-Za-z0-9][A-Za-z0-9._/-]*$/,
  'Expected letters, digits and . _ - /, such as payments/live.',
);
const host = z
  .string()
  .max(255)
  .regex(/^(\*\.)?[A-Za-z0-9._-]+(:\d{1,5})?$/, 'Expected a host such as api.example.com or *.example.com.');

const LEFT_OUT = 'Left out, it stays as it was, and of a new secret it is any.';

const secretBody = z.strictObject({
  value: z
    .string()
    .max(MAX_SECRET_BYTES)
    .describe('The value. It is never returned.')
    // Refused later as secret_too_short, as everywhere else.
    .meta({ minLength: MIN_SECRET_CHARACTERS }),
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

export const secretRoutes = namedCollection({
  collection: 'secrets',
  operation: { one: 'Secret', many: 'Secrets' },
  noun: { one: 'secret', many: 'secrets' },
  roles: { read: 'editor', write: 'editor' },
  name: secretName,
  item: secret,
  page: named('SecretPage', pageOf(secret)),
  missing: 'not_found',
  list: {
    summary: 'Lists secrets by name, without their values.',
    description: 'With the hosts and the workflows that may get each. No request returns a value.',
    all: listSecrets,
  },
  put: {
    summary: 'Stores a secret, encrypted.',
    description: 'A slash in the name is written %2F.',
    body: secretBody,
    problems: ['secret_too_short', 'payload_too_large', 'too_many', 'too_large'],
    write: async (_gateway, access, org, name, { value, allowedHosts, allowedWorkflows }) => {
      const stored = await putSecret(access, org, name, {
        value,
        ...omitUndefined({ allowedHosts, allowedWorkflows }),
      });
      return { created: stored.created, item: stored.secret };
    },
  },
  remove: {
    summary: 'Deletes a secret.',
    description: 'Steps that need it fail from then on (`secret_not_found`), until it is stored again.',
    remove: deleteSecret,
  },
});
