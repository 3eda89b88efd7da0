import { describe, expect, it } from 'vitest';
import { type CronCalendar, type CronRange, parseCron, tickKey } from '../../src/definition/document/cron.ts';
import { cronTimes } from '../../src/definition/document/cron-times.ts';
import { describeSharedCases, sharedCron } from '../support/shared-cases.ts';
import { CRON_CASES, type CronCase, REFUSED_CRON } from './cron-cases.ts';
import { serverClock, Zone } from './temporal-clock.ts';

const MINUTE_MS = 60_000;
const MAX_WALK = 100_000;

const isIn = (ranges: readonly CronRange[], value: number) =>
  ranges.some(({ start, end, step }) => value >= start && value <= end && (value - start) % step === 0);

const matches = (calendar: CronCalendar, time: Date) =>
  isIn(calendar.minute, time.getUTCMinutes()) &&
  isIn(calendar.hour, time.getUTCHours()) &&
  isIn(calendar.dayOfMonth, time.getUTCDate()) &&
  isIn(calendar.month, time.getUTCMonth() + 1) &&
  isIn(calendar.dayOfWeek, time.getUTCDay());

function calendarsOf(pattern: string): readonly CronCalendar[] {
  const parsed = parseCron(pattern);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.calendars;
}

/** Finds the times of a pattern of UTC by its calendars, minute by minute. */
function expectTimes({ cron, from, next }: CronCase): void {
  const calendars = calendarsOf(cron);
  const expected = next.map((time) => Date.parse(time));
  const fits = (ms: number) => calendars.some((calendar) => matches(calendar, new Date(ms)));
  expect(expected.filter((time) => !fits(time))).toEqual([]);
  const first = Math.floor(Date.parse(from) / MINUTE_MS + 1) * MINUTE_MS;
  const last = Math.min(expected.at(-1)!, first + MAX_WALK * MINUTE_MS);
  const found: number[] = [];
  for (let time = first; time <= last; time += MINUTE_MS) if (fits(time)) found.push(time);
  expect(found).toEqual(expected.filter((time) => time <= last));
}

const inUtc = ({ tz }: CronCase) => tz === undefined || tz === 'UTC';

describe('cron patterns', () => {
  it.each(CRON_CASES.filter(inUtc))('$cron after $from', expectTimes);

  it.each(REFUSED_CRON)('%j is refused', (pattern) => {
    expect(parseCron(pattern)).toEqual({ problem: expect.stringMatching(/\.$/) });
  });

  it.each(CRON_CASES.filter((one) => !inUtc(one)))('$cron after $from in $tz', ({ cron, from, tz = 'UTC', next }) => {
    const start = Date.parse(from);
    const year = new Date(start).getUTCFullYear();
    const times = cronTimes(cron, tz, year);
    if ('problem' in times) throw new Error(times.problem);
    const nextOf = serverClock(times, new Zone(tz, Date.UTC(year - 1), Date.UTC(year + 4)));
    const until = Date.parse(next.at(-1)!);
    const found: string[] = [];
    for (let at = nextOf(start - (start % MINUTE_MS), until); at <= until; at = nextOf(at, until))
      found.push(`${new Date(at).toISOString().slice(0, 16)}Z`);
    expect(found).toEqual(next);
  });

  it('take Sunday as 0, 7 and a name, also at the end of a range', () => {
    for (const days of ['0,6', '6-7', 'sat-sun', '6,7', 'SUN,SAT'])
      expect(
        calendarsOf(`0 0 * * ${days}`)[0]!
          .dayOfWeek.flatMap(({ start }) => start)
          .sort(),
        days,
      ).toEqual([0, 6]);
  });

  it('need either day where both are restricted, which a field that begins with * is not', () => {
    expect(calendarsOf('0 12 1 * MON')).toHaveLength(2);
    expect(calendarsOf('0 12 */2 * MON')).toHaveLength(1);
  });

  it.each([
    '0 0 L * *',
    '0 0 15W * *',
    '0 0 * * 5#2',
    '1/2/3 * * * *',
    '1-2-3 * * * *',
    '0 0 0 * *',
    '-1 * * * *',
    '0 0 * FOO *',
    '* * * * * *',
  ])('%s says what was expected', (pattern) => {
    expect(parseCron(pattern)).toEqual({ problem: expect.stringMatching(/xpected/) });
  });
});

describeSharedCases('patterns of another project', () => {
  const readable = sharedCron.filter(({ error, never, tz }) => error !== true && never !== true && tz === undefined);
  it.each(readable)('$cron ($test)', ({ expectedNext = [], ...one }) => expectTimes({ ...one, next: expectedNext }));

  const refused = sharedCron.filter(({ error, never }) => error === true || never === true);
  it.each(refused)('$cron ($test) is refused', ({ cron }) => {
    expect(parseCron(cron)).toEqual({ problem: expect.stringMatching(/\.$/) });
  });
});

describe('a tick', () => {
  const repeated = ['2025-11-02T05:30:00Z', '2025-11-02T06:30:00.000Z'];

  it('of a fixed hour comes once, also when the clock repeats it', () => {
    const ticks = repeated.map((time) => tickKey('30 1 * * *', 'America/New_York', time));
    expect(ticks).toEqual(['20251102T013000', '20251102T013000']);
    expect(repeated.map((time) => tickKey('30 5,6 * * *', 'UTC', time))).toEqual([
      '20251102T053000Z',
      '20251102T063000Z',
    ]);
  });

  it('of every hour comes as often as there are hours', () => {
    const ticks = repeated.map((time) => tickKey('30 * * * *', 'America/New_York', time));
    expect(ticks).toEqual(['20251102T053000Z', '20251102T063000Z']);
  });
});
