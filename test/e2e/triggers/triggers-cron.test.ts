// The times that Temporal makes of cron patterns, against cases of others (test/cases/cron).
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clockSpec } from '../../../src/client/triggers/schedule-spec.ts';
import { tickOf } from '../../../src/definition/document/cron.ts';
import { type TestServer, testServer } from '../../support/temporal.ts';
import { unique } from '../gateway/gateway-support.ts';

interface Case {
  cron: string;
  test: string;
  from: string;
  tz?: string;
  expectedNext?: string[];
  error?: boolean;
  never?: boolean;
  disputed?: boolean;
}

/**
 * Where Temporal differs: a time that is skipped in spring does not fire on that day, and a time that is repeated in
 * autumn fires once, in London at its second occurrence.
 */
const SKIPPED = new Set(['30 2 12 3 *', '30 2 * * *']);
const isLondon = ({ tz, cron }: Case) => tz === 'Europe/London' && cron === '30 1 * * *';

function expectedOf(one: Case): string[] {
  const [first = '', ...rest] = one.expectedNext!;
  if (SKIPPED.has(one.cron) && one.disputed === true) return rest;
  if (!isLondon(one)) return one.expectedNext!;
  if (one.disputed === true) return rest;
  const autumn = '2025-10-26T01:30:00.000Z';
  if (first === '2025-10-26T00:30:00.000Z') return [autumn, ...rest];
  return first === '2025-10-27T01:30:00.000Z' ? [autumn, first, ...rest].slice(0, 5) : one.expectedNext!;
}

const cases = (
  JSON.parse(readFileSync(new URL('../../cases/cron/croner.json', import.meta.url), 'utf8')) as Case[]
).filter(({ error, never }) => error !== true && never !== true);

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});
afterAll(() => server.close());

const seconds = (time: number) => ({ seconds: Math.floor(time / 1000) as never });

async function timesOf({ cron, tz = 'UTC', from }: Case, until: string): Promise<string[]> {
  const scheduleId = unique('cron-case');
  const schedule = await server.client.schedule.create({
    scheduleId,
    spec: clockSpec(cron, tz),
    action: { type: 'startWorkflow', workflowType: 'fire', taskQueue: server.taskQueue, args: [] },
    state: { paused: true },
  });
  const { startTime } = await server.client.workflowService.listScheduleMatchingTimes({
    namespace: server.namespace,
    scheduleId,
    // What comes again just after `from` was there before it.
    startTime: seconds(Date.parse(from) - 3_600_000),
    endTime: seconds(Date.parse(until) + 1_000),
  });
  await schedule.delete();
  const ticks = new Map<string, string>();
  for (const { seconds: at } of startTime) {
    const time = new Date(Number(at) * 1000).toISOString();
    const tick = tickOf(cron, tz, time);
    if (!ticks.has(tick)) ticks.set(tick, time);
  }
  return [...ticks.values()].filter((time) => Date.parse(time) > Date.parse(from));
}

describe('the times of a schedule', () => {
  it('are those that four other implementations agree on, each one tick', async () => {
    for (let at = 0; at < cases.length; at += 5) {
      const some = cases.slice(at, at + 5);
      const found = await Promise.all(some.map((one) => timesOf(one, one.expectedNext!.at(-1)!)));
      for (const [n, times] of found.entries()) {
        expect.soft(times.slice(0, 5), `${some[n]!.test} (${some[n]!.cron})`).toEqual(expectedOf(some[n]!));
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
    const times = await timesOf({ cron, test: tz, from, tz }, new Date(until).toISOString());
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
