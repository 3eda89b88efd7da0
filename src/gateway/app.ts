/** The gateway as an Express app: built here, and listening nowhere (serve.ts does). One file per resource. */

import express, { type ErrorRequestHandler, type Express } from 'express';
import { type AuditTrail, auditOver } from '../client/organization/audit.ts';
import { type Keyring, keyringOver } from '../client/organization/keyring.ts';
import { defined } from '../json/defined.ts';
import { authenticate } from './http/auth.ts';
import { readBodies } from './http/body.ts';
import { CODEC_PATH, codecDoor, codecRoutes, readCodecBody } from './http/codec.ts';
import type { Gateway } from './http/context.ts';
import { healthRoutes } from './http/health.ts';
import { answerKeeper } from './http/idempotency.ts';
import { asProblem, HttpProblem, sendProblem } from './http/problem.ts';
import { limitAddresses, limitPrincipals } from './http/rate-limits.ts';
import { logRequests } from './http/request-log.ts';
import { auditInto, keepAnswersWith } from './http/resource.ts';
import { serveRoutes } from './http/router.ts';
import { docsRoutes, leadToDocs } from './manual/manual-routes.ts';
import { openApiRoutes } from './manual/openapi.ts';
import { routes } from './route-table.ts';
import { approvalRoutes } from './routes/executions/approvals.ts';
import { bulkRoutes } from './routes/executions/bulk.ts';
import { callbackRoutes } from './routes/executions/callbacks.ts';
import { eventStreamRoutes } from './routes/executions/events-stream.ts';
import { executionActionRoutes } from './routes/executions/execution-actions.ts';
import { executionRoutes } from './routes/executions/executions.ts';
import { runs004Routes } from './routes/executions/runs-004.ts';
import { eventRoutes } from './routes/triggers/events.ts';
import { manualRunRoutes } from './routes/triggers/manual-run.ts';
import { publicTriggerRoutes } from './routes/triggers/public-trigger.ts';
import { triggerRoutes } from './routes/triggers/triggers.ts';
import { webhookRoutes } from './routes/triggers/webhooks.ts';
import { expressionRoutes } from './routes/workflows/expressions.ts';
import { graphRoutes } from './routes/workflows/graph.ts';
import { historyRoutes } from './routes/workflows/history.ts';
import { proposalRoutes } from './routes/workflows/proposals.ts';
import { syncRoutes } from './routes/workflows/sync.ts';
import { workflowFieldRoutes } from './routes/workflows/workflow-fields.ts';
import { workflowRoutes } from './routes/workflows/workflows.ts';

export function buildApp(
  gateway: Gateway,
  keyring: Keyring = keyringOver(gateway.access),
  trail: AuditTrail = auditOver(gateway.access),
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('case sensitive routing', true);
  app.set('trust proxy', gateway.config.trustedProxies);
  // `state[key]=value`, `duration[gte]=5` (document 004).
  app.set('query parser', 'extended');

  app.use(logRequests(gateway.log));
  app.use((_req, res, next) => {
    res.setHeader('x-content-type-options', 'nosniff');
    res.setHeader('cache-control', 'no-store');
    next();
  });
  leadToDocs(app);
  app.use(CODEC_PATH, codecDoor(gateway));
  app.use(limitAddresses(gateway.config, keyring));
  app.use(authenticate(gateway.config, keyring));
  app.use(limitPrincipals(gateway.config));
  app.use(CODEC_PATH, readCodecBody());
  app.use(readBodies());

  auditInto(app, trail);
  const keeper = answerKeeper(gateway);
  keepAnswersWith(app, keeper);
  healthRoutes(app, gateway);
  docsRoutes(app, gateway.actions);
  openApiRoutes(app);
  // Before the workflows: a workflow may be called `sync`, but not for these methods.
  syncRoutes(app, gateway);
  workflowRoutes(app, gateway);
  workflowFieldRoutes(app, gateway);
  historyRoutes(app, gateway);
  proposalRoutes(app, gateway);
  graphRoutes(app, gateway);
  runs004Routes(app, gateway);
  // Before the runs: `bulk` is no run's id.
  bulkRoutes(app, gateway);
  executionRoutes(app, gateway);
  executionActionRoutes(app, gateway);
  eventStreamRoutes(app, gateway, keyring);
  approvalRoutes(app, gateway);
  // Before the triggers: `manual` is no trigger's id.
  manualRunRoutes(app, gateway);
  triggerRoutes(app, gateway);
  eventRoutes(app, gateway);
  publicTriggerRoutes(app, gateway, keyring);
  expressionRoutes(app, gateway);
  serveRoutes(app, routes, { gateway, keyring, trail, keeper });
  codecRoutes(app, gateway);
  webhookRoutes(app, gateway);
  callbackRoutes(app, gateway);

  app.use((req) => {
    throw new HttpProblem('not_found', `There is nothing at this address for ${req.method}.`);
  });
  app.use(answerProblems(gateway));
  return app;
}

/** Every error becomes a problem; what was not expected is logged with its cause, which the answer does not tell. */
function answerProblems(gateway: Gateway): ErrorRequestHandler {
  return (error: unknown, _req, res, _next) => {
    const problem = asProblem(error);
    if (problem.status === 500) {
      gateway.log.error(
        { requestId: res.locals['requestId'], code: problem.code, err: causeOf(problem) },
        problem.message,
      );
    }
    sendProblem(res, problem);
  };
}

/** Name, message and stack alone: other members of an error may hold what was sent. */
function causeOf(problem: HttpProblem): { type: string; message: string; stack?: string } | undefined {
  const { cause } = problem;
  if (!(cause instanceof Error)) return undefined;
  return { type: cause.name, message: cause.message, ...defined({ stack: cause.stack }) };
}
