import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StepRow } from '../../src/console/data/types.ts';
import { layoutGraph } from '../../src/console/graph/layout.ts';
import { sumUp } from '../../src/console/graph/scope.ts';
import { barsOf, timeRows } from '../../src/console/trace/timeline-bars.ts';
import { attemptsOf, type StepEvent, Visits } from '../../src/console/trace/visits.ts';

const at = (ms: number): string => new Date(ms).toISOString();
const row = (path: string, startedAt: number, completedAt?: number, more: Partial<StepRow> = {}): StepRow => ({
  ...{ path, stepSlug: path, stepType: 'set', attempts: 1, startedAt: at(startedAt) },
  status: completedAt === undefined ? 'running' : 'completed',
  ...(completedAt === undefined ? {} : { completedAt: at(completedAt) }),
  ...more,
});
const began = (path: string, ms: number): StepEvent => ({ path, stepSlug: path, status: 'running', at: at(ms) });
const ended = (path: string, ms: number, status: StepEvent['status'] = 'completed'): StepEvent => ({
  ...{ path, stepSlug: path, status, port: 'success', attempts: 1, at: at(ms) },
});
const shown = (visits: Visits) => visits.all().map(({ path, status, completedAt }) => [path, status, completedAt]);

describe('the visits of a run that is followed', () => {
  it('are the same wherever the rows end and the events begin', () => {
    // What happens, as events; rows are what had happened at some point of it.
    const events = [began('a', 1), ended('a', 2), began('b', 3), began('c', 4), ended('b', 5), ended('c', 6)];
    const complete = new Visits();
    for (const event of events) complete.applyStep(event);
    fc.assert(
      fc.property(fc.nat(events.length), fc.nat(events.length), (rowsAt, eventsFrom) => {
        const visits = new Visits();
        const done = events.slice(0, rowsAt);
        visits.addRows(
          done
            .filter(({ status }) => status === 'running')
            .map(({ path, at: start }) => {
              const end = done.find((event) => event.path === path && event.status !== 'running');
              const more = end === undefined ? {} : { port: 'success' };
              return row(path, Date.parse(start), end === undefined ? undefined : Date.parse(end.at), more);
            }),
        );
        // The stream begins after the summary, which is no newer than the rows.
        for (const event of events.slice(Math.min(eventsFrom, rowsAt))) visits.applyStep(event);
        expect(shown(visits)).toEqual(shown(complete));
      }),
    );
  });

  it('are visited again by a retry, wait and go on, and end with the run', () => {
    const visits = new Visits();
    visits.addRows([row('a', 1, 2), row('b', 3, 4, { status: 'failed' })]);
    visits.applyStep(began('b', 10));
    expect(shown(visits)).toEqual([
      ['a', 'completed', 2],
      ['b', 'failed', 4],
      ['b', 'running', undefined],
    ]);
    visits.applyAttempt({ path: 'b', attempt: 1 });
    expect(visits.all()[2]?.attempts).toBe(2);
    visits.applyWaits([{ path: 'b' }]);
    expect(visits.all()[2]?.status).toBe('waiting');
    visits.applyWaits([]);
    expect(visits.all()[2]?.status).toBe('running');
    const before = visits.all();
    visits.endOpenVisits(20);
    expect(visits.all()[2]).toMatchObject({ status: 'cancelled', completedAt: 20 });
    expect(before[2]?.status).toBe('running');
  });
});

it('shows the attempts of the visit that is meant, where a path was visited twice', () => {
  const failed = (attempt: number, startedAt: number): StepRow =>
    row('pay', startedAt, startedAt + 1, { attempt, attempts: 2, status: 'failed' });
  const rows = [failed(1, 1), failed(2, 2), failed(1, 10), row('pay', 11, 12, { attempt: 2, attempts: 2 })];
  expect(attemptsOf(rows, 2).map(({ startedAt }) => startedAt)).toEqual([at(1), at(2)]);
  expect(attemptsOf(rows, 11).map(({ status }) => status)).toEqual(['failed', 'completed']);
  expect(attemptsOf(rows, 99).map(({ status }) => status)).toEqual(['failed', 'completed']);
  expect(attemptsOf([], 1)).toEqual([]);
});

describe('the time line', () => {
  it('has the steps in the order of the graph, each container before its body', () => {
    const visits = new Visits();
    visits.addRows([row('end', 9, 10), row('each', 1, 8), row('look', 2, 3), row('look', 4, 5), row('other', 1, 2)]);
    const node = { stepType: 'set', kind: 'set', class: 'pure', ports: [] } as const;
    const layout = layoutGraph(
      {
        flow: 'ports',
        start: 'each',
        nodes: [
          { ...node, id: 'end', name: 'End' },
          { ...node, id: 'look', name: 'Look', container: 'each' },
          { ...node, id: 'each', name: 'Each', kind: 'loop', class: 'container' },
          { ...node, id: 'never', name: 'Never' },
        ],
        edges: [
          { from: 'each', to: 'look', port: 'loop' },
          { from: 'each', to: 'end', port: 'done' },
        ],
      },
      (text) => text.length * 6,
    );
    const rows = timeRows(sumUp(visits.all(), []), layout, 100);
    expect(rows.map(({ slug, depth, totalMs }) => [slug, depth, totalMs])).toEqual([
      ['each', 0, 7],
      ['look', 1, 2],
      ['end', 0, 1],
    ]);
  });

  it('merges bars of one status that would touch, and no others', () => {
    const visits = new Visits();
    visits.addRows([row('a', 0, 10), row('a', 11, 20), row('a', 21, 30, { status: 'failed' }), row('a', 90)]);
    expect(barsOf(visits.all(), (ms) => ms / 2, 100)).toEqual([
      { left: 0, right: 10, status: 'completed', count: 2 },
      { left: 10.5, right: 15, status: 'failed', count: 1 },
      { left: 45, right: 50, status: 'running', count: 1 },
    ]);
  });
});
