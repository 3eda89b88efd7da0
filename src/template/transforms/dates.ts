/**
 * Transforms of points in time, which are ISO 8601 texts or numbers since 1970. All use UTC, and "ago" the run's clock.
 */
import { parseDuration } from '../duration.ts';
import { daysInMonth, epochMs, isoTime, utcMidnight } from '../time.ts';
import { type TransformDeclarations, wrongType } from './transform.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

export const DATES: TransformDeclarations = {
  daysAgo: {
    gives: 'Whole days from that time to now; negative in the future, -1 if the value is not a time.',
    apply: (value, _args, { now }) => ago(value, now, DAY_MS),
  },
  hoursAgo: {
    gives: 'Whole hours from that time to now; negative in the future, -1 if the value is not a time.',
    apply: (value, _args, { now }) => ago(value, now, HOUR_MS),
  },
  minutesAgo: {
    gives: 'Whole minutes from that time to now; negative in the future, -1 if the value is not a time.',
    apply: (value, _args, { now }) => ago(value, now, MINUTE_MS),
  },
  parseDate: {
    gives: 'The time in milliseconds since 1970; null if the value is not a time.',
    apply: (value) => epochMs(value) ?? null,
  },
  isoDate: {
    gives: 'The time as ISO 8601 in UTC (2026-01-15T10:30:00.000Z); the empty text if the value is not a time.',
    apply: (value) => isoTime(epochMs(value) ?? Number.NaN) ?? '',
  },
  epochSeconds: {
    gives: 'The time in whole seconds since 1970; null if the value is not a time.',
    apply: (value) => {
      const ms = epochMs(value);
      return ms === undefined ? null : Math.floor(ms / 1000);
    },
  },
  isBefore: {
    takes: '(time)',
    gives: 'Whether the time is before the other; false if one of them is not a time.',
    arity: [1, 1],
    apply: (value, [other]) => (epochMs(value) ?? Number.NaN) < (epochMs(other) ?? Number.NaN),
  },
  isAfter: {
    takes: '(time)',
    gives: 'Whether the time is after the other; false if one of them is not a time.',
    arity: [1, 1],
    apply: (value, [other]) => (epochMs(value) ?? Number.NaN) > (epochMs(other) ?? Number.NaN),
  },
  addDuration: {
    takes: "(duration: milliseconds, '2d' or 'P1M')",
    gives: 'The time plus the duration (minus a negative one), as ISO 8601; null if the value is not a time.',
    arity: [1, 1],
    apply: (value, [given], evaluation) => {
      const duration = parseDuration(given);
      if (duration === undefined) {
        throw wrongType(
          evaluation,
          'addDuration cannot read the duration',
          "milliseconds, '2d', '300ms' or ISO 8601 (PT5M)",
        );
      }
      const ms = epochMs(value);
      return ms === undefined ? null : (isoTime(addMonths(ms, duration.months) + duration.ms) ?? null);
    },
  },
};

function ago(value: unknown, now: number, unitMs: number): number {
  const ms = epochMs(value);
  return ms === undefined ? -1 : Math.floor((now - ms) / unitMs);
}

/**
 * Adds on the calendar. A day that the month does not have becomes its last day: January 31 plus a month is February
 * 28.
 */
function addMonths(ms: number, months: number): number {
  if (months === 0) return ms;
  const date = new Date(ms);
  const first = new Date(utcMidnight(date.getUTCFullYear(), date.getUTCMonth() + months, 1));
  const day = Math.min(date.getUTCDate(), daysInMonth(first.getUTCFullYear(), first.getUTCMonth() + 1));
  const timeOfDay = ms - utcMidnight(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate());
  return first.getTime() + (day - 1) * DAY_MS + timeOfDay;
}
