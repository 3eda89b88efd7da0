/** Limits on all runs of a user, of an organization, of the host, whatever their definitions say (document 002). */
import type { Overflow } from './limiter.ts';

/** What an organization may limit for itself. */
export const LIMIT_SCOPES = ['organization', 'user'] as const;
export type LimitScope = (typeof LIMIT_SCOPES)[number];

/** An entry of the organization's collection `limits`, by its scope. */
export interface LimitEntry {
  readonly limit: number;
  readonly overflow: Overflow;
  readonly updatedAt: string;
}

/** Where a limit is switched on without a number (document 002). */
export const DEFAULT_LIMITS: { readonly [scope in LimitScope]: number } = { user: 5, organization: 50 };
