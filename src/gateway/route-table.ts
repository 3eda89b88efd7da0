/** Every route of the gateway. The order matters where one address matches two paths. */

import { alloyRunRoutes } from '../compat/alloy/server/run-routes.ts';
import { publicTriggerRoutes } from '../compat/alloy/server/trigger-routes.ts';
import { consoleRoutes } from './console.ts';
import { codecRoutes } from './http/codec.ts';
import type { Route } from './http/route.ts';
import { docsRoutes } from './manual/manual-routes.ts';
import { mcpRoutes } from './mcp/mcp-route.ts';
import { recordingProxyRoutes } from './mcp/recording-proxy.ts';
import { approvalLinkRoutes } from './routes/executions/approval-link.ts';
import { approvalRoutes } from './routes/executions/approvals.ts';
import { bulkRoutes } from './routes/executions/bulk.ts';
import { callbackRoutes } from './routes/executions/callbacks.ts';
import { eventStreamRoutes } from './routes/executions/events-stream.ts';
import { executionActionRoutes } from './routes/executions/execution-actions.ts';
import { executionRoutes } from './routes/executions/executions.ts';
import { inlineRunRoutes } from './routes/executions/inline-run.ts';
import { summaryRoutes } from './routes/executions/summary.ts';
import { auditRoutes } from './routes/organization/audit.ts';
import { inboxRoutes } from './routes/organization/inbox.ts';
import { keyRoutes } from './routes/organization/keys.ts';
import { limitRoutes } from './routes/organization/limits.ts';
import { mcpServerRoutes } from './routes/organization/mcp-servers.ts';
import { modelRoutes } from './routes/organization/models.ts';
import { secretRoutes } from './routes/organization/secrets.ts';
import { sessionRoutes } from './routes/organization/session.ts';
import { healthRoutes } from './routes/process/health.ts';
import { metricsRoutes } from './routes/process/metrics.ts';
import { recordedDefinitionRoutes } from './routes/recordings/recorded-definition.ts';
import { recordedStepRoutes } from './routes/recordings/recorded-steps.ts';
import { recordingRoutes } from './routes/recordings/recordings.ts';
import { eventRoutes } from './routes/triggers/events.ts';
import { manualRunRoutes } from './routes/triggers/manual-run.ts';
import { triggerRoutes } from './routes/triggers/triggers.ts';
import { webhookRoutes } from './routes/triggers/webhooks.ts';
import { expressionRoutes } from './routes/workflows/expressions.ts';
import { graphRoutes } from './routes/workflows/graph.ts';
import { historyRoutes } from './routes/workflows/history.ts';
import { proposalRoutes } from './routes/workflows/proposals.ts';
import { syncRoutes } from './routes/workflows/sync.ts';
import { workflowFieldRoutes } from './routes/workflows/workflow-fields.ts';
import { workflowRoutes } from './routes/workflows/workflows.ts';

/** The routes as one part of the API. A route with a tag of its own keeps it. */
const tagged = (tag: string, ...lists: readonly (readonly Route[])[]): Route[] =>
  lists.flat().map((route) => ({ tag, ...route }));

export const routes: readonly Route[] = [
  // First those of sync and drawing: with these methods their paths mean them, whatever workflows are called.
  ...tagged('workflows', syncRoutes, graphRoutes, workflowRoutes, workflowFieldRoutes, historyRoutes, proposalRoutes),
  // Bulk before the runs: `bulk` is not the id of a run.
  ...tagged('executions', bulkRoutes, executionRoutes, inlineRunRoutes, executionActionRoutes),
  ...tagged('executions', eventStreamRoutes, summaryRoutes, approvalRoutes),
  ...tagged('runs', alloyRunRoutes),
  // Before the triggers: `manual` is not the id of a trigger.
  ...tagged('executions', manualRunRoutes),
  ...tagged('triggers', triggerRoutes, eventRoutes, publicTriggerRoutes),
  ...tagged('webhooks', webhookRoutes, callbackRoutes),
  ...tagged('executions', approvalLinkRoutes),
  ...tagged('recordings', recordingRoutes, recordedStepRoutes, recordedDefinitionRoutes),
  ...tagged('expressions', expressionRoutes),
  ...tagged('limits', limitRoutes),
  ...tagged('secrets', secretRoutes),
  ...tagged('models', modelRoutes, mcpServerRoutes),
  ...tagged('inbox', inboxRoutes),
  ...tagged('access', keyRoutes, sessionRoutes, auditRoutes, codecRoutes),
  ...tagged('gateway', healthRoutes, metricsRoutes, mcpRoutes),
  ...tagged('recordings', recordingProxyRoutes),
  ...tagged('gateway', docsRoutes, consoleRoutes),
];
