// How a Temporal server (1.31) finds the times of a schedule: it walks the calendars' fields from a moment on, and asks
// Go for the moment that a clock on the wall means. Both are wrong about changes of the clock, in the ways seen here.
// Beside it, the walk of the clock that is right.
import { type CronCalendar, matchesEveryHour, parseCron, rangeValues } from '../../src/definition/document/cron.ts';
import type { CronTimes } from '../../src/definition/document/cron-times.ts';
import { type ClockChange, clockChanges, offsetAt } from '../../src/definition/document/zone-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The offsets of a zone in some years. */
export class Zone {
  readonly changes: readonly ClockChange[];
  readonly name: string;
  readonly from: number;
  readonly until: number;
  readonly #first: number;
  readonly #minutes = new Map<string, readonly WallMinute[]>();
  /** The span between two changes that was asked for last. */
  #span = { start: Infinity, end: -Infinity, offset: 0 };

  constructor(name: string, from: number, until: number) {
    this.name = name;
    this.from = from;
    this.until = until;
    this.changes = clockChanges(name, from, until);
    this.#first = offsetAt(name, from);
  }

  offset(time: number): number {
    return this.#spanOf(time).offset;
  }

  #spanOf(time: number): { start: number; end: number; offset: number } {
    if (time >= this.#span.start && time < this.#span.end) return this.#span;
    const index = this.changes.findLastIndex(({ at }) => at <= time);
    const { at: start, after: offset } = this.changes[index] ?? { at: -Infinity, after: this.#first };
    this.#span = { start, end: this.changes[index + 1]?.at ?? Infinity, offset };
    return this.#span;
  }

  /** Go's time.Date: it guesses the offset from the wall time as if that were UTC, and corrects the guess once. */
  moment(wall: number): number {
    const guess = this.offset(wall);
    if (guess === 0) return wall;
    const { start, end } = this.#spanOf(wall);
    const time = wall - guess;
    return time >= start && time < end ? time : wall - this.offset(time);
  }

  wall(time: number): number {
    return time + this.offset(time);
  }

  /** What the clock on the wall shows in a span, minute by minute; kept for the next pattern. */
  minutes(from: number, until: number): readonly WallMinute[] {
    const kept = this.#minutes.get(`${from} ${until}`);
    if (kept !== undefined) return kept;
    const minutes: WallMinute[] = [];
    for (let time = from; time <= until; time += MINUTE) {
      const wall = this.wall(time);
      const date = new Date(wall);
      minutes.push({
        time,
        wall,
        minute: date.getUTCMinutes(),
        hour: date.getUTCHours(),
        day: date.getUTCDate(),
        month: date.getUTCMonth() + 1,
        weekday: date.getUTCDay(),
      });
    }
    this.#minutes.set(`${from} ${until}`, minutes);
    return minutes;
  }
}

interface WallMinute {
  readonly time: number;
  readonly wall: number;
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  readonly month: number;
  readonly weekday: number;
}

const hourOf = (wall: number) => Math.floor((wall % DAY) / HOUR);
// 1970 began on a Thursday.
const weekdayOf = (wall: number) => (Math.floor(wall / DAY) + 4) % 7;

interface Sets {
  readonly year: Set<number> | undefined;
  readonly month: Set<number>;
  readonly day: Set<number>;
  readonly weekday: Set<number>;
  readonly hour: Set<number>;
  readonly minute: Set<number>;
  /** Whether a day has a date of these, as far as it was asked. */
  readonly dates: Map<number, boolean>;
}

const setsOf = (calendar: CronCalendar): Sets => ({
  year: calendar.year === undefined ? undefined : rangeValues(calendar.year),
  month: rangeValues(calendar.month),
  day: rangeValues(calendar.dayOfMonth),
  weekday: rangeValues(calendar.dayOfWeek),
  hour: rangeValues(calendar.hour),
  minute: rangeValues(calendar.minute),
  dates: new Map(),
});

function hasDate(sets: Sets, day: number): boolean {
  const known = sets.dates.get(day);
  if (known !== undefined) return known;
  const date = new Date(day);
  const has =
    sets.year?.has(date.getUTCFullYear()) !== false &&
    sets.month.has(date.getUTCMonth() + 1) &&
    sets.day.has(date.getUTCDate());
  sets.dates.set(day, has);
  return has;
}

/** The first time of the calendar after a whole minute, as the server finds it; Infinity where that is past `limit`. */
function nextOf(sets: Sets, zone: Zone, after: number, limit: number): number {
  const wall = zone.wall(after);
  let day = Math.floor(wall / DAY) * DAY;
  let hour = hourOf(wall);
  // A second later; seconds that do not match continue with the next minute.
  let minute = (wall % HOUR) / MINUTE + 1;
  let again = hourOf(zone.wall(after - HOUR)) === hour ? HOUR : 0;
  for (;;) {
    if (minute >= 60) {
      const hours = zone.moment(day + (hour + 1) * HOUR) - zone.moment(day + hour * HOUR);
      minute = 0;
      if (again === 0 && hours > HOUR) again = HOUR;
      else {
        hour++;
        again = 0;
      }
    }
    if (hour >= 24) {
      day += DAY;
      hour = 0;
    }
    if (day > limit + 2 * DAY) return Infinity;
    if (
      !hasDate(sets, day) ||
      !sets.weekday.has(weekdayOf(zone.wall(zone.moment(day + hour * HOUR + minute * MINUTE))))
    ) {
      day += DAY;
      hour = minute = again = 0;
      continue;
    }
    // The day of the week is not looked at again for a later hour of the day.
    while (hour < 24 && !sets.hour.has(hour)) {
      hour++;
      minute = again = 0;
    }
    if (hour >= 24) continue;
    while (minute < 60 && !sets.minute.has(minute)) minute++;
    if (minute >= 60) continue;
    const time = zone.moment(day + hour * HOUR + minute * MINUTE);
    if (hourOf(zone.wall(time)) !== hour) {
      hour++;
      minute = 0;
      continue;
    }
    return time + again;
  }
}

/** The time of a schedule that the server finds after a whole minute; Infinity where that is past `limit`. */
export function serverClock({ calendars, timezone, moments }: CronTimes, zone: Zone) {
  const sets = calendars.map(setsOf);
  const clock = timezone === zone.name ? zone : new Zone(timezone, zone.from, zone.until);
  return (after: number, limit: number): number => {
    let next = moments.find((time) => time > after) ?? Infinity;
    for (const one of sets) next = Math.min(next, nextOf(one, clock, after, Math.min(limit, next)));
    return next > limit ? Infinity : next;
  };
}

/** The times that the pattern names in a span, by the clock alone. */
export function timesByClock(pattern: string, zone: Zone, from: number, until: number): number[] {
  const parsed = parseCron(pattern);
  if ('problem' in parsed) throw new Error(parsed.problem);
  const sets = parsed.calendars.map(setsOf);
  const repeats = parsed.calendars.some(matchesEveryHour);
  const seen = new Set<number>();
  const times: number[] = [];
  for (const { time, wall, minute, hour, day, month, weekday } of zone.minutes(from, until)) {
    const isNamed = sets.some(
      (one) =>
        one.minute.has(minute) &&
        one.hour.has(hour) &&
        one.day.has(day) &&
        one.month.has(month) &&
        one.weekday.has(weekday),
    );
    if (!isNamed || (!repeats && seen.has(wall))) continue;
    seen.add(wall);
    times.push(time);
  }
  return times;
}
