/**
 * Converts cron patterns of schedules (LANGUAGE.md §10) to the calendars of a Temporal Schedule. A pattern has the five
 * fields of crontab(5), or is a nickname. Names of months and days are case-insensitive; Sunday is 0 and 7; `a/n` goes
 * to the end of the field. If both day fields are restricted (neither begins with `*`), a day that matches either is
 * enough. That takes two calendars, since all fields of one calendar must match. By hand: packages give dates and
 * no calendars, and in Temporal's own cron strings both day fields have to match.
 */

import { wallClock } from './zone-clock.ts';

/** Every `step`-th value from `start` to `end`, both included. */
export interface CronRange {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/**
 * A time matches when each of its fields is in one of that field's ranges. Months from 1, days of the week from Sunday
 * = 0.
 */
export interface CronCalendar {
  readonly minute: readonly CronRange[];
  readonly hour: readonly CronRange[];
  readonly dayOfMonth: readonly CronRange[];
  readonly month: readonly CronRange[];
  readonly dayOfWeek: readonly CronRange[];
  /** Absent: every year. */
  readonly year?: readonly CronRange[];
}

type ParsedCron = { readonly calendars: readonly CronCalendar[] } | { readonly problem: string };

const NICKNAMES: { readonly [name: string]: string } = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
/** The number of days that each month can have. */
const MONTH_LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const SUNDAY_ALIAS = 7;
/** In an hour. */
export const MINUTES_PER_HOUR = 60;
export const DAYS_OF_WEEK: readonly CronRange[] = [{ start: 0, end: SUNDAY_ALIAS - 1, step: 1 }];

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names of values; the first name means `min`. */
  readonly names?: readonly string[];
}

const MINUTE: Field = { name: 'minute', min: 0, max: 59 };
const HOUR: Field = { name: 'hour', min: 0, max: 23 };
const DAY_OF_MONTH: Field = { name: 'day of month', min: 1, max: 31 };
const MONTH: Field = { name: 'month', min: 1, max: 12, names: MONTHS };
const DAY_OF_WEEK: Field = { name: 'day of week', min: 0, max: SUNDAY_ALIAS, names: DAYS };

/** Thrown and caught in this file only. */
class CronSyntaxError extends Error {}

/** The calendars of a pattern, or a sentence about its problem. Never throws. */
export function parseCron(pattern: string): ParsedCron {
  try {
    return { calendars: calendarsOf(pattern.trim()) };
  } catch (error) {
    if (error instanceof CronSyntaxError) return { problem: error.message };
    throw error;
  }
}

/** The first part of a pattern whose step is longer than its field, such as `0/90` for minutes: it never repeats. */
export function overlongStep(pattern: string): string | undefined {
  const fields = [MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK];
  const isOverlong = (field: Field, part: string): boolean =>
    Number(part.split('/')[1]) > lastValue(field) - field.min + 1;
  return pattern
    .trim()
    .split(/\s+/)
    .flatMap((written, index) => {
      const field = fields[index];
      return field === undefined ? [] : written.split(',').filter((part) => isOverlong(field, part));
    })[0];
}

/**
 * The identity of a tick within its schedule. With fixed hours it is the time of the wall clock, so that an hour which
 * the clock repeats in autumn gives one tick, as in cron. If every hour matches, it is the moment itself. `time` is ISO
 * 8601.
 */
export function tickKey(pattern: string, timezone: string, time: string): string {
  const parsed = parseCron(pattern);
  const everyHour = 'problem' in parsed || parsed.calendars.some(matchesEveryHour);
  if (everyHour || timezone === 'UTC') return compactIso(new Date(time));
  return compactIso(new Date(wallClock(timezone, Date.parse(time)))).replace('Z', '');
}

export const matchesEveryHour = ({ hour }: CronCalendar): boolean =>
  hour.some(({ start, end, step }) => start === HOUR.min && end === HOUR.max && step === 1);

/** Whether only minutes are restricted. */
export const restrictsMinutesOnly = (calendar: CronCalendar): boolean =>
  matchesEveryHour(calendar) &&
  coversField(DAY_OF_MONTH, calendar.dayOfMonth) &&
  coversField(MONTH, calendar.month) &&
  matchesEveryWeekday(calendar);

export const matchesEveryWeekday = ({ dayOfWeek }: CronCalendar): boolean => coversField(DAY_OF_WEEK, dayOfWeek);

const coversField = (field: Field, ranges: readonly CronRange[]): boolean =>
  rangeValues(ranges).size === lastValue(field) - field.min + 1;

/** `20251102T013000Z`. */
const compactIso = (time: Date): string =>
  time
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:]/g, '');

