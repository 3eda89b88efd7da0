/**
 * The session of a browser: a cookie that is sealed under the master key. It names the id of the key that the person
 * logged in with, not the key, and is worth what that key is worth now: when the key is revoked, or its rights are not
 * those of the login, the session is over. By hand: packages for sealed cookies cannot ask
 * whether a key was revoked.
 */

import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { ApiKeyCache } from '../../client/organization/api-key-cache.ts';
import { constantTimeEqual } from '../../client/payloads/keys.ts';
import { seal, unsealWithAny } from '../../client/payloads/seal.ts';
import { type Access, keysFor } from '../../client/temporal/access.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import { type Gateway, perGateway } from './context.ts';
import { type Holder, holderOfId } from './key-holders.ts';
import type { Principal } from './principal.ts';

/** The name of the cookie over plain HTTP. */
export const SESSION_COOKIE = 'signalbox_session';
/** Over HTTPS browsers take the cookie from this very host only, not from a sibling of its domain. */
const nameOf = (isSecure: boolean): string => (isSecure ? `__Host-${SESSION_COOKIE}` : SESSION_COOKIE);
/** The header of requests of the console that change something. No form and no link of another page can send it. */
const CONSOLE_HEADER = 'x-signalbox-console';
const SESSION_MS = 12 * 60 * 60 * 1000;
/** What the cookie is sealed for. */
const SEAL_CONTEXT = 'session';
const MAX_COOKIE_LENGTH = 4_000;
const MAX_COOKIES = 100;
/** The most sessions that a gateway remembers as ended. */
const MAX_ENDED_SESSIONS = 10_000;
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

export type SessionGateway = Pick<Gateway, 'config' | 'publicUrl'> & {
  readonly access: Pick<Access, 'keys' | 'formerKeys'>;
};

const content = z.strictObject({
  id: z.string(),
  organizationId: z.string(),
  /** Absent for SIGNALBOX_ADMIN_KEY. */
  keyId: z.string().optional(),
  mark: z.string(),
  /** Milliseconds since 1970. */
  until: z.number(),
});

/** Ids of sessions that were ended here, with the time when they would have ended. Other gateways do not know them. */
const endedSessionsOf = perGateway(() => new BoundedMap<string, number>(MAX_ENDED_SESSIONS));

/** Begins a session: sets the cookie, and returns the caller. */
export function beginSession(gateway: SessionGateway, req: Request, res: Response, { principal, rightsHash }: Holder) {
  const session = { id: randomUUID(), until: Date.now() + SESSION_MS };
  const { organizationId, keyId } = principal;
  const plaintext = JSON.stringify({ ...session, organizationId, ...omitUndefined({ keyId }), mark: rightsHash });
  const attributes = attributesOf(gateway, req);
  res.cookie(nameOf(attributes.secure), seal(gateway.access.keys.sessions, SEAL_CONTEXT, plaintext), {
    ...attributes,
    maxAge: SESSION_MS,
  });
  return { ...principal, session };
}

/** Ends the caller's session, if there is one, and removes the cookie. */
export function endSession(gateway: SessionGateway, req: Request, res: Response, caller?: Principal): void {
  const attributes = attributesOf(gateway, req);
  res.clearCookie(nameOf(attributes.secure), attributes);
  if (caller?.session === undefined) return;
  const ended = endedSessionsOf(gateway as Gateway);
  const now = Date.now();
  for (const [id, until] of ended) if (until < now) ended.delete(id);
  ended.set(caller.session.id, caller.session.until);
}

/**
 * The caller by the cookie. Undefined without a valid session, and for requests that another site may have caused.
 * @throws HttpProblem `required_header_missing`; ClientError `temporal_unreachable`.
 */
export async function callerOfSession(
  gateway: SessionGateway,
  keyring: ApiKeyCache,
  req: Request,
): Promise<Principal | undefined> {
  if (!isFromOwnPage(gateway, req)) return undefined;
  // A page at another port may have set another cookie of the name. The cookies cannot be told apart, so none counts.
  const [session, ...others] = sessionsIn(gateway, req);
  if (session === undefined || others.length > 0) return undefined;
  const { id, until, organizationId, keyId, mark } = session;
  const holder = await holderOfId(gateway.config, keyring, organizationId, keyId);
  if (holder === undefined || !constantTimeEqual(holder.rightsHash, mark)) return undefined;
  demandConsoleHeader(req);
  return { ...holder.principal, session: { id, until } };
}

/** Whether the request comes from a page of this gateway, as far as the browser says. */
export function isFromOwnPage(gateway: Pick<SessionGateway, 'publicUrl'>, req: Request): boolean {
  const site = req.get('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  const origin = req.get('origin');
  return origin === undefined ? SAFE_METHODS.has(req.method) : isOwnOrigin(gateway, req, origin.toLowerCase());
}

/** @throws HttpProblem `required_header_missing` for a request that changes something and lacks the header. */
export function demandConsoleHeader(req: Request): void {
  if (SAFE_METHODS.has(req.method) || req.get(CONSOLE_HEADER) === '1') return;
  throw new HttpProblem(
    'required_header_missing',
    'A request of a browser that changes something needs the header X-Signalbox-Console: 1.',
  );
}

/** Behind a proxy that is not trusted the gateway sees plain HTTP, so an https origin of its host is its own. */
function isOwnOrigin({ publicUrl }: Pick<SessionGateway, 'publicUrl'>, req: Request, origin: string): boolean {
  const host = (req.get('host') ?? '').toLowerCase();
  if (origin === `https://${host}` || (!req.secure && origin === `http://${host}`)) return true;
  return URL.canParse(publicUrl()) && origin === new URL(publicUrl()).origin;
}

const attributesOf = ({ publicUrl }: SessionGateway, req: Request) =>
  ({ httpOnly: true, sameSite: 'strict', path: '/', secure: req.secure || isPublicHttps(publicUrl(), req) }) as const;

function isPublicHttps(publicUrl: string, req: Request): boolean {
  if (!URL.canParse(publicUrl)) return false;
  const { protocol, host } = new URL(publicUrl);
  return protocol === 'https:' && host === (req.get('host') ?? '').toLowerCase();
}

/** The sessions that have not ended, one for each key. Cookies of a gateway at another port cannot be read here. */
function sessionsIn(gateway: SessionGateway, req: Request): readonly z.output<typeof content>[] {
  const name = nameOf(attributesOf(gateway, req).secure);
  const byKey = new Map<string, z.output<typeof content>>();
  for (const cookie of (req.get('cookie') ?? '').split(';').slice(0, MAX_COOKIES)) {
    const at = cookie.indexOf('=');
    const value = cookie.slice(at + 1).trim();
    if (cookie.slice(0, at).trim() !== name || value.length > MAX_COOKIE_LENGTH) continue;
    const plaintext = unsealWithAny(keysFor(gateway.access, 'sessions'), SEAL_CONTEXT, value);
    if (plaintext === undefined) continue;
    const session = content.parse(JSON.parse(plaintext));
    const isOver = session.until <= Date.now() || endedSessionsOf(gateway as Gateway).has(session.id);
    if (!isOver) byKey.set(JSON.stringify([session.organizationId, session.keyId ?? null]), session);
  }
  return [...byKey.values()];
}
