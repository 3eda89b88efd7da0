/** What the gateway answers, by method and path, as its routes declare it. Types only. */
import type { z } from 'zod';
import type { Method } from '../gateway/http/method.ts';
import type { approvalRoutes } from '../gateway/routes/executions/approvals.ts';
import type { executionActionRoutes } from '../gateway/routes/executions/execution-actions.ts';
import type { executionRoutes } from '../gateway/routes/executions/executions.ts';
import type { inlineRunRoutes } from '../gateway/routes/executions/inline-run.ts';
import type { keyRoutes } from '../gateway/routes/organization/keys.ts';
import type { secretRoutes } from '../gateway/routes/organization/secrets.ts';
import type { sessionRoutes } from '../gateway/routes/organization/session.ts';
import type { manualRunRoutes } from '../gateway/routes/triggers/manual-run.ts';
import type { triggerRoutes } from '../gateway/routes/triggers/triggers.ts';
import type { historyRoutes } from '../gateway/routes/workflows/history.ts';
import type { proposalRoutes } from '../gateway/routes/workflows/proposals.ts';
import type { workflowFieldRoutes } from '../gateway/routes/workflows/workflow-fields.ts';
import type { workflowRoutes } from '../gateway/routes/workflows/workflows.ts';
import type { Json } from '../json/json.ts';

/** The routes that commands call. */
type CalledRoutes = (
  | typeof approvalRoutes
  | typeof executionActionRoutes
  | typeof executionRoutes
  | typeof historyRoutes
  | typeof inlineRunRoutes
  | typeof keyRoutes
  | typeof manualRunRoutes
  | typeof proposalRoutes
  | typeof secretRoutes
  | typeof sessionRoutes
  | typeof triggerRoutes
  | typeof workflowFieldRoutes
  | typeof workflowRoutes
)[number];

/** The paths of these routes, such as `/api/workflows/:slug`. */
export type PathOf<M extends Method> = Extract<CalledRoutes, { readonly method: M }>['path'];

/** The names of the parameters in a path. */
export type ParamsOf<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | ParamsOf<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never;

/** A value of a schema as it comes in JSON: read-only, and no member is undefined. */
type ReadonlyJson<T> = unknown extends T
  ? Json
  : T extends readonly (infer Item)[]
    ? readonly ReadonlyJson<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: ReadonlyJson<Exclude<T[K], undefined>> }
      : T;

type Success = 200 | 201 | 202 | 204;
type SuccessAnswer<Answers> = {
  [S in keyof Answers & Success]: {
    readonly status: S;
    readonly body: Answers[S] extends { readonly schema: z.ZodType<infer Body> } ? ReadonlyJson<Body> : null;
    readonly etag?: string;
  };
}[keyof Answers & Success];

/** What a route answers, unless it answers a problem. */
export type Answer<M extends Method, Path extends string> = SuccessAnswer<
  Extract<CalledRoutes, { readonly method: M; readonly path: Path }>['answers']
>;

type Body<M extends Method, Path extends PathOf<M>> = Answer<M, Path>['body'];

export type Execution = Body<'GET', '/api/executions/:id'>;
export type Wait = Execution['waitingFor'][number];
export type StepPage = Body<'GET', '/api/executions/:id/steps'>;
export type Step = StepPage['items'][number];
export type ExecutionResult = Body<'GET', '/api/executions/:id/result'>;
export type DecisionResult = Body<'POST', '/api/executions/:id/approve'>;
export type ListedApproval = Body<'GET', '/api/approvals'>['items'][number];
export type WorkflowHead = Body<'GET', '/api/workflows'>['items'][number];
export type StoredWorkflow = Body<'PUT', '/api/workflows/:slug'>;
export type WorkflowChange = Body<'GET', '/api/workflows/:slug/history'>['items'][number];
export type VersionDifference = Body<'GET', '/api/workflows/:slug/diff'>;
export type Proposal = Body<'POST', '/api/workflows/:slug/proposals/:id/review'>;
export type Trigger = Body<'GET', '/api/triggers/:id'>;
