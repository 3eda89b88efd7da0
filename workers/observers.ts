/** What a worker observes of its activities and runs: metrics, spans, and the members of every line of the log. */

import { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import {
  type ActivityInterceptors,
  type Headers,
  type InjectedSinks,
  Runtime,
  type WorkerInterceptors,
} from '@temporalio/worker';
import type { WorkflowInfo } from '@temporalio/workflow';
import type { Logger } from 'pino';
import type { EffectObserver } from '../activities/segment/attempt.ts';
import { NOT_LIGHT_CODE } from '../src/contract/run/activity.ts';
import { RUN_WORKFLOW } from '../src/contract/run/run.ts';
import { type EndedRun, TRACE_HEADER, type TraceContext } from '../src/contract/run/trace.ts';
import { isObject } from '../src/json/json.ts';
import { omitUndefined } from '../src/json/omit-undefined.ts';
import { stepAttempts } from '../src/observe/metrics.ts';
import { currentScope, inScope, type Scope, scopeLogFields } from '../src/observe/scope.ts';
import { tracer } from '../src/observe/tracing.ts';
import { type RunSinks, traceFromHeaders } from '../workflows/interceptors.ts';

/** Kinds of steps whose activity has another name. Other activities are their own kind. */
const KIND_BY_ACTIVITY: { readonly [activity: string]: string } = {
  agentTurn: 'agent',
  hostAction: 'action',
  runCode: 'run_code',
  sendMessage: 'send_message',
};
/** Lets other tasks run, and does nothing. */
const NOOP = 'noop';

/** Options for Worker.create. `log` gets a line of level debug for each attempt. */
export function workerObservers(log?: Logger): { interceptors: WorkerInterceptors; sinks: InjectedSinks<RunSinks> } {
  return {
    interceptors: { activity: [() => observeActivity(log)] },
    sinks: {
      signalboxRuns: {
        ended: {
          fn: (info, run) => {
            if (!isFirstReport(info.runId, run)) return;
            countEnd(info, run);
            tracer()?.record(info.runId, info.workflowId, run);
          },
          callDuringReplay: false,
        },
      },
    },
  };
}

const MAX_REPORTS = 10_000;
const reports = new Set<string>();

/** False for an end that was reported before: its workflow task was done anew. */
function isFirstReport(runId: string, { outcome }: EndedRun): boolean {
  const report = `${runId} ${outcome}`;
  if (reports.has(report)) return false;
  reports.add(report);
  for (const oldest of reports) {
    if (reports.size <= MAX_REPORTS) break;
    reports.delete(oldest);
  }
  return true;
}

/** To the SDK's meter, with the labels that it gives to metrics of workflows. */
function countEnd(
  { namespace, taskQueue, workflowType, startTime }: WorkflowInfo,
  { outcome, endedAt }: EndedRun,
): void {
  if (outcome === 'continued') return;
  const { metricMeter } = Runtime.instance();
  const labels = { namespace, taskQueue, workflowType, status: outcome };
  metricMeter.createCounter('signalbox_runs_ended', undefined, 'Runs that ended, by status.').add(1, labels);
  metricMeter
    .createHistogram('signalbox_run_duration', 'float', 'seconds', 'From the start of a run to its end, by status.')
    .record(Math.max(0, (endedAt - startTime.getTime()) / 1_000), labels);
}

function observeActivity(log: Logger | undefined): ActivityInterceptors {
  const scope: Scope = {};
  return {
    inbound: {
      execute: (input, next) => {
        const { activityType, attempt } = Context.current().info;
        if (activityType === NOOP) return next(input);
        Object.assign(scope, subjectOf(input.args[0]));
        const subject = { activity: activityType, scope, parent: parentOf(input.headers), attempt };
        return observeAttempt(log, subject, () => next(input));
      },
    },
    outbound: { getLogAttributes: (attributes, next) => next({ ...attributes, ...scopeLogFields(scope) }) },
  };
}

/** Observes the effects of a segment like activities of their own, within the span of the segment. */
export function effectObserver(log: Logger): EffectObserver {
  return (activity, input, run) => {
    const parent = currentScope()?.trace;
    return observeAttempt(log, { activity, scope: subjectOf(input), parent, attempt: 1 }, run);
  };
}

interface Subject {
  readonly activity: string;
  readonly scope: Scope;
  readonly parent: TraceContext | undefined;
  readonly attempt: number;
}

/** Runs an attempt in its scope, and reports its kind, duration and outcome. */
function observeAttempt<T>(
  log: Logger | undefined,
  { activity, scope, parent, attempt }: Subject,
  run: () => Promise<T>,
): Promise<T> {
  const kind = KIND_BY_ACTIVITY[activity] ?? activity;
  const span = tracer()?.begin(kind, { kind: 'internal', parent, attributes: attributesOf(scope, attempt) });
  const trace = span?.context ?? parent;
  Object.assign(scope, omitUndefined({ trace }));
  return inScope(scope, async () => {
    const begun = performance.now();
    const ended = (outcome: string, code?: string): void => {
      const seconds = (performance.now() - begun) / 1_000;
      stepAttempts.observe({ kind, outcome }, seconds);
      span?.end(omitUndefined({ code }));
      const ms = Math.round(seconds * 1_000);
      log?.debug({ kind, outcome, ms, attempt, ...omitUndefined({ code }) }, 'activity');
    };
    try {
      const output = await run();
      ended('ok');
      return output;
    } catch (error) {
      ended(...outcomeOf(error));
      throw error;
    }
  });
}

/** Activities of steps have one argument (src/contract/run/activity.ts); takeSlots names its run. */
function subjectOf(argument: unknown): Scope {
  if (!isObject(argument)) return {};
  const { execution, path, run } = argument;
  const texts: { readonly [name: string]: unknown } = isObject(execution)
    ? { executionId: execution['id'], organizationId: execution['organizationId'], step: path }
    : { executionId: run, organizationId: argument['organizationId'] };
  return Object.fromEntries(Object.entries(texts).filter(([, value]) => typeof value === 'string'));
}

/** The run's own span. A run without a trace makes one of its id; other workflows pass on what they were given. */
function parentOf(headers: Headers): TraceContext | undefined {
  if (headers[TRACE_HEADER] !== undefined) return traceFromHeaders(headers);
  const { workflowExecution, workflowType } = Context.current().info;
  if (workflowType !== RUN_WORKFLOW || workflowExecution === undefined) return undefined;
  return tracer()?.runContext(workflowExecution.runId);
}

function attributesOf(
  { executionId, organizationId, step }: Scope,
  attempt: number,
): { [name: string]: string | number } {
  return {
    ...omitUndefined({
      'signalbox.execution_id': executionId,
      'signalbox.organization_id': organizationId,
      'signalbox.step': step,
    }),
    'signalbox.attempt': attempt,
  };
}

function outcomeOf(error: unknown): [outcome: string, code?: string] {
  if (error instanceof CancelledFailure) return ['cancelled'];
  if (!(error instanceof ApplicationFailure)) return ['retryable', 'unknown'];
  const code = error.type ?? 'unknown';
  // The step runs again as a regular activity.
  if (code === NOT_LIGHT_CODE) return ['ok'];
  return [error.nonRetryable === true ? 'failed' : 'retryable', code];
}
