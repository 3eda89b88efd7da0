/** The caller, as the caller sees it. */
import { z } from 'zod';
import { ROLES } from '../../contract/organization/organization.ts';
import { named, text, time } from './named.ts';

export const me = named(
  'Me',
  z.object({
    id: text.optional().describe('The person. Absent while the gateway has no keys.'),
    keyId: text.optional().describe('Absent for SIGNALBOX_ADMIN_KEY, and while the gateway has no keys.'),
    role: z.enum(ROLES),
    roles: z.array(text).describe("Every role held: `role`, the roles that it includes, and the organization's own."),
    groups: z.array(text),
    organization: text,
    hasKeys: z.boolean().describe('False: the gateway serves its own machine, and nobody logs in.'),
    session: z.object({ expiresAt: time }).optional().describe("Where a browser's session let the caller in."),
  }),
);
