/** The specification of a trigger's schedule, in the form of the SDK. */

import type { CalendarSpec, ScheduleSpec } from '@temporalio/client';
import type { CronCalendar } from '../../definition/document/cron.ts';
import { cronTimes } from '../../definition/document/cron-times.ts';
import { canonicalTimezone } from '../../definition/document/time-zones.ts';
import type { JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { parseDuration } from '../../template/duration.ts';
import { ClientError } from '../errors.ts';

const MONTHS = [
  'JANUARY',
  'FEBRUARY',
  'MARCH',
  'APRIL',
  'MAY',
  'JUNE',
  'JULY',
  'AUGUST',
  'SEPTEMBER',
  'OCTOBER',
  'NOVEMBER',
  'DECEMBER',
] as const;
const DAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'] as const;

/**
 * Temporal has no single moments, so each is an interval that comes once in fifty years. That is less than the time
 * since 1970, from which Temporal counts; the first time of a longer interval would come one interval too late.
 */
const FIFTY_YEARS_MS = Date.UTC(2020);

const CLOCK_CHANGE_COMMENT =
  'Days on which the clock is changed are apart. Their times about the change are intervals of 50 years.';

/**
 * What the times of a schedule are made from, beside its trigger: the year, and the zones that this host knows. A later
 * one is a greater text.
 */
export const timesVersion = (): string => `${new Date().getUTCFullYear()} ${process.versions['tz'] ?? ''}`;

/** Of the config of a schedule. @throws ClientError `invalid_trigger`. */
export function specOf(config: JsonObject): ScheduleSpec {
  const timezone = typeof config['timezone'] === 'string' ? config['timezone'] : 'UTC';
  const jitter = parseDuration(config['jitter'])?.ms;
  // Triggers of earlier versions may have the name in another case.
  return { ...cronSpec(String(config['cron']), canonicalTimezone(timezone) ?? timezone), ...omitUndefined({ jitter }) };
}

/**
 * The cron pattern in the form of the SDK, with the changes of the clock about that year. It was checked when the
 * trigger was written.
 * @throws ClientError `invalid_trigger`.
 */
export function cronSpec(
  pattern: string,
  timezone: string,
  year = new Date().getUTCFullYear(),
): Required<Pick<ScheduleSpec, 'calendars' | 'intervals' | 'timezone'>> {
  const times = cronTimes(pattern, timezone, year);
  if ('problem' in times) throw new ClientError('invalid_trigger', times.problem);
  return {
    calendars: times.calendars.map(calendarSpec),
    intervals: times.moments.map((time) => ({ every: FIFTY_YEARS_MS, offset: time % FIFTY_YEARS_MS })),
    timezone: times.timezone,
  };
}

/** The SDK has names for months and days. */
function calendarSpec({ minute, hour, dayOfMonth, month, dayOfWeek, year }: CronCalendar): CalendarSpec {
  return {
    second: 0,
    minute: [...minute],
    hour: [...hour],
    dayOfMonth: [...dayOfMonth],
    month: namedRanges(month, (value) => MONTHS[value - 1] ?? 'JANUARY'),
    dayOfWeek: namedRanges(dayOfWeek, (value) => DAYS[value] ?? 'SUNDAY'),
    ...(year === undefined ? {} : { year: [...year], comment: CLOCK_CHANGE_COMMENT }),
  };
}

function namedRanges<Name>(ranges: CronCalendar['month'], nameOf: (value: number) => Name) {
  return ranges.map(({ start, end, step }) => ({ start: nameOf(start), end: nameOf(end), step }));
}
