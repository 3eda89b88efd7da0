/** Builds the gateway as an Express app. serve.ts makes it listen; route-table.ts lists its routes. */

import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { type ApiKeyCache, createApiKeyCache } from '../client/organization/api-key-cache.ts';
import { type AuditTrail, createAuditTrail } from '../client/organization/audit.ts';
import { hasSeveralOrganizations } from '../client/organization/organizations.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { redirectToConsole } from './console.ts';
import { authenticate } from './http/auth.ts';
import { Backpressure } from './http/backpressure.ts';
import { readRawBody } from './http/body.ts';
import { BodyReader, CLOCK, type Clock } from './http/body-reader.ts';
import { CODEC_PATH, codecCors } from './http/codec.ts';
import type { Gateway } from './http/context.ts';
import { idempotencyHandler } from './http/idempotency.ts';
import { demandValidHttp } from './http/malformed-http.ts';
import { addressesOf, publicAddresses } from './http/path-pattern.ts';
import { asProblem, sendProblem } from './http/problem.ts';
import { limitAddresses, limitPrincipals } from './http/rate-limits.ts';
import { logRequests, noteProblem } from './http/request-log.ts';
import type { Route } from './http/route.ts';
import { serveRoutes } from './http/router.ts';
import { routes } from './route-table.ts';
import { HttpProblem } from './validation/http-problem.ts';
import { checkParameters } from './validation/json-guard.ts';

export function buildApp(
  gateway: Gateway,
  keyring: ApiKeyCache = createApiKeyCache(gateway.access),
  trail: AuditTrail = createAuditTrail(gateway.access),
  clock: Clock = CLOCK,
): Express {
  const app = express();
  const addresses = publicAddresses(routes);
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('case sensitive routing', true);
  app.set('trust proxy', gateway.config.trustedProxies);
  // `state[key]=value`, `duration[gte]=5`.
  app.set('query parser', 'extended');
  const parseQuery = app.get('query parser fn') as (text: string) => unknown;
  app.set('query parser', (text: string | null) => {
    checkParameters(text ?? '');
    return parseQuery(text ?? '');
  });

  app.use(logRequests(gateway.log));
  app.use((_req, res, next) => {
    res.setHeader('x-content-type-options', 'nosniff');
    res.setHeader('cache-control', 'no-store');
    next();
  });
  app.use(demandValidHttp);
  redirectToConsole(app, gateway);
  app.use(CODEC_PATH, codecCors(gateway));
  app.use(limitAddresses(gateway.config, keyring, addresses, clock));
  app.use(authenticate(gateway, keyring, addresses));
  app.use(limitPrincipals(gateway.config, addresses, clock));
  const bodyReader = new BodyReader(clock);
  app.use(readBodies(routes, bodyReader));

  const backpressure = new Backpressure(() => hasSeveralOrganizations(gateway.access));
  serveRoutes(app, routes, {
    gateway,
    keyring,
    trail,
    idempotencyHandler: idempotencyHandler(gateway),
    backpressure,
    bodyReader,
  });

  app.use((req) => {
    throw new HttpProblem('not_found', `There is nothing at this address for ${req.method}.`);
  });
  app.use(answerProblems(gateway));
  return app;
}

/** Reads the bodies of all routes except routes that read them late. Mount it after the key and rate limit checks. */
function readBodies(routes: readonly Route[], bodyReader: BodyReader): RequestHandler {
  const isReadLate = addressesOf(routes, ({ body }) => body?.isReadLate === true);
  const sizes = [...new Set(routes.flatMap(({ body }) => body?.maxBytes ?? []))];
  const larger = sizes.map((maxBytes) => ({
    covers: addressesOf(routes, ({ body }) => body?.maxBytes === maxBytes),
    read: readRawBody(maxBytes),
  }));
  const read = readRawBody();
  return async (req, res, next) => {
    if (isReadLate(req.path)) return next();
    await bodyReader.read(larger.find(({ covers }) => covers(req.path))?.read ?? read, req, res, true);
    next();
  };
}

/** Turns every error into a problem. Unexpected errors are logged with their cause, which the answer omits. */
function answerProblems(gateway: Gateway): ErrorRequestHandler {
  return (error: unknown, _req, res, _next) => {
    const problem = asProblem(error);
    noteProblem(res, problem);
    if (problem.status === 500) {
      gateway.log.error({ code: problem.code, err: causeOf(problem) }, problem.message);
    }
    sendProblem(res, problem);
  };
}

/** Only name, message and stack: other members of an error may hold request data. */
function causeOf(problem: HttpProblem): { type: string; message: string; stack?: string } | undefined {
  const { cause } = problem;
  if (!(cause instanceof Error)) return undefined;
  return { type: cause.name, message: cause.message, ...omitUndefined({ stack: cause.stack }) };
}
