/** The caller of a request, and what the caller may do. */
import type { Request } from 'express';
import { DEFAULT_ORGANIZATION, includesRole, type Role, rolesUpTo } from '../../contract/organization/organization.ts';
import { extendScope } from '../../observe/scope.ts';
import { HttpProblem } from '../validation/http-problem.ts';

export interface Principal {
  readonly organizationId: string;
  /** The person or program; absent while the organization has no keys. */
  readonly id?: string;
  readonly role: Role;
  /** Every role held: `role`, the roles that it includes, and the organization's own roles such as `finance`. */
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  /** The person's e-mail addresses, in lower case. */
  readonly names: readonly string[];
  readonly keyId?: string;
  /** The session of a browser that let the caller in: its id, and when it ends, in milliseconds since 1970. */
  readonly session?: { readonly id: string; readonly until: number };
}

/** The caller while the gateway has no keys. */
export const KEYLESS: Principal = {
  organizationId: DEFAULT_ORGANIZATION,
  role: 'admin',
  roles: rolesUpTo('admin'),
  groups: [],
  names: [],
};

const principals = new WeakMap<Request, Principal>();

/** Called once for each request, when its key is checked (auth.ts). */
export function setPrincipal(req: Request, principal: Principal): void {
  principals.set(req, principal);
  extendScope({ organizationId: principal.organizationId });
}

export function keyRequired(): HttpProblem {
  return new HttpProblem('key_required', 'This gateway has keys: send one as `Authorization: Bearer <key>`.', {
    headers: { 'www-authenticate': 'Bearer' },
  });
}

/** @throws HttpProblem `key_required`. */
export function principalOf(req: Request): Principal {
  const principal = principals.get(req);
  if (principal === undefined) throw keyRequired();
  return principal;
}

/**
 * For requests that need more than the role of their route.
 * @throws HttpProblem `key_required`, `role_required`.
 */
export function demandRole(req: Request, wanted: Role): Principal {
  const principal = principalOf(req);
  if (includesRole(principal.role, wanted)) return principal;
  throw new HttpProblem(
    'role_required',
    `This needs the role ${wanted}, and the key has ${principal.role}. Ask an admin for a key that may do it.`,
  );
}

/**
 * For routes that name an organization: any organization but the caller's is answered as not found.
 * @throws HttpProblem `not_found`.
 */
export function demandOrganization(req: Request, organizationId: string): Principal {
  const principal = principalOf(req);
  if (principal.organizationId === organizationId) return principal;
  throw new HttpProblem('not_found', 'There is no such organization.');
}
