import type { Request } from 'express';
import { describe, expect, it } from 'vitest';
import { ROLES } from '../../src/contract/organization/organization.ts';
import { publicAddresses } from '../../src/gateway/http/path-pattern.ts';
import {
  demandOrganization,
  demandRole,
  KEYLESS,
  principalOf,
  setPrincipal,
} from '../../src/gateway/http/principal.ts';
import type { Idempotency } from '../../src/gateway/http/route.ts';
import { routes } from '../../src/gateway/route-table.ts';
import { gatewayWithoutTemporal, keyRecord, NO_KEYS, pathsOfApp } from './gateway-support.ts';

describe('the table of routes', () => {
  it('is what the gateway serves, each path once and in this order', async () => {
    expect(await pathsOfApp()).toEqual([...new Set(routes.map(({ path }) => path))]);
  });

  it('has each method of a path once', () => {
    const named = routes.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(named).size).toBe(named.length);
  });

  it('asks of HEAD the role that GET asks for', async () => {
    const gateway = await gatewayWithoutTemporal(
      {},
      {
        ...NO_KEYS,
        hasKeys: async () => true,
        holderOf: async () => ({
          organizationId: 'default',
          keyId: 'viewer',
          record: keyRecord('viewer'),
          addresses: [],
        }),
      },
    );
    const head = async (path: string) =>
      (await fetch(`${gateway.url}${path}`, { method: 'HEAD', headers: { authorization: 'Bearer viewer' } })).status;
    // Temporal is unavailable: what may be read is not there, and what may not be read is refused before.
    expect(await head('/api/workflows')).toBe(503);
    expect(await head('/api/keys')).toBe(403);
    await gateway.close();
  });

  it('keeps the answers of POSTs that neither start a run nor change nothing', () => {
    const keeping = (idempotency: Idempotency) =>
      routes.filter((one) => one.method === 'POST' && one.idempotency === idempotency).map(({ path }) => path);
    expect(keeping('id').sort()).toEqual([
      '/api/events',
      '/api/executions',
      '/api/executions/:id/fork',
      '/api/organizations/:org/workflows/:slug/runs',
      '/api/private/trigger/:workflowId',
      '/api/public/trigger/:publicApiKey/:workflowId',
      '/api/recordings/:id/replay',
      '/api/triggers/:id/run',
      '/api/triggers/manual/run',
    ]);
    expect(keeping('none').sort()).toEqual([
      '/api/expressions/evaluate',
      '/api/session',
      '/api/workflows/graph',
      '/api/workflows/validate',
      '/approvals/:token',
      '/callbacks/:token',
      '/codec/decode',
      '/codec/encode',
      '/mcp',
      '/mcp/recordings/:id',
      '/webhooks/:org/*path',
      '/webhooks/:path',
    ]);
    expect(routes.filter(({ method, idempotency }) => method !== 'POST' && idempotency !== 'none')).toEqual([]);
  });

  const { isPublic } = publicAddresses(routes);

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
  ])('%s asks for no key: %s', (path, expected) => expect(isPublic(path)).toBe(expected));
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
