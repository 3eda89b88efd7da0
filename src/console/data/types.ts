/** The answers of the API, by the schemas that the gateway promises. Types only. */
import type { z } from 'zod';
import type * as approvals from '../../gateway/answers/approvals.ts';
import type * as executions from '../../gateway/answers/executions.ts';
import type * as organization from '../../gateway/answers/organization.ts';
import type { problemItem } from '../../gateway/answers/problem.ts';
import type { runSummary } from '../../gateway/answers/run-trace.ts';
import type { me } from '../../gateway/answers/session.ts';
import type * as triggers from '../../gateway/answers/triggers.ts';
import type * as versions from '../../gateway/answers/versions.ts';
import type * as workflows from '../../gateway/answers/workflows.ts';

export type Me = z.infer<typeof me>;
export type Role = Me['role'];
export type ProblemItem = z.infer<typeof problemItem>;

export type RunError = z.infer<typeof executions.runError>;
export type DryRun = z.infer<typeof executions.dryRun>;
export type Execution = z.infer<typeof executions.execution>;
export type ExecutionCounts = z.infer<typeof executions.executionCounts>;
export type ExecutionPage = z.infer<typeof executions.executionPage>;
export type Wait = Execution['waitingFor'][number];
export type StepPage = z.infer<typeof executions.stepPage>;
export type StepRow = StepPage['items'][number];
export type RunSummary = z.infer<typeof runSummary>;
export type ExecutionDefinition = z.infer<typeof executions.executionDefinition>;

export type ApprovalPage = z.infer<typeof approvals.approvalPage>;
export type Approval = z.infer<typeof approvals.approval>;
export type ApprovalCount = z.infer<typeof approvals.approvalCount>;

export type Validation = z.infer<typeof workflows.validation>;
export type WorkflowHead = z.infer<typeof workflows.workflowHead>;
export type WorkflowPage = z.infer<typeof workflows.workflowPage>;
export type ReadWorkflow = z.infer<typeof workflows.readWorkflow>;
export type WorkflowGraph = z.infer<typeof workflows.graph>;

export type Trigger = z.infer<typeof triggers.trigger>;
export type TriggerPage = z.infer<typeof triggers.triggerPage>;
export type Firings = z.infer<typeof triggers.firings>;

export type Secret = z.infer<typeof organization.secret>;
export type Model = z.infer<typeof organization.modelView>;
export type McpServer = z.infer<typeof organization.mcpServer>;
export type ToolPage = z.infer<typeof organization.toolPage>;
export type Limits = z.infer<typeof organization.limits>;
export type ApiKey = z.infer<typeof organization.apiKey>;
export type MadeKey = z.infer<typeof organization.madeKey>;
export type Change = z.infer<typeof organization.change>;

export type WorkflowChange = z.infer<typeof versions.workflowChangePage>['items'][number];
export type WorkflowText = z.infer<typeof versions.workflowText>;
export type VersionDifference = z.infer<typeof versions.versionDifference>;
export type Proposal = z.infer<typeof versions.proposalView>;
export type ProposalWithDifference = z.infer<typeof versions.proposalWithDifference>;
