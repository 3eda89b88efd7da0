import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Execution } from '../../src/console/data/types.ts';
import {
  bulkFilter,
  chipsOf,
  listQuery,
  mergePolledPage,
  parseViews,
  tabOf,
} from '../../src/console/screens/runs-filter.ts';

const run = (id: string, status = 'completed') => ({ id, status }) as unknown as Execution;
const ids = (rows: readonly Execution[]) => rows.map(({ id, status }) => `${id} ${status}`);

describe('the filters of the run list', () => {
  it('are tabs, chips and a request', () => {
    expect([
      tabOf({}),
      tabOf({ status: 'failed,aborted' }),
      tabOf({ status: 'failed' }),
      tabOf({ status: 'odd' }),
    ]).toEqual(['all', 'failed', 'failed', undefined]);
    const query = { status: 'failed', waitingFor: 'approval', 'started[gte]': '2026-01-01', odd: '1', 'state[a]': 'b' };
    expect(listQuery(query)).toEqual({
      status: 'failed,aborted',
      waitingFor: 'approval',
      'started[gte]': '2026-01-01',
      'state[a]': 'b',
    });
    expect(chipsOf(query).map(({ text }) => text)).toEqual([
      'Waits for: a decision',
      'Started from: 2026-01-01',
      'state[a]: b',
    ]);
    expect(chipsOf({ status: 'completed' })).toEqual([{ name: 'status', text: 'Status: completed' }]);
  });

  it('are the body of a bulk operation, but for error codes', () => {
    expect(
      bulkFilter({ status: 'failed', 'started[gte]': '2026-01-01', 'started[lt]': '2026-02-01', 'state[a]': 'b' }),
    ).toEqual({
      status: 'failed,aborted',
      started: { gte: '2026-01-01', lt: '2026-02-01' },
      state: { a: 'b' },
    });
    expect(bulkFilter({ errorCode: 'no' })).toEqual({ errorCode: 'no' });
  });

  it('are read out of what a browser has kept, whatever that is', () => {
    const view = { name: 'Mine', query: { status: 'failed' } };
    expect(parseViews(JSON.stringify([view, { name: 1, query: {} }, { name: 'a', query: { b: 1 } }, null]))).toEqual([
      view,
    ]);
    for (const text of [null, '', '{', '{}', '7']) expect(parseViews(text)).toEqual([]);
  });
});

describe('a poll of the run list', () => {
  it('renews the rows in their new order, and lets new ones wait', () => {
    const shown = [run('a', 'running'), run('b'), run('c')];
    const newer = [run('d', 'running'), run('a'), run('b')];
    expect(mergePolledPage(shown, newer, true)).toMatchObject({ unseen: 1 });
    expect(ids(mergePolledPage(shown, newer, true).rows)).toEqual(['a completed', 'b completed', 'c completed']);
    expect(ids(mergePolledPage(shown, newer, false).rows)).toEqual(['a completed', 'b completed']);
  });

  it('never shows a row twice, nor one that was not shown', () => {
    const rows = fc
      .uniqueArray(fc.integer({ min: 0, max: 20 }).map(String))
      .map((names) => names.map((name) => run(name)));
    fc.assert(
      fc.property(rows, rows, fc.boolean(), (shown, newer, hasMore) => {
        const { rows: after, unseen } = mergePolledPage(shown, newer, hasMore);
        expect(new Set(after.map(({ id }) => id)).size).toBe(after.length);
        expect(after.every(({ id }) => shown.some((row) => row.id === id))).toBe(true);
        expect(unseen).toBe(newer.filter(({ id }) => !shown.some((row) => row.id === id)).length);
      }),
    );
  });
});
