// The times of schedules where the clock is changed: a walk of the clock, minute by minute, beside what a Temporal
// server makes of the calendars (temporal-clock.ts), whichever minute it begins at.
import { describe, expect, it } from 'vitest';
import { parseCron } from '../../src/definition/document/cron.ts';
import { type CronTimes, cronTimes, isSpuriousTime } from '../../src/definition/document/cron-times.ts';
import { serverClock, timesByClock, Zone } from './temporal-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const YEAR = 2026;
const FROM = Date.UTC(YEAR - 1);
const UNTIL = Date.UTC(YEAR + 3);

const ZONES = [
  'Europe/Berlin',
  'Europe/London',
  'Europe/Dublin',
  'Europe/Athens',
  'Atlantic/Azores',
  'America/New_York',
  'America/St_Johns',
  'America/Havana',
  'America/Santiago',
  'Africa/Casablanca',
  'Africa/Cairo',
  'Asia/Beirut',
  'Australia/Sydney',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Antarctica/Troll',
];

const PATTERNS = [
  '0 0 * * *',
  '30 0 * * *',
  '30 1 * * *',
  '0,30 1,2 * * *',
  '30 2 * * *',
  '15,45 2 * * *',
  '*/5 3 * * *',
  '30 23 * * *',
  '0 */2 * * *',
  '*/15 * * * *',
  '5 * * * *',
  '*/15 * * * 0',
  '*/10 0-4 * * SAT,SUN',
  '30 1 * * SUN',
  '30 1 * * SAT',
  '0 12 * * SUN',
  '20 */3 25-31 10 *',
  '30 1-3 1 * SUN',
  '0 9 * * 1-5',
  '*/20 * * 3,4,9-11 *',
];

function timesOf(pattern: string, timezone: string): CronTimes {
  const times = cronTimes(pattern, timezone, YEAR);
  if ('problem' in times) throw new Error(times.problem);
  return times;
}

const shown = (time: number) => (Number.isFinite(time) ? new Date(time).toISOString() : 'none');

/** The minutes from which the server may continue: each one near the change, and some further away. */
function* minutesAbout(change: number): Generator<number> {
  for (let time = change - 28 * HOUR; time < change + 28 * HOUR; ) {
    yield time;
    time += Math.abs(time - change) <= 4 * HOUR ? MINUTE : 30 * MINUTE;
  }
}

/** Where the server goes wrong from one of the minutes about the changes of two years. */
function misses(pattern: string, zone: Zone, times = timesOf(pattern, zone.name)): string[] {
  const next = serverClock(times, zone);
  const changes = zone.changes.filter(({ at }) => at >= Date.UTC(YEAR) && at < Date.UTC(YEAR + 2));
  return changes.flatMap(({ at }) => {
    const until = at + 30 * HOUR;
    const wanted = timesByClock(pattern, zone, at - 30 * HOUR, until);
    const wrong: string[] = [];
    for (const after of minutesAbout(at)) {
      const right = wanted.find((time) => time > after) ?? Infinity;
      const found = next(after, until);
      if (found !== right) wrong.push(`after ${shown(after)} ${shown(found)}, not ${shown(right)}`);
    }
    return wrong;
  });
}

