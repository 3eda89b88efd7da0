/**
 * The times of a cron pattern in a time zone, for a Temporal Schedule (LANGUAGE.md §10). Temporal finds the times of a
 * calendar by walking the clock on the wall. Where the clock is changed it loses some times of the pattern and makes
 * up others, and which depends on where it begins. So those days are taken out of the calendars. They get calendars of
 * their own without the hours about the change, whose times are listed one by one.
 */

import {
  type CronCalendar,
  DAYS_OF_WEEK,
  MINUTES_PER_HOUR,
  matchesEveryHour,
  matchesEveryWeekday,
  parseCron,
  rangesFrom,
  rangeValues,
  restrictsMinutesOnly,
} from './cron.ts';
import { type ClockChange, clockChanges, isKnownZone, offsetAt, wallClock } from './zone-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The years that a calendar of Temporal can have. */
const FIRST_YEAR = 2000;
const LAST_YEAR = 2100;

/** The times of a schedule: those of its calendars in their time zone, and single moments, in milliseconds. */
export interface CronTimes {
  readonly calendars: readonly CronCalendar[];
  readonly timezone: string;
  readonly moments: readonly number[];
}

/**
 * The times of a pattern in a time zone, with the changes of the clock from the year before `year` to the second year
 * after it. A time that the clock skips does not occur. A time that the clock repeats occurs once, the first time,
 * unless every hour matches. If the pattern restricts minutes only, and they are the same minutes of UTC throughout,
 * it is converted to UTC, whose clock is never changed.
 */
export function cronTimes(pattern: string, timezone: string, year: number): CronTimes | { readonly problem: string } {
  const parsed = parseCron(pattern);
  if ('problem' in parsed) return parsed;
  const { calendars } = parsed;
  // Temporal refuses an unknown zone.
  if (!isKnownZone(timezone)) return { calendars, timezone, moments: [] };
  const changes = clockChanges(timezone, Date.UTC(year - 1), Date.UTC(year + 3));
  const [only] = calendars;
  if (only !== undefined && calendars.length === 1 && restrictsMinutesOnly(only)) {
    const offsets = [offsetAt(timezone, Date.UTC(year)), ...changes.map(({ after }) => after)];
    const [minutes, ...others] = [...new Set(offsets.map((offset) => minutesOfUtc(only, offset).join()))];
    if (minutes !== undefined && others.length === 0) {
      const isSame = minutes === minutesOfUtc(only, 0).join();
      const minute = isSame ? only.minute : rangesFrom(minutes.split(',').map(Number));
      return { calendars: [{ ...only, minute }], timezone: 'UTC', moments: [] };
    }
  }
  const parts = calendars.map((calendar) => splitAtClockChanges(calendar, changes));
  return {
    calendars: parts.flatMap((part) => part.calendars),
    timezone,
    moments: [...new Set(parts.flatMap((part) => part.moments))].sort((a, b) => a - b),
  };
}

/**
 * Whether the pattern does not have that time, within a day of a change of the clock, where Temporal can produce
 * spurious times. Further away the host's zones may be older than the server's, which is right.
 */
export function isSpuriousTime(pattern: string, timezone: string, time: number): boolean {
  const parsed = parseCron(pattern);
  // What the schedule makes is at a whole minute; what was fired by hand is not.
  if ('problem' in parsed || time % MINUTE !== 0 || !isKnownZone(timezone)) return false;
  if (offsetAt(timezone, time - DAY - HOUR) === offsetAt(timezone, time + DAY + HOUR)) return false;
  const wall = wallClock(timezone, time);
  return !parsed.calendars.some(
    (calendar) =>
      matchesDay(calendar, wall) &&
      rangeValues(calendar.hour).has(hourOf(wall)) &&
      rangeValues(calendar.minute).has((wall % HOUR) / MINUTE),
  );
}

function minutesOfUtc({ minute }: CronCalendar, offset: number): number[] {
  const offsetMinutes = (offset % HOUR) / MINUTE;
  return [...rangeValues(minute)]
    .map((value) => (value - offsetMinutes + MINUTES_PER_HOUR) % MINUTES_PER_HOUR)
    .sort((a, b) => a - b);
}

interface CalendarSplit {
  readonly calendars: readonly CronCalendar[];
  readonly moments: readonly number[];
}

