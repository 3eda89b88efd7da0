/**
 * The audit of an organization (ARCHITECTURE.md §4): the signals that the gateway sends to `audit.{org}.{yyyy-mm}`, and
 * the records that are read from its history. The contract between src/client and workflows/shell/records.ts. JSON
 * only.
 */
import type { JsonObject } from '../../json/json.ts';

export const AUDIT_WORKFLOW = 'audit';

export interface AuditStart {
  readonly organizationId: string;
}

/** Signal `change`: a caller is about to change something. A signal has one change or more, one in each argument. */
export interface AuditedChange {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  /** The person. Absent while the organization has no keys. */
  readonly by?: string;
  readonly keyId?: string;
  /** Method and route: `PUT /api/workflows/:slug`. */
  readonly action: string;
  /** The route's parameters. */
  readonly target: JsonObject;
  readonly requestId?: string;
}

/**
 * `done`: the change was made. `refused`: nothing was changed. `unknown`: the gateway does not know, or the change is
 * still under way.
 */
export type AuditOutcome = 'done' | 'refused' | 'unknown';

/** Signal `outcome`: the outcome of the change `of`. A signal has one or more, one in each argument. */
export interface AuditedOutcome {
  readonly of: string;
  readonly outcome: AuditOutcome;
  /** The status of the answer. */
  readonly status: number;
  /** The resource that the change created, where the route does not name it. */
  readonly target?: JsonObject;
}
