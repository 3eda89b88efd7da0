/** Durations and instants in step configs (LANGUAGE.md §1). Times are epoch milliseconds, UTC. */
import type { Json, JsonObject } from '../../json/json.ts';
import { parseDuration } from '../../template/duration.ts';
import { epochMs } from '../../template/time.ts';
import { ConfigError, type Parse, type StepContext, StepFailure } from '../kind.ts';
import { describeValue, isAbsent } from './read.ts';

const DAY_MS = 86_400_000;
/** Months count as 30 days and years as 365, since a duration has no calendar date. */
const MONTH_DAYS = 30;
const YEAR_DAYS = 365;
/** A hundred years. A longer wait is a mistake, and Temporal's clock ends at 292 years. */
export const MAX_DURATION_MS = 36_525 * DAY_MS;

const EXPECTED = "Expected milliseconds (1500), a text like '2d' or '300ms', or an ISO 8601 duration like 'PT5M'";

/**
 * A duration in whole milliseconds. Fractions are rounded up, so no timer is early.
 * @throws StepFailure `invalid_duration` for an invalid or negative duration, or one above MAX_DURATION_MS.
 */
export function durationMs(value: Json): number {
  const duration = parseDuration(value);
  if (duration === undefined) throw invalid(`${EXPECTED}; it is ${describeValue(value)}.`);
  const years = Math.trunc(duration.months / 12);
  const days = years * YEAR_DAYS + (duration.months % 12) * MONTH_DAYS;
  const ms = Math.ceil(duration.ms + days * DAY_MS);
  if (ms < 0) throw invalid(`A duration cannot be negative; it is ${describeValue(value)}.`);
  if (ms > MAX_DURATION_MS)
    throw invalid(`A duration is at most 100 years (${MAX_DURATION_MS} ms); it is ${describeValue(value)}.`);
  return ms;
}

/**
 * An instant: an ISO 8601 text (UTC without a zone), or milliseconds since 1970 (small numbers are seconds).
 * @throws StepFailure `invalid_time`.
 */
export function instantMs(value: Json): number {
  const ms = epochMs(value);
  if (ms === undefined) {
    throw new StepFailure(
      'invalid_time',
      `Expected a point in time such as '2026-01-31T09:00:00Z', or milliseconds since 1970; ` +
        `it is ${describeValue(value)}.`,
    );
  }
  return Math.ceil(ms);
}

/** The ISO 8601 text of an instant. */
export function isoInstant(ms: number): string {
  return new Date(ms).toISOString();
}

function invalid(message: string): StepFailure {
  return new StepFailure('invalid_duration', message);
}

/**
 * Reads a config member when the step begins. A constant is read, and refused, when the definition is compiled.
 */
type Reader = (visit: StepContext) => number;

export function planDuration(value: Json, at: string, parse: Parse): Reader {
  return plan(value, at, parse, durationMs);
}

/** When a wait with the config's `timeout` ends; undefined where it has none. */
export function planTimeout({ timeout }: JsonObject, parse: Parse): (visit: StepContext) => number | undefined {
  if (isAbsent(timeout)) return () => undefined;
  const waitMs = planDuration(timeout, '/timeout', parse);
  return (visit) => visit.now + waitMs(visit);
}

export function planInstant(value: Json, at: string, parse: Parse): Reader {
  return plan(value, at, parse, instantMs);
}

function plan(value: Json, at: string, parse: Parse, read: (value: Json) => number): Reader {
  const template = parse.template(value, at);
  if (typeof value === 'string' && value.includes('{{')) return (visit) => read(visit.render(template));
  try {
    const constant = read(value);
    return () => constant;
  } catch (error) {
    if (error instanceof StepFailure) throw new ConfigError(at, error.message, error.code);
    throw error;
  }
}
