/**
 * Authentication: a request needs a valid API key, or must come from this machine while the gateway has no keys. A key
 * in a request is checked even while none is needed, so a revoked key is refused.
 */
import type { Request, RequestHandler } from 'express';
import type { KeyHolder, Keyring } from '../../client/organization/keyring.ts';
import { sameText } from '../../client/payloads/keys.ts';
import type { Config } from '../../config/config.ts';
import { rolesUpTo } from '../../contract/organization.ts';
import { DEFAULT_ORGANIZATION } from '../../engine/state/start.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import { demandLoopback, demandNoProxy, isLoopback } from './loopback.ts';
import type { PublicAddresses } from './path-pattern.ts';
import { KEYLESS, keyRequired, type Principal, setPrincipal } from './principal.ts';

type Settings = Pick<Config, 'host' | 'adminKey'>;

export function authenticate(config: Settings, keyring: Keyring, addresses: PublicAddresses): RequestHandler {
  return async (req, _res, next) => {
    if (addresses.isForAnywhere(req.path)) return next();
    if (!addresses.isPublic(req.path)) setPrincipal(req, await whoAsks(req, config, keyring));
    else if (!(await needsKeys(config, keyring))) {
      if (!addresses.isProbe(req.path)) demandNoProxy(req);
      setPrincipal(req, letInFromHere(req, config));
    }
    next();
  };
}

/**
 * The caller as of now. Streams call this again while they are open.
 * @throws HttpProblem `key_invalid`, `key_required`, `host_not_allowed`, `origin_not_allowed`.
 */
export async function whoAsks(req: Request, config: Settings, keyring: Keyring): Promise<Principal> {
  const shown = req.get('authorization');
  if (shown !== undefined) return holderOf(config, keyring, shown);
  if (await needsKeys(config, keyring)) throw keyRequired();
  demandNoProxy(req);
  return letInFromHere(req, config);
}

/** @throws ClientError `temporal_unreachable` if the answer has never been known. */
export const needsKeys = async ({ adminKey }: Settings, keyring: Keyring): Promise<boolean> =>
  adminKey !== undefined || (await keyring.hasKeys());

/** @throws HttpProblem `key_required`, `host_not_allowed`, `origin_not_allowed`. */
function letInFromHere(req: Request, { host }: Settings): Principal {
  // The last key was revoked while the gateway listens beyond this machine.
  if (!isLoopback(host)) throw keyRequired();
  demandLoopback(req);
  return KEYLESS;
}

async function holderOf({ adminKey }: Settings, keyring: Keyring, header: string): Promise<Principal> {
  const key = /^Bearer +(\S+)$/i.exec(header)?.[1] ?? '';
  if (adminKey !== undefined && sameText(key, adminKey)) return ENVIRONMENT;
  const holder = await keyring.holderOf(key);
  if (holder !== undefined) return principalFor(holder);
  throw new HttpProblem(
    'key_invalid',
    'The Authorization header holds no key of this gateway, or one that was revoked. Send `Bearer <key>` with a ' +
      'key of yours.',
    { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } },
  );
}

/** The holder of SIGNALBOX_ADMIN_KEY. */
const ENVIRONMENT: Principal = {
  organizationId: DEFAULT_ORGANIZATION,
  id: 'admin',
  role: 'admin',
  roles: rolesUpTo('admin'),
  groups: [],
};

function principalFor({ organizationId, keyId, record }: KeyHolder): Principal {
  const { user, role, roles, groups } = record;
  return { organizationId, id: user, role, roles: [...rolesUpTo(role), ...roles], groups, keyId };
}
