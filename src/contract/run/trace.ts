/**
 * Trace contexts of the W3C (`traceparent`) as gateway, workflows and activities pass them on in the headers of
 * Temporal.
 */

/** The Temporal header of trace contexts: JSON `{traceparent}`, as the interceptors of Temporal's SDKs write it. */
export const TRACE_HEADER = '_tracer-data';

/** Ids are lowercase hexadecimal: 32 digits of the trace, 16 of the span. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** The context in a `traceparent`; undefined where the text is none. */
export function parseTraceparent(text: unknown): TraceContext | undefined {
  const found = typeof text === 'string' ? TRACEPARENT.exec(text.trim()) : null;
  if (found === null) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = found;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const traceparentOf = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;

/** The span of a Temporal run. Workflow and activities compute it alike, so that nothing has to carry it. */
export const spanIdOfRun = (runId: string): string => hex(runId).slice(-16);

/** The trace of a Temporal run that was started without one. */
export const traceIdOfRun = (runId: string): string => hex(runId);

const hex = (runId: string): string => runId.replaceAll('-', '').toLowerCase().padStart(32, '0').slice(-32);

/** The end of one Temporal run of a workflow, as the interceptor reports it to the worker. Times are epoch ms. */
export interface EndedRun {
  readonly parent?: TraceContext;
  readonly outcome: RunOutcome;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly organizationId: string;
  readonly workflow: string;
  /** The code of a failed run. */
  readonly code?: string;
}

export type RunOutcome = 'completed' | 'failed' | 'cancelled' | 'aborted' | 'continued';
