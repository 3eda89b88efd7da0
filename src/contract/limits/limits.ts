/** Limits on all runs of a user, an organization or the host, whatever their definitions say. */
import type { Overflow } from './limiter.ts';

/** The scopes that an organization may limit. */
export const LIMIT_SCOPES = ['organization', 'user'] as const;
export type LimitScope = (typeof LIMIT_SCOPES)[number];

/** An entry of the organization's collection `limits`, by its scope. */
export interface LimitEntry {
  readonly limit: number;
  readonly overflow: Overflow;
  readonly updatedAt: string;
}

/** The default of a limit that is switched on without a number. */
export const DEFAULT_LIMITS: { readonly [scope in LimitScope]: number } = { user: 5, organization: 50 };
