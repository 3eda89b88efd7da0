/** Passes the trace of the current request or activity on to the workflows that it starts. */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { RUN_WORKFLOW } from '../../contract/run/run.ts';
import { TRACE_HEADER, traceparentOf } from '../../contract/run/trace.ts';
import { currentScope } from '../../observe/scope.ts';
import { tracer } from '../../observe/tracing.ts';

/** Runs, and jobs that end. Actors live longer than any trace. */
const TRACED_WORKFLOWS: ReadonlySet<string> = new Set([RUN_WORKFLOW, 'bulkRetry', 'event']);

/** For the client of gateway and worker. Without tracing it changes nothing. */
export const traceHeaders: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => {
    const trace = tracer() === undefined ? undefined : currentScope()?.trace;
    if (trace === undefined || !TRACED_WORKFLOWS.has(input.workflowType)) return next(input);
    const header = defaultPayloadConverter.toPayload({ traceparent: traceparentOf(trace) });
    return next({ ...input, headers: { ...input.headers, [TRACE_HEADER]: header } });
  },
};
