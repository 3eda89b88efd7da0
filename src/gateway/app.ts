/** The gateway as an Express app: built here, and listening nowhere (serve.ts does). One file per resource. */
import express, { type ErrorRequestHandler, type Express } from 'express';
import { type AuditTrail, auditOver } from '../client/audit.ts';
import { type Keyring, keyringOver } from '../client/keyring.ts';
import { approvalRoutes } from './approvals.ts';
import { auditRoutes } from './audit.ts';
import { authenticate } from './auth.ts';
import { readBodies } from './body.ts';
import { bulkRoutes } from './bulk.ts';
import { callbackRoutes } from './callbacks.ts';
import { CODEC_PATH, codecDoor, codecRoutes, readCodecBody } from './codec.ts';
import type { Gateway } from './context.ts';
import { docsRoutes, leadToDocs } from './docs.ts';
import { eventRoutes } from './events.ts';
import { eventStreamRoutes } from './events-stream.ts';
import { executionActionRoutes } from './execution-actions.ts';
import { executionRoutes } from './executions.ts';
import { expressionRoutes } from './expressions.ts';
import { graphRoutes } from './graph.ts';
import { healthRoutes } from './health.ts';
import { historyRoutes } from './history.ts';
import { answerKeeper } from './idempotency.ts';
import { inboxRoutes } from './inbox.ts';
import { keyRoutes } from './keys.ts';
import { limitRoutes } from './limits.ts';
import { manualRunRoutes } from './manual-run.ts';
import { mcpServerRoutes } from './mcp-servers.ts';
import { modelRoutes } from './models.ts';
import { openApiRoutes } from './openapi.ts';
import { asProblem, HttpProblem, sendProblem } from './problem.ts';
import { proposalRoutes } from './proposals.ts';
import { publicTriggerRoutes } from './public-trigger.ts';
import { limitAddresses, limitPrincipals } from './rates.ts';
import { logRequests } from './request-log.ts';
import { auditInto, keepAnswersWith } from './resource.ts';
import { runs004Routes } from './runs-004.ts';
import { secretRoutes } from './secrets.ts';
import { syncRoutes } from './sync.ts';
import { triggerRoutes } from './triggers.ts';
import { webhookRoutes } from './webhooks.ts';
import { workflowFieldRoutes } from './workflow-fields.ts';
import { workflowRoutes } from './workflows.ts';

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
  keepAnswersWith(app, answerKeeper(gateway));
  healthRoutes(app, gateway);
  docsRoutes(app, gateway.actions);
  openApiRoutes(app);
  // Before the workflows: a workflow may be called `sync`, but not for these methods.
  syncRoutes(app, gateway);
  workflowRoutes(app, gateway);
  workflowFieldRoutes(app, gateway);
  historyRoutes(app, gateway);
  proposalRoutes(app, gateway);
  limitRoutes(app, gateway);
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
  secretRoutes(app, gateway);
  inboxRoutes(app, gateway);
  keyRoutes(app, gateway, keyring);
  auditRoutes(app, gateway);
  codecRoutes(app, gateway);
  modelRoutes(app, gateway);
  mcpServerRoutes(app, gateway);
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
  return { type: cause.name, message: cause.message, ...(cause.stack === undefined ? {} : { stack: cause.stack }) };
}
