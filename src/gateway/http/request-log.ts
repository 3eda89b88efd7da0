/** One line for each request: route, status, time. Never paths, queries, headers or bodies: those may hold secrets. */
import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';

const GIVEN_ID = /^[A-Za-z0-9._-]{1,100}$/;

/** Gives each request an id, the caller's own where it is a plain one, and answers it as X-Request-Id. */
export function logRequests(log: Logger): RequestHandler {
  return (req, res, next) => {
    const given = req.get('x-request-id') ?? '';
    const id = GIVEN_ID.test(given) ? given : randomUUID();
    res.locals['requestId'] = id;
    res.setHeader('x-request-id', id);
    const begun = performance.now();
    res.once('close', () => {
      const line = {
        requestId: id,
        method: req.method,
        route: res.locals['route'] ?? 'none',
        status: res.statusCode,
        ms: Math.round(performance.now() - begun),
        ...(res.writableFinished ? {} : { aborted: true }),
      };
      if (res.statusCode >= 500) log.error(line, 'request');
      else log.info(line, 'request');
    });
    next();
  };
}
