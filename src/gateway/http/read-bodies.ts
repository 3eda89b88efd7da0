/** Reads the bodies of all routes except routes that read them late. */
import type { RequestHandler } from 'express';
import { readRawBody } from './body.ts';
import { addressesOf } from './path-pattern.ts';
import type { Route } from './route.ts';

/** Mount it after the key and rate limit checks. */
export function readBodies(routes: readonly Route[]): RequestHandler {
  const isReadLate = addressesOf(routes, ({ body }) => body?.isReadLate === true);
  const sizes = [...new Set(routes.flatMap(({ body }) => body?.maxBytes ?? []))];
  const larger = sizes.map((maxBytes) => ({
    covers: addressesOf(routes, ({ body }) => body?.maxBytes === maxBytes),
    read: readRawBody(maxBytes),
  }));
  const read = readRawBody();
  return (req, res, next) => {
    if (isReadLate(req.path)) return next();
    const reader = larger.find(({ covers }) => covers(req.path))?.read ?? read;
    return reader(req, res, next);
  };
}
