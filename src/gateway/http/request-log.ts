/**
 * One line, one measurement and one span for each request: route, status, time. Never paths, queries, headers or
 * bodies: those may hold secrets.
 */
import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { grpcOf } from '../../client/temporal/rpc.ts';
import { parseTraceparent } from '../../contract/run/trace.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { httpRequests, refusals } from '../../observe/metrics.ts';
import { inScope, type Scope } from '../../observe/scope.ts';
import { tracer } from '../../observe/tracing.ts';
import type { HttpProblem } from '../validation/http-problem.ts';

/** Of what Temporal answered, in a line. */
const MAX_DETAILS = 300;

const GIVEN_ID = /^[A-Za-z0-9._-]{1,100}$/;
/** What is asked every few seconds by machines. */
const UNTRACED: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
/** The ids that this project gives to runs. Others are not logged: what a caller writes may be anything. */
const RUN_ID = /^run\.[A-Za-z0-9._~-]{1,251}$/;

/**
 * Gives each request an id, the caller's own where it is a plain one, and answers it as X-Request-Id. Goes on with the
 * caller's trace (`traceparent`).
 */
export function logRequests(log: Logger): RequestHandler {
  return (req, res, next) => {
    const given = req.get('x-request-id') ?? '';
    const id = GIVEN_ID.test(given) ? given : randomUUID();
    res.locals['requestId'] = id;
    res.setHeader('x-request-id', id);
    const parent = parseTraceparent(req.get('traceparent'));
    const span = UNTRACED.has(req.path) ? undefined : tracer()?.begin(req.method, { kind: 'server', parent });
    const scope: Scope = { requestId: id, ...omitUndefined({ trace: span?.context ?? parent }) };
    const begun = performance.now();
    res.once('close', () => {
      const ms = performance.now() - begun;
      const { method } = req;
      const route: string = res.locals['route'] ?? 'none';
      const status = res.statusCode;
      httpRequests.observe({ method, route, status }, ms / 1_000);
      noteRun(scope, req, route);
      const attributes = {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
        ...omitUndefined({
          'signalbox.request_id': id,
          'signalbox.execution_id': scope.executionId,
          'signalbox.organization_id': scope.organizationId,
        }),
      };
      span?.end({ name: `${method} ${route}`, attributes, code: status >= 500 ? String(status) : undefined });
      const line = {
        method,
        route,
        status,
        ms: Math.round(ms),
        ...(res.locals['failure'] as object | undefined),
        ...(res.writableFinished ? {} : { aborted: true }),
      };
      inScope(scope, () => {
        if (status >= 500) log.error(line, 'request');
        else log.info(line, 'request');
      });
    });
    inScope(scope, next);
  };
}

/** The run of an address such as `/api/executions/:id/approve`. */
function noteRun(scope: Scope, { params }: Request, route: string): void {
  const { id } = params;
  if (route.startsWith('/api/executions/:id') && typeof id === 'string' && RUN_ID.test(id)) scope.executionId = id;
}

/** Counts the problem. Its request's line names its code, and what Temporal answered, which callers are not told. */
export function noteProblem(res: Response, problem: HttpProblem): void {
  refusals.inc({ code: problem.code });
  const { code, details = '' } = grpcOf(problem) ?? {};
  const grpc = code === undefined ? undefined : { code, details: details.slice(0, MAX_DETAILS) };
  res.locals['failure'] = { code: problem.code, ...omitUndefined({ grpc }) };
}