function calendarsOf(pattern: string): CronCalendar[] {
  if (pattern.startsWith('@')) {
    const written = NICKNAMES[pattern.toLowerCase()];
    if (written === undefined)
      throw new CronSyntaxError(`Unknown nickname ${pattern}: expected ${Object.keys(NICKNAMES).join(', ')}.`);
    return calendarsOf(written);
  }
  const fields = pattern.split(/\s+/);
  const [minute, hour, dayOfMonth, month, dayOfWeek] = fields;
  if (
    fields.length !== 5 ||
    minute === undefined ||
    hour === undefined ||
    dayOfMonth === undefined ||
    month === undefined ||
    dayOfWeek === undefined
  )
    throw new CronSyntaxError(
      'Expected minute, hour, day of month, month and day of week, such as "0 9 * * 1-5", or a nickname: @daily.',
    );
  const calendar = {
    minute: rangesOf(MINUTE, minute),
    hour: rangesOf(HOUR, hour),
    dayOfMonth: rangesOf(DAY_OF_MONTH, dayOfMonth),
    month: rangesOf(MONTH, month),
    dayOfWeek: withSundayFirst(rangesOf(DAY_OF_WEEK, dayOfWeek)),
  };
  const eitherDay = !dayOfMonth.startsWith('*') && !dayOfWeek.startsWith('*');
  if (!eitherDay) {
    rejectImpossibleDays(calendar);
    return [calendar];
  }
  return [
    { ...calendar, dayOfWeek: rangesOf(DAY_OF_WEEK, '*') },
    { ...calendar, dayOfMonth: rangesOf(DAY_OF_MONTH, '*') },
  ];
}

function rangesOf(field: Field, written: string): CronRange[] {
  return written.split(',').map((part) => rangeOf(field, part));
}

function rangeOf(field: Field, part: string): CronRange {
  const [span = '', stepText, ...tooMany] = part.split('/');
  const step = stepText === undefined ? 1 : parseNumber(stepText);
  if (tooMany.length > 0 || step === undefined || step === 0)
    throw new CronSyntaxError(`The ${field.name} "${part}" has no valid step. Expected a step such as */5.`);
  if (span === '*') return { start: field.min, end: lastValue(field), step };
  const [from = '', to, ...more] = span.split('-');
  if (more.length > 0) throw unreadableField(field, part);
  const start = numberIn(field, from);
  const end = to === undefined ? (stepText === undefined ? start : lastValue(field)) : numberIn(field, to, true);
  if (start === undefined || end === undefined) throw unreadableField(field, part);
  if (start > end)
    throw new CronSyntaxError(
      `The ${field.name} "${part}" ends before it begins. Write two ranges, such as 22-23,0-5.`,
    );
  return { start, end, step };
}

/** At the end of a range Sunday is 7. */
function numberIn(field: Field, text: string, isEnd = false): number | undefined {
  const named = field.names?.indexOf(text.toUpperCase()) ?? -1;
  if (named >= 0) return isEnd && field === DAY_OF_WEEK && named === 0 ? SUNDAY_ALIAS : field.min + named;
  const value = parseNumber(text);
  return value === undefined || value < field.min || value > field.max ? undefined : value;
}

const parseNumber = (text: string): number | undefined => (/^\d{1,3}$/.test(text) ? Number(text) : undefined);

/** The field has two numbers for Sunday; `*` means it once. */
const lastValue = (field: Field): number => (field === DAY_OF_WEEK ? SUNDAY_ALIAS - 1 : field.max);

const unreadableField = (field: Field, part: string): CronSyntaxError =>
  new CronSyntaxError(
    `The ${field.name} "${part.slice(0, 40)}" cannot be read. Expected ${field.min} to ${field.max}${
      field.names === undefined ? '' : ` or ${field.names[0]} to ${field.names.at(-1)}`
    }, ranges such as 1-5, steps such as */2, and lists of these.`,
  );

/** The days of the week in Temporal's numbers: 7 becomes 0. */
function withSundayFirst(ranges: readonly CronRange[]): CronRange[] {
  if (ranges.every(({ end }) => end < SUNDAY_ALIAS)) return [...ranges];
  const days = new Set([...rangeValues(ranges)].map((day) => day % SUNDAY_ALIAS));
  return [...days].sort((a, b) => a - b).map((day) => ({ start: day, end: day, step: 1 }));
}

export const rangeValues = (ranges: readonly CronRange[]): Set<number> => new Set(ranges.flatMap(valuesOf));

/** The ranges of some values. */
export function rangesFrom(values: readonly number[]): CronRange[] {
  const ranges: { start: number; end: number; step: 1 }[] = [];
  for (const value of [...new Set(values)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.end === value - 1) last.end = value;
    else ranges.push({ start: value, end: value, step: 1 });
  }
  return ranges;
}

function valuesOf({ start, end, step }: CronRange): number[] {
  const values: number[] = [];
  for (let value = start; value <= end; value += step) values.push(value);
  return values;
}

/** Refuses days that never occur, such as February 31. */
function rejectImpossibleDays({ dayOfMonth, month }: CronCalendar): void {
  const first = Math.min(...dayOfMonth.map(({ start }) => start));
  const longest = Math.max(...month.flatMap(valuesOf).map((one) => MONTH_LENGTHS[one - 1] ?? 0));
  if (first > longest) throw new CronSyntaxError(`The pattern never matches: none of the months has a day ${first}.`);
}