describe('the times of a pattern', () => {
  it.each(ZONES)('are right about each change of the clock in %s', (name) => {
    const zone = new Zone(name, FROM, UNTIL);
    expect(zone.changes.length).toBeGreaterThanOrEqual(7);
    for (const pattern of PATTERNS) expect.soft(misses(pattern, zone).slice(0, 3), pattern).toEqual([]);
  });

  it.each([
    // A time that the pattern does not name, after the one that it names.
    ['30 1 * * *', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
    ['0 0 * * *', 'Europe/Dublin', '2026-10-25T00:00:00.000Z'],
    ['15,45 2 * * *', 'Europe/Berlin', '2026-10-25T02:45:00.000Z'],
    ['0 2 * * *', 'Australia/Lord_Howe', '2026-10-03T15:30:00.000Z'],
    ['30 1 * * SAT', 'America/Santiago', '2026-09-06T04:30:00.000Z'],
  ])('%s in %s is not what the calendars of the pattern alone make', (pattern, name, spurious) => {
    const zone = new Zone(name, FROM, UNTIL);
    const parsed = parseCron(pattern);
    if ('problem' in parsed) throw new Error(parsed.problem);
    const alone = { calendars: parsed.calendars, timezone: name, moments: [] };
    expect(misses(pattern, zone, alone).join()).toContain(` ${spurious}, not `);
    expect(isSpuriousTime(pattern, name, Date.parse(spurious))).toBe(true);
  });
});

describe('the clock of a pattern', () => {
  it('is that of UTC where minutes alone are named', () => {
    const everyQuarter = [{ start: 0, end: 59, step: 15 }];
    expect(timesOf('*/15 * * * *', 'Europe/Berlin')).toMatchObject({
      timezone: 'UTC',
      calendars: [{ minute: everyQuarter }],
    });
    const { timezone, calendars } = timesOf('0,50 0-23 * * *', 'Asia/Kathmandu');
    expect(timezone).toBe('UTC');
    expect(calendars[0]?.minute).toEqual([5, 15].map((minute) => ({ start: minute, end: minute, step: 1 })));
    // Summer time of half an hour makes no difference to these minutes, but to others.
    expect(timesOf('*/30 * * * *', 'Australia/Lord_Howe').timezone).toBe('UTC');
  });

  it.each([
    ['0 9 * * *', 'Europe/Berlin'],
    ['*/15 8-18 * * 1-5', 'Europe/Berlin'],
    ['*/15 * * 6 *', 'Europe/Berlin'],
    ['0 5 1 * MON', 'Europe/Berlin'],
    ['30 2 * * *', 'America/New_York'],
    ['0 12 * * SUN', 'Europe/Berlin'],
  ])('of %s in %s is left alone, as no change of the clock touches it', (pattern, timezone) => {
    expect(timesOf(pattern, timezone)).toEqual({ ...parseCron(pattern), timezone, moments: [] });
  });

  it.each([
    ['*/15 * * * 0', 'Europe/Berlin'],
    ['0 * * * *', 'Australia/Lord_Howe'],
    ['0 12 * * SUN', 'America/Santiago'],
  ])('of %s stays that of %s', (pattern, timezone) => {
    const { calendars, timezone: used } = timesOf(pattern, timezone);
    expect(used).toBe(timezone);
    expect(calendars.length).toBeGreaterThan(1);
  });

  it('is none of what cannot be read', () => {
    expect(cronTimes('61 * * * *', 'UTC', YEAR)).toEqual({ problem: expect.stringMatching(/minute/) });
  });
});

describe('a spurious time', () => {
  const isSpurious = (time: string, pattern = '30 1 * * *') =>
    isSpuriousTime(pattern, 'Europe/Berlin', Date.parse(time));

  it('is outside the pattern, at a whole minute, and near a change of the clock', () => {
    expect(isSpurious('2026-10-25T00:30:00Z')).toBe(true);
    expect(isSpurious('2026-10-24T23:30:00Z')).toBe(false);
    // By hand.
    expect(isSpurious('2026-10-25T00:30:11Z')).toBe(false);
    // No change is near, so the host may be wrong about the zone.
    expect(isSpurious('2026-10-28T01:30:00Z')).toBe(false);
  });

  it('is none that a walk finds', () => {
    for (const name of ZONES) {
      const zone = new Zone(name, FROM, UNTIL);
      const [change] = zone.changes;
      for (const pattern of PATTERNS)
        for (const time of timesByClock(pattern, zone, change!.at - 2 * HOUR, change!.at + 2 * HOUR))
          expect(isSpuriousTime(pattern, name, time), `${name} ${pattern} ${shown(time)}`).toBe(false);
    }
  });
});
