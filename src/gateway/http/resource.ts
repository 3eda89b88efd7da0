/** How routes are declared: one path, its methods, and 405 for every other. */
import type { NextFunction, Request, Response, Router } from 'express';
import type { AuditTrail } from '../../client/organization/audit.ts';
import { audited } from './audited.ts';
import { demandRole } from './principal.ts';
import { HttpProblem } from './problem.ts';
import { demandOf } from './route-roles.ts';

export type Handler = (req: Request, res: Response, next: NextFunction) => Promise<void> | void;
export type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
export type Handlers = { readonly [method in Method]?: Handler };

/** One handler for whatever is asked at an address. */
export const anyMethod = (handler: Handler): Handlers => ({
  GET: handler,
  PUT: handler,
  POST: handler,
  PATCH: handler,
  DELETE: handler,
});

/** What an address answers to. */
export interface Resource {
  readonly path: string;
  readonly methods: readonly Method[];
}

const declared = new WeakMap<Router, Resource[]>();
const trails = new WeakMap<Router, AuditTrail>();
const keepers = new WeakMap<Router, AnswerKeeper>();

/** Answers what a request with a key was answered before, and says so; else sees that the answer is kept. */
export type AnswerKeeper = (req: Request, res: Response) => Promise<boolean>;

/** Where changes through this router's resources are written down. */
export function auditInto(router: Router, trail: AuditTrail): void {
  trails.set(router, trail);
}

/** Who keeps the answers to this router's requests. It is asked once the caller's role is known to suffice. */
export function keepAnswersWith(router: Router, keeper: AnswerKeeper): void {
  keepers.set(router, keeper);
}

/** Every resource of a router, in the order in which they were declared. */
export function resourcesOf(router: Router): readonly Resource[] {
  return declared.get(router) ?? [];
}

/** `open`: methods that are not listed may be another resource's at the same path. */
export function resource(router: Router, path: string, handlers: Handlers, options: { open?: boolean } = {}): void {
  const methods = Object.keys(handlers) as Method[];
  declared.set(router, [...resourcesOf(router), { path, methods }]);
  const allowed = allowedBy(methods);
  router.all(path, (req, res, next) => {
    // Logs name the route, never the path itself, which may hold a token.
    res.locals['route'] = path;
    const handler = handlers[(req.method === 'HEAD' ? 'GET' : req.method) as Method];
    if (handler !== undefined) {
      const demand = demandOf(req.method, path);
      if (demand === 'public') return handler(req, res, next);
      demandRole(req, demand);
      return unlessKept(keepers.get(router), req, res, () =>
        audited(trails.get(router), req, res, path, () => handler(req, res, next)),
      );
    }
    if (options.open === true) return next();
    if (req.method === 'OPTIONS') {
      res.status(204).setHeader('allow', allowed).end();
      return;
    }
    throw methodNotAllowed(req.method, allowed);
  });
}

async function unlessKept(
  keeper: AnswerKeeper | undefined,
  req: Request,
  res: Response,
  act: () => Promise<void> | void,
): Promise<void> {
  if (keeper !== undefined && (await keeper(req, res))) return;
  await act();
}

export function methodNotAllowed(method: string, allowed: string): HttpProblem {
  return new HttpProblem('method_not_allowed', `${method} is not possible here; ${allowed} is.`, {
    headers: { allow: allowed },
  });
}

function allowedBy(methods: readonly string[]): string {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}
