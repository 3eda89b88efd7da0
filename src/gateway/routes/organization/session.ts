/** `/api/session` begins and ends the session of a browser; `/api/me` tells who asks. */
import { z } from 'zod';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { me } from '../../answers/session.ts';
import { auditedAccess } from '../../http/audited-access.ts';
import { needsKeys } from '../../http/auth.ts';
import { perGateway } from '../../http/context.ts';
import { holderOfKey } from '../../http/key-holders.ts';
import { type Principal, setPrincipal } from '../../http/principal.ts';
import { type Incoming, ok, route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import { beginSession, callerOfSession, demandConsoleHeader, endSession, isFromOwnPage } from '../../http/session.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { FailedLogins } from './failed-logins.ts';

const PATH = '/api/session';
const HEADERS = { 'X-Signalbox-Console': '`1`.' } as const;

const loginBody = z.strictObject({ key: z.string().min(1).max(1_000).describe('An API key.') });

const failedOf = perGateway(() => new FailedLogins());

export const sessionRoutes = [
  route({
    method: 'GET',
    path: '/api/me',
    role: 'viewer',
    id: 'me',
    summary: 'Tells who asks, and what the caller may do.',
    description:
      'The organization, the person and the role of the key or session, and whether the gateway has keys at ' + 'all.',
    answers: { 200: { text: 'The caller.', schema: me } },
    handle: async ({ gateway: { config }, keyring, principal }) =>
      ok(callerView(principal, await needsKeys(config, keyring))),
  }),
  route({
    method: 'POST',
    path: PATH,
    role: 'public',
    id: 'logIn',
    summary: 'Begins the session of a browser, for 12 hours.',
    description:
      'The cookie names the key, and ends with it. It counts only for requests of pages of this gateway; requests ' +
      'that change something need the header X-Signalbox-Console besides. Five wrong keys a minute from one address ' +
      'are looked at.',
    headers: HEADERS,
    body: jsonOf(loginBody),
    answers: { 201: { text: 'The caller.', schema: me, headers: { 'Set-Cookie': 'The session.' } } },
    problems: ['login_not_needed'],
    handle: async (call) => {
      const { gateway, keyring, req, res, body } = call;
      demandOwnPage(call);
      if (!(await needsKeys(gateway.config, keyring)))
        throw new HttpProblem('login_not_needed', 'This gateway has no keys, so there is nothing to log in with.');
      const wasRight = failedOf(gateway).countAttempt(req);
      const holder = await holderOfKey(gateway.config, keyring, body.key);
      if (holder === undefined) {
        gateway.log.warn({ requestId: res.locals['requestId'], address: req.ip }, 'A login with a wrong key.');
        throw new HttpProblem('key_invalid', 'This is no key of this gateway, or one that was revoked.');
      }
      wasRight();
      await auditSessionChange(call, holder.principal);
      return { status: 201, body: callerView(beginSession(gateway, req, res, holder), true) };
    },
  }),
  route({
    method: 'DELETE',
    path: PATH,
    role: 'public',
    id: 'logOut',
    summary: 'Ends the session of a browser.',
    description: 'The cookie is removed. Without a session nothing happens.',
    headers: HEADERS,
    answers: { 204: { text: 'There is no session any more.' } },
    handle: async (call) => {
      const { gateway, keyring, req, res } = call;
      demandOwnPage(call);
      const caller = await callerOfSession(gateway, keyring, req).catch(() => undefined);
      if (caller !== undefined)
        await auditSessionChange(call, caller).catch((error: unknown) =>
          gateway.log.warn({ requestId: res.locals['requestId'], err: String(error) }, 'A logout was not recorded.'),
        );
      endSession(gateway, req, res, caller);
      return { status: 204 };
    },
  }),
];

/** @throws HttpProblem `required_header_missing`, `origin_not_allowed`. */
function demandOwnPage({ gateway, req }: Pick<Incoming, 'gateway' | 'req'>): void {
  demandConsoleHeader(req);
  if (isFromOwnPage(gateway, req)) return;
  throw new HttpProblem('origin_not_allowed', 'Only pages of this gateway may begin or end a session.');
}

/** Records the request in the audit, as the caller's. @throws ClientError `temporal_unreachable`. */
async function auditSessionChange({ gateway, trail, req, res }: Incoming, caller: Principal): Promise<void> {
  setPrincipal(req, caller);
  await auditedAccess(gateway.access, trail, req, res, PATH).beforeWrite();
}

function callerView({ organizationId, id, keyId, role, roles, groups, session }: Principal, hasKeys: boolean) {
  return {
    ...omitUndefined({ id, keyId }),
    role,
    roles,
    groups,
    organization: organizationId,
    hasKeys,
    ...(session === undefined ? {} : { session: { expiresAt: new Date(session.until).toISOString() } }),
  };
}