function splitAtClockChanges(calendar: CronCalendar, changes: readonly ClockChange[]): CalendarSplit {
  /** The hours of the day that are listed one by one. */
  const days = new Map<number, Set<number>>();
  const moments: number[] = [];
  const listedHours = (day: number): Set<number> => {
    const hours = days.get(day) ?? new Set();
    days.set(day, hours);
    return hours;
  };
  const hours = rangeValues(calendar.hour);
  for (const change of changes) {
    const from = change.at + Math.min(change.before, change.after);
    const until = change.at + Math.max(change.before, change.after);
    const midnight = Math.ceil(from / DAY) * DAY;
    const isSkipping = change.after > change.before;
    // Temporal takes the day of the week from a midnight that does not exist.
    const isWrongDay = isSkipping && midnight < until && !matchesEveryWeekday(calendar);
    // It is right about skipped hours if they are whole.
    if (isSkipping && !isWrongDay && from % HOUR === 0 && until % HOUR === 0) continue;
    if (isWrongDay) listedHours(midnight);
    for (let hour = Math.floor(from / HOUR) * HOUR - HOUR; hour < until; hour += HOUR) {
      if (!matchesDay(calendar, hour) || !hours.has(hourOf(hour))) continue;
      listedHours(dayOf(hour)).add(hourOf(hour));
      for (const minute of rangeValues(calendar.minute))
        moments.push(...momentsOf(hour + minute * MINUTE, change).slice(0, matchesEveryHour(calendar) ? 2 : 1));
    }
  }
  if (days.size === 0) return { calendars: [calendar], moments };
  const rest = [...days].flatMap(([day, listed]) => {
    const left = [...hours].filter((hour) => !listed.has(hour));
    if (left.length === 0 || !matchesDay(calendar, day)) return [];
    const { year, month, dayOfMonth } = dateOf(day);
    return [
      {
        ...calendar,
        year: rangesFrom([year]),
        month: rangesFrom([month]),
        dayOfMonth: rangesFrom([dayOfMonth]),
        dayOfWeek: DAYS_OF_WEEK,
        hour: rangesFrom(left),
      },
    ];
  });
  return { calendars: [...withoutDays(calendar, [...days.keys()].map(dateOf)), ...rest], moments };
}

/** The moments at which the clock shows that time: two where it repeats it, none where it skips it. */
const momentsOf = (wall: number, { at, before, after }: ClockChange): number[] => [
  ...(wall - before < at ? [wall - before] : []),
  ...(wall - after >= at ? [wall - after] : []),
];

interface CalendarDate {
  readonly year: number;
  readonly month: number;
  readonly dayOfMonth: number;
}

/** The calendar without some days, as calendars of other years, of other months, and of other days. */
function withoutDays(calendar: CronCalendar, dates: readonly CalendarDate[]): CronCalendar[] {
  const years = [...new Set(dates.map(({ year }) => year))];
  const monthsOf = (year: number) => [...new Set(dates.filter((date) => date.year === year).map(({ month }) => month))];
  const split: CronCalendar[] = [];
  const add = (ofYears: readonly number[], months: readonly number[], days?: readonly number[]) => {
    if (ofYears.length === 0 || months.length === 0 || days?.length === 0) return;
    const dayOfMonth = days === undefined ? calendar.dayOfMonth : rangesFrom(days);
    split.push({ ...calendar, year: rangesFrom(ofYears), month: rangesFrom(months), dayOfMonth });
  };
  const allYears = Array.from({ length: LAST_YEAR - FIRST_YEAR + 1 }, (_, n) => FIRST_YEAR + n);
  const allMonths = [...rangeValues(calendar.month)];
  add(
    allYears.filter((year) => !years.includes(year)),
    allMonths,
  );
  for (const months of new Set(years.map((year) => monthsOf(year).join()))) {
    const sameMonthYears = years.filter((year) => monthsOf(year).join() === months);
    add(
      sameMonthYears,
      allMonths.filter((month) => !monthsOf(sameMonthYears[0] ?? FIRST_YEAR).includes(month)),
    );
  }
  for (const year of years)
    for (const month of monthsOf(year)) {
      if (!allMonths.includes(month)) continue;
      const days = dates.filter((date) => date.year === year && date.month === month);
      add(
        [year],
        [month],
        [...rangeValues(calendar.dayOfMonth)].filter((day) => !days.some(({ dayOfMonth }) => dayOfMonth === day)),
      );
    }
  return split;
}

const dayOf = (wall: number): number => Math.floor(wall / DAY) * DAY;
const hourOf = (wall: number): number => new Date(wall).getUTCHours();

function dateOf(wall: number): CalendarDate {
  const date = new Date(wall);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, dayOfMonth: date.getUTCDate() };
}

function matchesDay({ month, dayOfMonth, dayOfWeek }: CronCalendar, wall: number): boolean {
  const date = dateOf(wall);
  return (
    rangeValues(month).has(date.month) &&
    rangeValues(dayOfMonth).has(date.dayOfMonth) &&
    rangeValues(dayOfWeek).has(new Date(wall).getUTCDay())
  );
}
