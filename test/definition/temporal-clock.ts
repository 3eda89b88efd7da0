// How a Temporal server (1.31) finds the times of a schedule: it walks the calendars' fields from a moment on, and asks
// Go for the moment that a clock on the wall means. Both are wrong about changes of the clock, in the ways seen here.
// Beside it, the walk of the clock that is right.
import { type CronCalendar, everyHourIn, parseCron, valuesIn } from '../../src/definition/document/cron.ts';
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

  constructor(name: string, from: number, until: number) {
    this.name = name;
    this.from = from;
    this.until = until;
    this.changes = clockChanges(name, from, until);
    this.#first = offsetAt(name, from);
  }

  offset(time: number): number {
    return this.changes.findLast(({ at }) => at <= time)?.after ?? this.#first;
  }

  /** Go's time.Date: it guesses the offset from the wall time as if that were UTC, and corrects the guess once. */
  moment(wall: number): number {
    const guess = this.offset(wall);
    if (guess === 0) return wall;
    const index = this.changes.findLastIndex(({ at }) => at <= wall);
    const start = this.changes[index]?.at ?? -Infinity;
    const end = this.changes[index + 1]?.at ?? Infinity;
    const time = wall - guess;
    return time >= start && time < end ? time : wall - this.offset(time);
  }

  wall(time: number): number {
    return time + this.offset(time);
  }
}

const hourOf = (wall: number) => new Date(wall).getUTCHours();

interface Sets {
  readonly year: Set<number> | undefined;
  readonly month: Set<number>;
  readonly day: Set<number>;
  readonly weekday: Set<number>;
  readonly hour: Set<number>;
  readonly minute: Set<number>;
}

const setsOf = (calendar: CronCalendar): Sets => ({
  year: calendar.year === undefined ? undefined : valuesIn(calendar.year),
  month: valuesIn(calendar.month),
  day: valuesIn(calendar.dayOfMonth),
  weekday: valuesIn(calendar.dayOfWeek),
  hour: valuesIn(calendar.hour),
  minute: valuesIn(calendar.minute),
});

/** The first time of the calendar after a whole minute, as the server finds it; Infinity where that is past `limit`. */
function nextOf(sets: Sets, zone: Zone, after: number, limit: number): number {
  const wall = zone.wall(after);
  let day = Math.floor(wall / DAY) * DAY;
  let hour = hourOf(wall);
  // A second later; seconds that do not match go on to the next minute.
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
    const date = new Date(day);
    if (
      sets.year?.has(date.getUTCFullYear()) === false ||
      !sets.month.has(date.getUTCMonth() + 1) ||
      !sets.day.has(date.getUTCDate()) ||
      !sets.weekday.has(new Date(zone.wall(zone.moment(day + hour * HOUR + minute * MINUTE))).getUTCDay())
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
    const found = sets.map((one) => nextOf(one, clock, after, limit));
    const next = Math.min(...found, moments.find((time) => time > after) ?? Infinity);
    return next > limit ? Infinity : next;
  };
}

/** The times that the pattern names in a span, by the clock alone. */
export function walked(pattern: string, zone: Zone, from: number, until: number): number[] {
  const parsed = parseCron(pattern);
  if ('problem' in parsed) throw new Error(parsed.problem);
  const sets = parsed.calendars.map((calendar) => ({
    minute: valuesIn(calendar.minute),
    hour: valuesIn(calendar.hour),
    day: valuesIn(calendar.dayOfMonth),
    month: valuesIn(calendar.month),
    weekday: valuesIn(calendar.dayOfWeek),
  }));
  const repeats = parsed.calendars.some(everyHourIn);
  const seen = new Set<number>();
  const times: number[] = [];
  for (let time = from; time <= until; time += MINUTE) {
    const wall = zone.wall(time);
    const date = new Date(wall);
    if (!repeats && seen.has(wall)) continue;
    const isNamed = sets.some(
      (one) =>
        one.minute.has(date.getUTCMinutes()) &&
        one.hour.has(date.getUTCHours()) &&
        one.day.has(date.getUTCDate()) &&
        one.month.has(date.getUTCMonth() + 1) &&
        one.weekday.has(date.getUTCDay()),
    );
    if (!isNamed) continue;
    seen.add(wall);
    times.push(time);
  }
  return times;
}
