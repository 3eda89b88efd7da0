/** How routes are declared: one path, its methods, and 405 for every other. */
import type { NextFunction, Request, Response, Router } from 'express';
import { HttpProblem } from './problem.ts';

export type Handler = (req: Request, res: Response, next: NextFunction) => Promise<void> | void;
export type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
export type Handlers = { readonly [method in Method]?: Handler };

/** `open`: methods that are not listed may be another resource's at the same path. */
export function resource(router: Router, path: string, handlers: Handlers, options: { open?: boolean } = {}): void {
  const allowed = allowedBy(Object.keys(handlers));
  router.all(path, (req, res, next) => {
    // Logs name the route, never the path itself, which may hold a token.
    res.locals['route'] = path;
    const handler = handlers[(req.method === 'HEAD' ? 'GET' : req.method) as Method];
    if (handler !== undefined) return handler(req, res, next);
    if (options.open === true) return next();
    if (req.method === 'OPTIONS') {
      res.status(204).setHeader('allow', allowed).end();
      return;
    }
    throw methodNotAllowed(req.method, allowed);
  });
}

export function methodNotAllowed(method: string, allowed: string): HttpProblem {
  return new HttpProblem('method_not_allowed', `${method} is not possible here; ${allowed} is.`, {
    headers: { allow: allowed },
  });
}

function allowedBy(methods: readonly string[]): string {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}
