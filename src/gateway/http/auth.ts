/**
 * Authentication: a request needs a valid API key or a browser's session, or must come from this machine while the
 * gateway has no keys. A key in a request is checked even while none is needed, so a revoked key is refused.
 */
import type { Request, RequestHandler } from 'express';
import type { ApiKeyCache } from '../../client/organization/api-key-cache.ts';
import type { Config } from '../../config/config.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import { holderOfKey } from './key-holders.ts';
import { demandLoopback, demandNoProxy, isLoopback } from './loopback.ts';
import type { PublicAddresses } from './path-pattern.ts';
import { KEYLESS, keyRequired, type Principal, setPrincipal } from './principal.ts';
import { callerOfSession, type SessionGateway } from './session.ts';

type Settings = Pick<Config, 'host' | 'adminKey'>;

export function authenticate(
  gateway: SessionGateway,
  keyring: ApiKeyCache,
  addresses: PublicAddresses,
): RequestHandler {
  const { config } = gateway;
  return async (req, _res, next) => {
    if (addresses.allowsAnyOrigin(req.path)) return next();
    if (!addresses.isPublic(req.path)) setPrincipal(req, await authenticateCaller(req, gateway, keyring));
    else if (!(await needsKeys(config, keyring))) {
      if (!addresses.isProbe(req.path)) demandNoProxy(req, config.publicUrl);
      setPrincipal(req, demandLocalCaller(req, config));
    }
    next();
  };
}

/**
 * The caller as of now. Streams call this again while they are open. A key in the request wins over a session.
 * @throws HttpProblem `key_invalid`, `key_required`, `required_header_missing`, `host_not_allowed`,
 * `origin_not_allowed`.
 */
export async function authenticateCaller(
  req: Request,
  gateway: SessionGateway,
  keyring: ApiKeyCache,
): Promise<Principal> {
  const { config } = gateway;
  const header = req.get('authorization');
  if (header !== undefined) return holderOf(config, keyring, header);
  if (await needsKeys(config, keyring)) {
    const caller = await callerOfSession(gateway, keyring, req);
    if (caller === undefined) throw keyRequired();
    return caller;
  }
  demandNoProxy(req, config.publicUrl);
  return demandLocalCaller(req, config);
}

/** The initiator of a start without a role, if the request also has an API key of the organization. */
export async function keyInitiatorOf(
  { gateway, keyring, req }: { readonly gateway: SessionGateway; readonly keyring: ApiKeyCache; readonly req: Request },
  org: string,
): Promise<string | undefined> {
  if (req.get('authorization') === undefined) return undefined;
  const caller = await authenticateCaller(req, gateway, keyring).catch((error: unknown) => {
    // Any other content of the header is ignored here.
    if (error instanceof HttpProblem) return undefined;
    throw error;
  });
  return caller?.organizationId === org ? caller.id : undefined;
}

/** @throws ClientError `temporal_unreachable` if the answer has never been known. */
export const needsKeys = async ({ adminKey }: Settings, keyring: ApiKeyCache): Promise<boolean> =>
  adminKey !== undefined || (await keyring.hasKeys());

/** @throws HttpProblem `key_required`, `host_not_allowed`, `origin_not_allowed`. */
function demandLocalCaller(req: Request, { host }: Settings): Principal {
  // The last key was revoked while the gateway listens beyond this machine.
  if (!isLoopback(host)) throw keyRequired();
  demandLoopback(req);
  return KEYLESS;
}

async function holderOf(config: Settings, keyring: ApiKeyCache, header: string): Promise<Principal> {
  const key = /^Bearer +(\S+)$/i.exec(header)?.[1] ?? '';
  const holder = await holderOfKey(config, keyring, key);
  if (holder !== undefined) return holder.principal;
  throw new HttpProblem(
    'key_invalid',
    'The Authorization header holds no key of this gateway, or one that was revoked. Send `Bearer <key>` with a ' +
      'key of yours.',
    { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } },
  );
}
