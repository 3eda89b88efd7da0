/** Points in time in Temporal's form, and in that of answers. */

/** protobuf's Timestamp. Its seconds may be a number, a text or a Long. */
export type Timestamp = { readonly seconds?: unknown; readonly nanos?: number | null } | null | undefined;

/** Whole milliseconds since the epoch, truncated as the SDK truncates the clock of a workflow. */
export function msOf(time: Timestamp): number | undefined {
  return time ? Number(time.seconds ?? 0) * 1_000 + Math.floor((time.nanos ?? 0) / 1_000_000) : undefined;
}

/** ISO 8601, of epoch milliseconds. */
export const iso = (ms: number): string => new Date(ms).toISOString();

/** Start and end in ISO 8601. Without an end while it is open. */
export const isoTimespan = (startedAt: number, completedAt: number | undefined) => ({
  startedAt: iso(startedAt),
  ...(completedAt === undefined ? {} : { completedAt: iso(completedAt) }),
});

export function dateOf(time: Timestamp): Date | undefined {
  const ms = msOf(time);
  return ms === undefined ? undefined : new Date(ms);
}
