/** Serves routes: one Express route per path, with the role, the idempotency and the audit of each method. */
import type { Request, Response, Router } from 'express';
import type { ApiKeyCache } from '../../client/organization/api-key-cache.ts';
import type { AuditTrail } from '../../client/organization/audit.ts';
import { unaudited, withCaller } from '../../client/temporal/access.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import { auditedAccess } from './audited-access.ts';
import type { Backpressure } from './backpressure.ts';
import { readRawBody } from './body.ts';
import type { BodyReader } from './body-reader.ts';
import type { Gateway } from './context.ts';
import type { IdempotencyHandler } from './idempotency.ts';
import { METHODS, type Method } from './method.ts';
import { pathPattern } from './path-pattern.ts';
import { demandRole, principalOf } from './principal.ts';
import { type Outcome, type Route, SENT } from './route.ts';

interface RouterDependencies {
  readonly gateway: Gateway;
  readonly keyring: ApiKeyCache;
  /** Where changes are recorded. */
  readonly trail: AuditTrail;
  readonly idempotencyHandler: IdempotencyHandler;
  readonly backpressure: Backpressure;
  readonly bodyReader: BodyReader;
}

/** Mounts all routes in their order. Methods that a path does not have are answered 405. */
export function serveRoutes(router: Router, routes: readonly Route[], dependencies: RouterDependencies): void {
  const paths = [...new Set(routes.map(({ path }) => path))];
  for (const [index, path] of paths.entries()) {
    const ours = routes.filter((route) => route.path === path);
    // A later path may have the method: `/api/workflows/sync` is also the address of a workflow called `sync`.
    const isShared = paths.slice(index + 1).some((later) => pathPattern(later).test(path));
    router.all(path, async (req, res, next) => {
      // Logs name the route, never the path itself, which may hold a token.
      res.locals['route'] = path;
      const route = ours.find(({ method }) => method === (req.method === 'HEAD' ? 'GET' : req.method));
      if (route !== undefined) return handleRequest(route, routes, dependencies, req, res);
      const methods: readonly Method[] = [...ours.map(({ method }) => method), ...(res.locals['methods'] ?? [])];
      if (isShared) {
        res.locals['methods'] = methods;
        return next();
      }
      const allowed = allowedBy(METHODS.filter((method) => methods.includes(method)));
      if (req.method !== 'OPTIONS') throw methodNotAllowed(req.method, allowed);
      res.status(204).setHeader('allow', allowed).end();
    });
  }
}

/** The lane (client/temporal/rpc.ts) of requests without a key: no organization has this name. */
const KEYLESS_LANE = '-';
const readDeferredBody = readRawBody();

/** Whether the body of its address, with any method, is read by `takeBody`. */
const defersBody = ({ path }: Route, routes: readonly Route[]): boolean =>
  routes.some((other) => other.path === path && other.body?.isReadLate === true);

async function handleRequest(
  route: Route,
  routes: readonly Route[],
  { gateway, keyring, trail, idempotencyHandler, backpressure, bodyReader }: RouterDependencies,
  req: Request,
  res: Response,
): Promise<void> {
  const isPublic = route.role === 'public';
  if (route.role !== 'public') demandRole(req, route.role);
  const organizationId = isPublic ? undefined : principalOf(req).organizationId;
  // A login shows a key.
  if (route.writes && !defersBody(route, routes)) backpressure.acquire(res, { organizationId, hasKey: true });
  if (!isPublic && route.idempotency === 'answer' && (await idempotencyHandler(req, res))) return;
  const callerAccess = withCaller(gateway.access, organizationId ?? KEYLESS_LANE);
  const access =
    !isPublic && route.isAudited ? auditedAccess(callerAccess, trail, req, res, route.path) : unaudited(callerAccess);
  const takeBody = async (ofOrganization: string): Promise<void> => {
    await bodyReader.read(readDeferredBody, req, res, false);
    backpressure.acquire(res, { organizationId: ofOrganization, hasKey: false });
  };
  send(
    res,
    await route.answer({
      gateway: { ...gateway, access: callerAccess },
      access,
      keyring,
      trail,
      routes,
      req,
      res,
      takeBody,
    }),
  );
}

function send(res: Response, outcome: Outcome): void {
  if (outcome === SENT) return;
  const { status, headers = {} } = outcome;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.status(status);
  if ('text' in outcome) res.type(outcome.type).send(outcome.text);
  else if (outcome.body === undefined) res.end();
  else res.json(outcome.body);
}

export function methodNotAllowed(method: string, allowed: string): HttpProblem {
  return new HttpProblem('method_not_allowed', `${method} is not possible here; ${allowed} is.`, {
    headers: { allow: allowed },
  });
}

function allowedBy(methods: readonly string[]): string {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}
