// The times that Temporal makes of cron patterns.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachConcurrently } from '../../../src/client/concurrency/each-concurrently.ts';
import { cronSpec } from '../../../src/client/triggers/schedule-spec.ts';
import { cronTimes } from '../../../src/definition/document/cron-times.ts';
import { CRON_CASES, type CronCase } from '../../definition/cron-cases.ts';
import { serverClock, timesByClock, Zone } from '../../definition/temporal-clock.ts';
import { sharedCron } from '../../support/shared-cases.ts';
import { type TestServer, testServer } from '../../support/temporal.ts';
import { unique } from '../gateway/gateway-support.ts';

/** A time that the clock skips in spring does not come on that day. Some implementations move it. */
function expectedOf({ expectedNext = [], disputed }: (typeof sharedCron)[number]): readonly string[] {
  const [first = '', ...rest] = expectedNext;
  return disputed === true && first.includes('-03-') ? rest : expectedNext;
}

/** Of another project, too, where they are there. */
const cases: readonly CronCase[] = [
  ...CRON_CASES,
  ...sharedCron
    .filter(({ error, never }) => error !== true && never !== true)
    .map((one) => ({ ...one, next: expectedOf(one).map((time) => `${time.slice(0, 16)}Z`) })),
];

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});
afterAll(() => server.close());

const seconds = (time: number) => ({ seconds: Math.floor(time / 1000) as never });

type Span = readonly [from: number, until: number];

/** The times of a schedule in some spans, ends included. */
async function listed(spec: ReturnType<typeof cronSpec>, spans: readonly Span[]): Promise<number[][]> {
  const scheduleId = unique('cron-case');
  const schedule = await server.client.schedule.create({
    scheduleId,
    spec,
    action: { type: 'startWorkflow', workflowType: 'fire', taskQueue: server.taskQueue, args: [] },
    state: { paused: true },
  });
  const lists = await Promise.all(
    spans.map(([from, until]) =>
      server.client.workflowService.listScheduleMatchingTimes({
        namespace: server.namespace,
        scheduleId,
        startTime: seconds(from - 1_000),
        endTime: seconds(until),
      }),
    ),
  );
  await schedule.delete();
  return lists.map(({ startTime }) => startTime.map((time) => Number(time.seconds) * 1_000));
}

async function timesOf({ cron, tz = 'UTC', from }: Omit<CronCase, 'next'>, until: string): Promise<string[]> {
  const spec = cronSpec(cron, tz, new Date(from).getUTCFullYear());
  const [times] = await listed(spec, [[Date.parse(from) + 1_000, Date.parse(until) + 1_000]]);
  return times!.map((time) => new Date(time).toISOString());
}

describe('the times of a schedule', () => {
  it('are those that a walk of the calendar finds', async () => {
    for (let at = 0; at < cases.length; at += 5) {
      const some = cases.slice(at, at + 5);
      const found = await Promise.all(some.map((one) => timesOf(one, one.next.at(-1)!)));
      for (const [n, times] of found.entries()) {
        const { cron, tz, from, next } = some[n]!;
        const shown = times.slice(0, next.length).map((time) => `${time.slice(0, 16)}Z`);
        expect.soft(shown, `${cron} after ${from} in ${tz}`).toEqual(next);
      }
    }
  });

  it.each([
    { tz: 'Europe/Berlin', from: '2026-10-24T23:59:00.000Z' },
    { tz: 'Australia/Adelaide', from: '2026-04-04T14:59:00.000Z' },
    { tz: 'America/New_York', from: '2026-11-01T04:59:00.000Z' },
  ])('come in each of the hours that the clock of $tz repeats', async ({ tz, from }) => {
    const until = Date.parse(from) + 3 * 3_600_000;
    const cron = '7,15-45/15 * * * *';
    const times = await timesOf({ cron, from, tz }, new Date(until).toISOString());
    const minutes = [7, 15, 30, 45];
    const wanted: string[] = [];
    for (let at = Date.parse(from) + 60_000; at <= until; at += 60_000) {
      const shown = new Intl.DateTimeFormat('en', { timeZone: tz, minute: 'numeric' }).format(at);
      if (minutes.includes(Number(shown))) wanted.push(new Date(at).toISOString());
    }
    expect(times).toEqual(wanted);
    expect(times).toHaveLength(12);
  });
});

const HOUR = 3_600_000;
const YEAR = 2026;

describe.each([
  ['Europe/Berlin', ['30 1 * * *', '15,45 2 * * *', '*/15 * * * 0', '30 1,2 * * *']],
  ['Europe/Dublin', ['0 0 * * *', '30 1 * * *']],
  ['America/New_York', ['30 1 * * *', '*/20 1 * * SUN']],
  ['America/Santiago', ['30 1 * * SUN', '30 1 * * SAT', '0 12 * * SUN', '30 23 * * *']],
  ['Atlantic/Azores', ['30 1 * * SUN', '0 0 * * *']],
  ['Australia/Lord_Howe', ['*/15 * * * *', '5 * * * *', '0 2 * * *', '*/30 * * * *']],
  ['Pacific/Chatham', ['*/5 3 * * *', '50 2 * * *']],
])('the times about changes of the clock of %s', (timezone, patterns) => {
  const zone = new Zone(timezone, Date.UTC(YEAR - 1), Date.UTC(YEAR + 3));
  const changes = zone.changes.filter(({ at }) => at > Date.UTC(YEAR) && at < Date.UTC(YEAR + 2));
  const spans = changes.flatMap(({ at }) =>
    // Before the change, in the hour before it, and after it.
    [-30, -0.75, 0.25].map((hours) => [at + hours * HOUR, at + 30 * HOUR] as Span),
  );

  it('they come as the clock shows them', async () => {
    await eachConcurrently(patterns, async (pattern) => {
      const wanted = changes.flatMap(({ at }) => timesByClock(pattern, zone, at - 30 * HOUR, at + 30 * HOUR));
      const found = await listed(cronSpec(pattern, timezone, YEAR), spans);
      for (const [index, [from, until]] of spans.entries())
        expect
          .soft(found[index], `${pattern} from ${new Date(from).toISOString()}`)
          .toEqual(wanted.filter((time) => time >= from && time <= until));
    });
  });

  it('of calendars alone they come as the copy of the server has them', async () => {
    await eachConcurrently(patterns, async (pattern) => {
      const times = cronTimes(pattern, 'UTC', YEAR);
      if ('problem' in times) throw new Error(times.problem);
      const next = serverClock({ ...times, timezone }, zone);
      const found = await listed({ ...cronSpec(pattern, 'UTC', YEAR), timezone }, spans);
      for (const [index, [from, until]] of spans.entries()) {
        const expected: number[] = [];
        for (let at = next(from - 60_000, until); at <= until; at = next(at, until)) expected.push(at);
        expect.soft(found[index], `${pattern} from ${new Date(from).toISOString()}`).toEqual(expected);
      }
    });
  });
});
