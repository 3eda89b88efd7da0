import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ABANDONED_LEASE_MS, type TakeSlot } from '../../src/contract/limits/limiter.ts';
import { LeaseQueue, type LimiterNotice } from '../../workflows/actors/lease-queue.ts';

const T0 = 1_000_000;

/** The leases of one limit, as the limiter uses them. */
function limiterWith(limit: number, overflow: TakeSlot['overflow'] = 'queue') {
  const leases = new LeaseQueue();
  const notices: LimiterNotice[] = [];
  const request = (run: string, more: Partial<TakeSlot> = {}): TakeSlot => ({
    key: run,
    run,
    limit,
    overflow,
    group: '',
    ...more,
  });
  return {
    leases,
    notices,
    take: (run: string, more: Partial<TakeSlot> = {}, now = T0) => leases.take(request(run, more), now, notices).as,
    verdictOn: (run: string, more: Partial<TakeSlot> = {}, now = T0) =>
      leases.outcomeOfTake(request(run, more), now).as,
    end: (...runs: string[]) => {
      leases.removeRuns(runs);
      leases.grant(T0, notices);
    },
    granted: () => notices.flatMap((notice) => (notice.type === 'granted' ? [notice.run] : [])),
  };
}

describe('the leases of a limiter', () => {
  it('give leases up to the limit, then queue runs, and grant in the order of arrival', () => {
    const { take, end, granted, leases } = limiterWith(2);
    expect(['a', 'b', 'c', 'd'].map((run) => take(run))).toEqual(['granted', 'granted', 'waiting', 'waiting']);
    expect(leases.queueOrder()).toEqual(['c', 'd']);
    end('b');
    expect(granted()).toEqual(['c']);
  });

  it('answer the same run the same', () => {
    const { take, leases } = limiterWith(1);
    take('a');
    take('b');
    expect([take('a'), take('b'), leases.active, leases.waiting]).toEqual(['granted', 'waiting', 1, 1]);
  });

  it('count a run that is leaving until it has ended', () => {
    const { take, leases, end, granted } = limiterWith(1);
    take('a');
    take('b');
    expect(leases.markEnding('a')).toBe(true);
    expect(granted()).toEqual([]);
    expect(leases.holders(10)).toEqual(['a', 'b']);
    end('a');
    expect(granted()).toEqual(['b']);
  });

  it('serve groups round robin', () => {
    const { take, end, leases, granted } = limiterWith(1);
    take('x', { group: 'a' });
    for (const run of ['a1', 'a2', 'a3']) take(run, { group: 'a' });
    take('b1', { group: 'b' });
    take('c1', { group: 'c' });
    expect(leases.queueOrder()).toEqual(['b1', 'c1', 'a1', 'a2', 'a3']);
    end('x');
    take('b2', { group: 'b' });
    for (const run of ['b1', 'c1', 'a1', 'b2', 'a2']) end(run);
    expect(granted()).toEqual(['b1', 'c1', 'a1', 'b2', 'a2', 'a3']);
  });

  it('end the one that was started first, also where it asks last', () => {
    const { take, notices, end, leases } = limiterWith(1, 'cancel-oldest');
    expect(take('newest', { startedAt: 3 })).toBe('granted');
    expect(take('older', { startedAt: 2 })).toBe('waiting');
    expect(notices).toEqual([{ type: 'end', run: 'older', how: 'cancel' }]);
    expect(take('later', { startedAt: 4 })).toBe('waiting');
    expect(notices.at(-1)).toMatchObject({ type: 'end', run: 'newest' });
    end('newest');
    expect(notices.at(-1)).toEqual({ type: 'granted', run: 'later' });
    expect(leases.carried().leases).toMatchObject([{ run: 'later', startedAt: 4 }]);
  });

  it('end the oldest, waiting or active, so that only the newest stay', () => {
    const { take, notices, end } = limiterWith(1, 'cancel-oldest');
    take('a');
    take('b', { evict: 'abort' });
    take('c');
    expect(notices).toEqual([
      { type: 'end', run: 'a', how: 'abort' },
      { type: 'end', run: 'b', how: 'cancel' },
    ]);
    end('a');
    expect(notices.at(-1)).toEqual({ type: 'granted', run: 'c' });
  });

  it('release the lease of a run that never started, after a timeout', () => {
    const { take, verdictOn } = limiterWith(1, 'reject');
    take('never');
    const seen = { closed: [], missing: ['never'] };
    expect(verdictOn('a', { seen }, T0 + ABANDONED_LEASE_MS - 1)).toBe('full');
    expect(verdictOn('a', { seen }, T0 + ABANDONED_LEASE_MS)).toBe('granted');
  });

  it('keep the lease of a run that is retried, until it has started or timed out', () => {
    const { take, verdictOn, leases } = limiterWith(1, 'reject');
    take('a');
    leases.markEnding('a');
    const closed = (at: number) => ({ closed: ['a'], closedAt: [at], missing: [] });
    expect(verdictOn('b', { seen: closed(T0) })).toBe('granted');
    // Its last execution closed, and it asks again under the same id.
    const again = T0 + 60_000;
    take('a', {}, again);
    expect(leases.ending).toEqual([]);
    const before = closed(again - 1);
    expect([leases.endedRuns(before, again + 10), verdictOn('b', { seen: before }, again + 10)]).toEqual([[], 'full']);
    expect(verdictOn('b', { seen: before }, again + ABANDONED_LEASE_MS)).toBe('granted');
    expect(leases.endedRuns(closed(again + 5), again + 10)).toEqual(['a']);
    // It is not known when the run closed.
    expect(leases.endedRuns({ closed: ['a'], missing: [] }, again)).toEqual(['a']);
  });

  it('show all of many holders, a part at a time, those that are ending first', () => {
    const { take, leases } = limiterWith(250, 'reject');
    const runs = Array.from({ length: 250 }, (_, n) => `r${n}`);
    for (const run of runs) take(run);
    leases.markEnding('r120');
    const shown = [0, 99, 198].map((from) => leases.limitDetails(from).holders);
    for (const part of shown) expect([part.length, new Set(part).size, part[0]]).toEqual([100, 100, 'r120']);
    expect(new Set(shown.flat())).toEqual(new Set(runs));
    expect(leases.limitDetails(249).holders).toEqual(leases.limitDetails(0).holders);
    expect(leases.limitDetails().holders).toEqual(shown[0]);
  });

  it('follow a limit that changes', () => {
    const { take, granted, leases } = limiterWith(1);
    for (const run of ['a', 'b', 'c']) take(run);
    take('d', { limit: 3 });
    expect([granted(), leases.active, leases.waiting]).toEqual([['b', 'c'], 3, 1]);
    take('e', { limit: 1 });
    expect(leases.active).toBe(3);
  });

  it('come through continue-as-new as they were', () => {
    const { take, leases } = limiterWith(1);
    for (const [n, run] of ['a', 'b', 'c', 'd'].entries()) take(run, { group: String(n % 2) });
    const restored = new LeaseQueue(JSON.parse(JSON.stringify(leases.carried())));
    expect(restored.queueOrder()).toEqual(leases.queueOrder());
    expect(restored.carried()).toEqual(leases.carried());
  });

  it('are never over the limit and forget nobody, whatever comes', () => {
    const step = fc.oneof(
      fc.record({ take: fc.nat(30), group: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ leaving: fc.nat(30) }),
      fc.record({ end: fc.nat(30) }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 120 }), (limit, steps) => {
        const { take, leases, end, granted } = limiterWith(limit);
        const known = new Set<string>();
        for (const one of steps) {
          if ('take' in one) {
            take(`r${one.take}`, { group: one.group });
            known.add(`r${one.take}`);
          } else if ('leaving' in one) {
            if (!leases.markEnding(`r${one.leaving}`)) known.delete(`r${one.leaving}`);
          } else {
            end(`r${one.end}`);
            known.delete(`r${one.end}`);
          }
          expect(leases.active).toBeLessThanOrEqual(limit);
          expect(leases.waiting === 0 || leases.active === limit).toBe(true);
        }
        expect(leases.active + leases.waiting).toBe(known.size);
        // A waiting run gets its lease when the others end.
        const waiting = leases.queueOrder();
        for (let rest = leases.holders(1_000); rest.length > 0; rest = leases.holders(1_000)) end(rest[0]!);
        expect(granted()).toEqual(expect.arrayContaining(waiting));
      }),
      { numRuns: 300 },
    );
  });
});
