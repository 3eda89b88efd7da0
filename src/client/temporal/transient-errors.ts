/**
 * Classifies transient failures of calls, and says how long they are retried.
 *
 * - `moment`: a workflow is busy, is closing or was started a moment ago; or a connection broke.
 * - `rate`: Temporal refuses calls of the namespace, or all calls, because they are too many. Nothing was done.
 * - `away`: Temporal's address accepts no connections. Nothing was sent.
 */

// The package is CommonJS without named exports: its values come by the default.
import proto from '@temporalio/proto';
import { GRPC } from './grpc.ts';

export type TransientKind = 'moment' | 'rate' | 'away';

/** A status of gRPC, as an interceptor or an error has it. */
export interface GrpcStatus {
  readonly code: number;
  readonly details: string;
  readonly metadata?: { get(name: string): readonly (string | Uint8Array)[] } | undefined;
}

/** How long a call that fails as `rate` or `away` is retried. */
export const SHORT_RETRY_MS = 400;

const { ResourceExhaustedCause } = proto.temporal.api.enums.v1;
/** The other causes concern one workflow or one task queue. */
const RATE_LIMIT_CAUSES: ReadonlySet<number> = new Set([
  ResourceExhaustedCause.RESOURCE_EXHAUSTED_CAUSE_RPS_LIMIT,
  ResourceExhaustedCause.RESOURCE_EXHAUSTED_CAUSE_SYSTEM_OVERLOADED,
  ResourceExhaustedCause.RESOURCE_EXHAUSTED_CAUSE_PERSISTENCE_LIMIT,
  ResourceExhaustedCause.RESOURCE_EXHAUSTED_CAUSE_APS_LIMIT,
  ResourceExhaustedCause.RESOURCE_EXHAUSTED_CAUSE_PERSISTENCE_STORAGE_LIMIT,
  ResourceExhaustedCause.RESOURCE_EXHAUSTED_CAUSE_CIRCUIT_BREAKER_OPEN,
  ResourceExhaustedCause.RESOURCE_EXHAUSTED_CAUSE_OPS_LIMIT,
]);
/** How the gRPC library says that it could not connect. */
const CONNECTION_FAILED = /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|No connection established|Name resolution failed/;

/** Undefined for a failure that is not transient. */
export function transientKindOfStatus(status: GrpcStatus): TransientKind | undefined {
  switch (status.code) {
    case GRPC.RESOURCE_EXHAUSTED:
      return RATE_LIMIT_CAUSES.has(exhaustedCause(status) ?? 0) ? 'rate' : 'moment';
    case GRPC.UNAVAILABLE:
      return CONNECTION_FAILED.test(status.details) ? 'away' : 'moment';
    case GRPC.ABORTED:
      return 'moment';
    // A connection that broke during the call. Other internal errors are the server's own, and not transient.
    case GRPC.INTERNAL:
      return /RST_STREAM/.test(status.details) ? 'moment' : undefined;
    default:
      return undefined;
  }
}

type StatusDetails = ReturnType<typeof proto.google.rpc.Status.decode>['details'];
const { MultiOperationExecutionFailure, ResourceExhaustedFailure } = proto.temporal.api.errordetails.v1;

/** What is exhausted. Undefined where the server does not say it. */
function exhaustedCause({ metadata }: GrpcStatus): number | undefined {
  const encoded = metadata?.get('grpc-status-details-bin')[0];
  if (!(encoded instanceof Uint8Array)) return undefined;
  try {
    return findExhaustedCause(proto.google.rpc.Status.decode(encoded).details);
  } catch {
    // A proxy may add details of its own.
    return undefined;
  }
}

function findExhaustedCause(details: StatusDetails): number | undefined {
  for (const { type_url: type = '', value } of details) {
    if (!(value instanceof Uint8Array)) continue;
    if (type?.endsWith('.ResourceExhaustedFailure')) return ResourceExhaustedFailure.decode(value).cause ?? undefined;
    // An update with start has the failure of each part.
    if (!type?.endsWith('.MultiOperationExecutionFailure')) continue;
    for (const { details: ofPart } of MultiOperationExecutionFailure.decode(value).statuses) {
      const cause = findExhaustedCause((ofPart ?? []) as StatusDetails);
      if (cause !== undefined) return cause;
    }
  }
  return undefined;
}
