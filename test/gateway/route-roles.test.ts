import type { Request } from 'express';
import { describe, expect, it } from 'vitest';
import { ROLES } from '../../src/contract/organization.ts';
import {
  demandOrganization,
  demandRole,
  KEYLESS,
  principalOf,
  setPrincipal,
} from '../../src/gateway/http/principal.ts';
import { demandOf, isPublicPath, ROUTE_ROLES } from '../../src/gateway/http/route-roles.ts';
import { routes as declared } from '../../src/gateway/route-table.ts';
import { routesOfApp } from './gateway-support.ts';

describe('the table of roles', () => {
  it('has every route, and no other', async () => {
    const routes = await routesOfApp();
    const rows = Object.entries(ROUTE_ROLES).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    rows.push(...declared.map(({ method, path }) => `${method} ${path}`));
    expect(rows.sort()).toEqual(routes.sort());
  });

  it('lets nobody but an admin use what is not in it', () => {
    expect(demandOf('POST', '/api/new')).toBe('admin');
    expect(demandOf('PATCH', '/api/workflows')).toBe('admin');
    expect(demandOf('HEAD', '/api/workflows')).toBe('viewer');
  });

  it.each([
    ['/healthz', true],
    ['/docs', true],
    ['/docs/loop.md', true],
    ['/webhooks/acme/orders/new', true],
    ['/callbacks/abc.def', true],
    ['/api/workflows', false],
    ['/webhooks', false],
    ['/docs/../api/workflows', false],
    ['/healthz/api', false],
  ])('%s asks for no key: %s', (path, isPublic) => expect(isPublicPath(path)).toBe(isPublic));
});

describe('roles', () => {
  const acting = (role: (typeof ROLES)[number]) => {
    const req = {} as Request;
    setPrincipal(req, { ...KEYLESS, role, organizationId: 'acme' });
    return req;
  };

  it('include those before them', () => {
    for (const [held, one] of ROLES.entries()) {
      for (const [wanted, other] of ROLES.entries()) {
        const demand = () => demandRole(acting(one), other);
        if (held >= wanted) expect(demand().organizationId).toBe('acme');
        else expect(demand).toThrow(expect.objectContaining({ code: 'role_required', status: 403 }));
      }
    }
  });

  it('are nothing to a request that nobody let in', () => {
    expect(() => principalOf({} as Request)).toThrow(expect.objectContaining({ code: 'key_required', status: 401 }));
  });

  it('find no organization but their own', () => {
    expect(demandOrganization(acting('viewer'), 'acme').role).toBe('viewer');
    expect(() => demandOrganization(acting('admin'), 'default')).toThrow(
      expect.objectContaining({ code: 'not_found', status: 404 }),
    );
  });
});
