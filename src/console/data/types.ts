/** The answers of the API, by the schemas that the gateway promises. Types only. */
import type { z } from 'zod';
import type { approval, approvalCount, approvalPage } from '../../gateway/answers/approvals.ts';
import type {
  dryRun,
  execution,
  executionCounts,
  executionDefinition,
  executionPage,
  runError,
  status,
  stepPage,
} from '../../gateway/answers/executions.ts';
import type {
  apiKey,
  change,
  limits,
  madeKey,
  mcpServer,
  modelView,
  secret,
  toolPage,
} from '../../gateway/answers/organization.ts';
import type { problemItem } from '../../gateway/answers/problem.ts';
import type { runSummary } from '../../gateway/answers/run-trace.ts';
import type { me } from '../../gateway/answers/session.ts';
import type { firings, trigger, triggerPage } from '../../gateway/answers/triggers.ts';
import type {
  proposalPage,
  proposalView,
  proposalWithDifference,
  versionDifference,
  workflowChangePage,
  workflowText,
} from '../../gateway/answers/versions.ts';
import type { graph, readWorkflow, validation, workflowHead, workflowPage } from '../../gateway/answers/workflows.ts';

export type Me = z.infer<typeof me>;
export type Role = Me['role'];
export type ProblemItem = z.infer<typeof problemItem>;

export type RunStatus = z.infer<typeof status>;
export type RunError = z.infer<typeof runError>;
export type DryRun = z.infer<typeof dryRun>;
export type Execution = z.infer<typeof execution>;
export type ExecutionCounts = z.infer<typeof executionCounts>;
export type ExecutionPage = z.infer<typeof executionPage>;
export type Wait = Execution['waitingFor'][number];
export type StepPage = z.infer<typeof stepPage>;
export type StepRow = StepPage['items'][number];
export type RunSummary = z.infer<typeof runSummary>;
export type ExecutionDefinition = z.infer<typeof executionDefinition>;

export type ApprovalPage = z.infer<typeof approvalPage>;
export type Approval = z.infer<typeof approval>;
export type ApprovalCount = z.infer<typeof approvalCount>;

export type Validation = z.infer<typeof validation>;
export type WorkflowHead = z.infer<typeof workflowHead>;
export type WorkflowPage = z.infer<typeof workflowPage>;
export type ReadWorkflow = z.infer<typeof readWorkflow>;

export type Trigger = z.infer<typeof trigger>;
export type TriggerPage = z.infer<typeof triggerPage>;
export type Firings = z.infer<typeof firings>;

export type Secret = z.infer<typeof secret>;
export type Model = z.infer<typeof modelView>;
export type McpServer = z.infer<typeof mcpServer>;
export type ToolPage = z.infer<typeof toolPage>;
export type Limits = z.infer<typeof limits>;
export type ApiKey = z.infer<typeof apiKey>;
export type MadeKey = z.infer<typeof madeKey>;
export type Change = z.infer<typeof change>;
export type WorkflowGraph = z.infer<typeof graph>;

export type WorkflowChangePage = z.infer<typeof workflowChangePage>;
export type WorkflowChange = WorkflowChangePage['items'][number];
export type WorkflowText = z.infer<typeof workflowText>;
export type VersionDifference = z.infer<typeof versionDifference>;
export type Proposal = z.infer<typeof proposalView>;
export type ProposalPage = z.infer<typeof proposalPage>;
export type ProposalWithDifference = z.infer<typeof proposalWithDifference>;
