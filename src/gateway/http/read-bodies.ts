/** Reads the bodies of all routes except routes that read them late. */
import type { RequestHandler } from 'express';
import { readRawBody } from './body.ts';
import type { BodyPace } from './body-pace.ts';
import { addressesOf } from './path-pattern.ts';
import type { Route } from './route.ts';

/** Mount it after the key and rate limit checks. */
export function readBodies(routes: readonly Route[], pace: BodyPace): RequestHandler {
  const isReadLate = addressesOf(routes, ({ body }) => body?.isReadLate === true);
  const sizes = [...new Set(routes.flatMap(({ body }) => body?.maxBytes ?? []))];
  const larger = sizes.map((maxBytes) => ({
    covers: addressesOf(routes, ({ body }) => body?.maxBytes === maxBytes),
    read: readRawBody(maxBytes),
  }));
  const read = readRawBody();
  return async (req, res, next) => {
    if (isReadLate(req.path)) return next();
    await pace.read(larger.find(({ covers }) => covers(req.path))?.read ?? read, req, res, true);
    next();
  };
}
