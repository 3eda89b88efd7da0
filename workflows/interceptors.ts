/**
 * Metrics, traces and log lines of workflows. None of it is a command: histories replay with and without it.
 *
 * - Metrics go through the SDK's meter, which is silent during replay.
 * - The end of a run is reported to the worker, which may receive it twice: a workflow task that ends its run is done
 *   anew if the server has meanwhile written an event that it does not know.
 * - A run that was started with a trace context (TRACE_HEADER) passes it on to its activities, children and next
 *   executions. Its own span has an id made of the Temporal run's (spanIdOfRun), and is reported at its end.
 * - Each interceptor answers the promise of `next` itself: results must reach the core without additional microtasks
 *   (E6).
 */

import { defaultPayloadConverter } from '@temporalio/common';
import {
  ApplicationFailure,
  ContinueAsNew,
  type Headers,
  isCancellation,
  log,
  metricMeter,
  proxySinks,
  type Sinks,
  type WorkflowInterceptors,
  workflowInfo,
} from '@temporalio/workflow';
import { DEFAULT_ORGANIZATION } from '../src/contract/organization/organization.ts';
import { RUN_WORKFLOW, type RunTrigger } from '../src/contract/run/run.ts';
import {
  type EndedRun,
  parseTraceparent,
  type RunOutcome,
  spanIdOfRun,
  TRACE_HEADER,
  type TraceContext,
  traceparentOf,
} from '../src/contract/run/trace.ts';
import { omitUndefined } from '../src/json/omit-undefined.ts';

/** Where the worker takes the reports of ended runs, and counts them (workers/observers.ts). */
export interface RunSinks extends Sinks {
  readonly signalboxRuns: { ended(run: EndedRun): void };
}

/** The signal by which a limiter gives a run its slot. */
const GRANTED_SIGNAL = 'granted';
const GRANTS_DESCRIPTION = 'Runs in the queue of a limiter that got their slot.';
const KNOWN_TRIGGER_TYPES: readonly RunTrigger['type'][] = [
  'manual',
  'webhook',
  'schedule',
  'event',
  'inline',
  'subworkflow',
  'temporal',
];
/** Called once for each workflow. */
export const interceptors = (): WorkflowInterceptors => {
  const info = workflowInfo();
  const isRun = info.workflowType === RUN_WORKFLOW;
  const grantCounter = isRun
    ? metricMeter.createCounter('signalbox_limiter_grants', undefined, GRANTS_DESCRIPTION)
    : undefined;
  let traceContext: TraceContext | undefined;
  let outboundHeaders: Headers = {};
  let names = runNamesFrom(undefined);
  const withTrace = <Input extends { readonly headers: Headers }>(input: Input): Input =>
    traceContext === undefined ? input : { ...input, headers: { ...input.headers, ...outboundHeaders } };

  return {
    inbound: [
      {
        execute: (input, next) => {
          traceContext = traceFromHeaders(input.headers);
          if (traceContext !== undefined)
            outboundHeaders = headerOf({ ...traceContext, spanId: spanIdOfRun(info.runId) });
          const [argument] = input.args;
          names = runNamesFrom(argument);
          if (isRun && info.continuedFromExecutionRunId === undefined) countStart(argument);
          const running = next(input);
          if (isRun) {
            const report = (outcome: RunOutcome, code?: string): void =>
              reportEnd({ ...names, ...omitUndefined({ parent: traceContext, code }), outcome });
            running.then(
              () => report('completed'),
              (error: unknown) => report(...outcomeOf(error)),
            );
          }
          return running;
        },
        handleSignal: (input, next) => {
          if (input.signalName === GRANTED_SIGNAL) grantCounter?.add(1);
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withTrace(input)),
        scheduleLocalActivity: (input, next) => next(withTrace(input)),
        startChildWorkflowExecution: (input, next) => next(withTrace(input)),
        continueAsNew: (input, next) => next(withTrace(input)),
        getLogAttributes: (attributes, next) =>
          next({
            ...attributes,
            ...(isRun ? { executionId: info.workflowId, organizationId: names.organizationId } : {}),
            ...omitUndefined({ traceId: traceContext?.traceId }),
          }),
      },
    ],
  };
};

function countStart(argument: unknown): void {
  const started = metricMeter.createCounter('signalbox_runs_started', undefined, 'Runs that began, by trigger.');
  started.add(1, { trigger: triggerOf(argument) });
}

/** Never throws: an unhandled rejection would leave the workflow task retrying for ever. */
function reportEnd(run: Omit<EndedRun, 'startedAt' | 'endedAt'>): void {
  const { runStartTime, unsafe } = workflowInfo();
  // A worker that only replays has no sinks.
  if (unsafe.isReplaying) return;
  try {
    proxySinks<RunSinks>().signalboxRuns.ended({ ...run, startedAt: runStartTime.getTime(), endedAt: Date.now() });
  } catch (error) {
    log.warn('The end of the run was not reported.', { error: String(error) });
  }
}

/** The context of the trace that started the workflow or activity. */
export function traceFromHeaders(headers: Headers): TraceContext | undefined {
  const payload = headers[TRACE_HEADER];
  if (payload === undefined) return undefined;
  try {
    return parseTraceparent(
      defaultPayloadConverter.fromPayload<{ traceparent?: unknown } | null>(payload)?.traceparent,
    );
  } catch {
    // Another program's header.
    return undefined;
  }
}

const headerOf = (context: TraceContext): Headers => ({
  [TRACE_HEADER]: defaultPayloadConverter.toPayload({ traceparent: traceparentOf(context) }),
});

function triggerOf(argument: unknown): string {
  const { trigger } = membersOf(argument);
  const { type } = membersOf(trigger);
  return KNOWN_TRIGGER_TYPES.find((one) => one === type) ?? 'temporal';
}

function runNamesFrom(argument: unknown): Pick<EndedRun, 'organizationId' | 'workflow'> {
  const { organizationId, definition } = membersOf(argument);
  const { slug } = membersOf(definition ?? argument);
  return {
    organizationId: typeof organizationId === 'string' ? organizationId : DEFAULT_ORGANIZATION,
    workflow: typeof slug === 'string' ? slug : '',
  };
}

const membersOf = (value: unknown): { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null ? (value as { readonly [name: string]: unknown }) : {};

function outcomeOf(error: unknown): [RunOutcome, string?] {
  if (error instanceof ContinueAsNew) return ['continued'];
  if (isCancellation(error)) return ['cancelled'];
  const code = error instanceof ApplicationFailure ? (error.type ?? 'unknown') : 'unknown';
  // To Temporal an aborted run has failed (workflows/run/visibility.ts).
  return [workflowInfo().memo?.['status'] === 'aborted' ? 'aborted' : 'failed', code];
}
