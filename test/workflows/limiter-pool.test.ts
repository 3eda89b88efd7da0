import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MIN_SHARDED_LIMIT, shardOf } from '../../src/client/starts/limiters.ts';
import type { AppliedLimit } from '../../src/contract/limits/limiter.ts';
import { SHARD_COUNT, shardId } from '../../src/contract/limits/limiter-pool.ts';
import { POOL, ShardSimulation } from './shard-simulation.ts';

/** Numbers between 0 and 1, the same for a seed. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const quiet = { delayMs: () => 10, isLost: () => false, continues: () => false };

/** No shard records more slots than the pool has lent it, and the pool lends no more than the limit. */
function expectConsistentLoans(simulation: ShardSimulation): void {
  let lent = 0;
  for (const { shard, byPool, byShard } of simulation.loanRecords()) {
    if (byShard > byPool) throw new Error(`${shard} uses ${byShard}, and the pool has lent ${byPool}.`);
    lent += byPool;
  }
  if (lent > simulation.limit) throw new Error(`${lent} slots are lent of ${simulation.limit}.`);
  if (simulation.active > simulation.limit)
    throw new Error(`${simulation.active} runs go, and ${simulation.limit} may.`);
}

describe('a sharded limit', () => {
  it('admits five hundred runs a second, and no workflow handles more than a part of them', () => {
    const draw = random(7);
    const [limit, perSecond, seconds] = [600, 500, 12];
    const simulation = new ShardSimulation(limit, { ...quiet, delayMs: () => 5 + draw() * 20 });
    for (let at = 0, index = 0; at < seconds * 1_000; index++) {
      const id = `run-${index}`;
      simulation.after(at, () => simulation.start(id, 400 + draw() * 1_000));
      at += (-Math.log(1 - draw()) * 1_000) / perSecond;
    }
    simulation.until(seconds * 1_000, () => expectConsistentLoans(simulation));
    const perWorkflow = [...simulation.events].map(([id, count]) => [id, count / seconds] as const);
    const busiest = Math.max(...perWorkflow.map(([, rate]) => rate));
    const pool = (simulation.events.get(POOL) ?? 0) / seconds;
    simulation.until(60_000, () => expectConsistentLoans(simulation));
    const runs = [...simulation.runs.values()];
    expect(runs.length).toBeGreaterThan(perSecond * seconds * 0.9);
    expect(runs.every(({ closedAt }) => closedAt !== undefined)).toBe(true);
    const waits = runs.map(({ askedAt, grantedAt }) => grantedAt! - askedAt).sort((a, b) => a - b);
    expect(waits[Math.floor(waits.length * 0.5)]).toBeLessThan(50);
    expect(waits[Math.floor(waits.length * 0.99)]).toBeLessThan(1_500);
    expect(simulation.mostActive).toBeGreaterThan(perSecond * 0.8);
    // One limiter would have more than a thousand: a take and a release for each run, and the holder checks.
    expect(busiest).toBeLessThan(130);
    expect(pool).toBeLessThan(90);
  });

  it('lends all of it to one shard, if only that one needs it', () => {
    const simulation = new ShardSimulation(MIN_SHARDED_LIMIT, quiet);
    // Others have taken their spare slots before.
    for (let index = 0; index < 100; index++) simulation.start(`first-${index}`, 100);
    simulation.until(500, () => expectConsistentLoans(simulation));
    const same = Array.from({ length: 20_000 }, (_, index) => `same-${index}`)
      .filter((id) => shardId(POOL, id) === `${POOL}.s3`)
      .slice(0, 300);
    for (const id of same) simulation.start(id, 20_000);
    simulation.until(10_000, () => expectConsistentLoans(simulation));
    expect(simulation.active).toBe(MIN_SHARDED_LIMIT);
    simulation.until(60_000, () => expectConsistentLoans(simulation));
    expect([...simulation.runs.values()].every(({ closedAt }) => closedAt !== undefined)).toBe(true);
  });

  it('comes down to a limit that has sunk, and goes up to one that has risen', () => {
    const draw = random(3);
    const simulation = new ShardSimulation(320, quiet);
    for (let at = 0, index = 0; at < 30_000; at += 4, index++) {
      const id = `run-${index}`;
      simulation.after(at, () => simulation.start(id, 1_500 + draw() * 500));
    }
    simulation.until(8_000, () => expectConsistentLoans(simulation));
    expect(simulation.active).toBeGreaterThan(300);
    // Runs wait everywhere: all shards have the same, and ask for more now and then only.
    expect(Math.max(...simulation.loanRecords().map(({ byPool }) => byPool))).toBeLessThanOrEqual(24);
    simulation.events.clear();
    simulation.until(10_000, () => expectConsistentLoans(simulation));
    expect((simulation.events.get(POOL) ?? 0) / 2).toBeLessThan(40);
    simulation.limit = MIN_SHARDED_LIMIT;
    simulation.until(16_000);
    expect(simulation.active).toBeLessThanOrEqual(MIN_SHARDED_LIMIT);
    expect(simulation.active).toBeGreaterThan(MIN_SHARDED_LIMIT * 0.8);
    simulation.limit = 320;
    simulation.until(22_000, () => expectConsistentLoans(simulation));
    expect(simulation.active).toBeGreaterThan(300);
  });

  it('is never exceeded and loses no slot, whatever is repeated, delayed or carried on', () => {
    const arrival = fc.record({ at: fc.nat(8_000), ms: fc.integer({ min: 1, max: 3_000 }), id: fc.nat(40) });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.array(arrival, { maxLength: 120 }),
        fc.nat(1_000_000),
        (limit, arrivals, seed) => {
          const draw = random(seed);
          const simulation = new ShardSimulation(limit, {
            delayMs: () => draw() * 120,
            isLost: () => draw() < 0.15,
            continues: () => draw() < 0.1,
          });
          for (const [index, { at, ms, id }] of arrivals.entries())
            simulation.after(at, () => simulation.start(`run-${id}-${index}`, ms));
          simulation.until(600_000, () => expectConsistentLoans(simulation));
          // Every run had a slot, none holds one now, and all actors have ended.
          expect([...simulation.runs.values()].filter(({ closedAt }) => closedAt === undefined)).toEqual([]);
          expect([...simulation.actors.keys()]).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** Events of history that limits cost, for each run and on the busiest workflow; runs come evenly for ten seconds. */
function costOf(perSecond: number, isSharded: boolean): { readonly aRun: number; readonly busiestASecond: number } {
  const seconds = 10;
  const draw = random(11);
  const simulation = new ShardSimulation(perSecond * 2, { ...quiet, delayMs: () => 5 + draw() * 20 }, isSharded);
  for (let index = 0; index < perSecond * seconds; index++)
    simulation.after((index * 1_000) / perSecond, () => simulation.start(`run-${index}`, 500 + draw() * 1_000));
  simulation.until(seconds * 1_000);
  const counts = [...simulation.events.values()];
  const all = counts.reduce((sum, count) => sum + count, 0);
  return { aRun: all / simulation.runs.size, busiestASecond: Math.max(...counts) / seconds };
}

describe('what a limit costs', () => {
  it('grows with the runs of its one limiter, unless it is sharded', () => {
    const few = { single: costOf(20, false), sharded: costOf(20, true) };
    const many = { single: costOf(300, false), sharded: costOf(300, true) };
    // A take, a release, and a part of a holder check for each run; sharded, sometimes a request to the pool.
    for (const { aRun } of [few.single, few.sharded, many.single, many.sharded]) expect(aRun).toBeLessThan(5);
    expect(many.single.busiestASecond).toBeGreaterThan(550);
    expect(many.sharded.busiestASecond).toBeLessThan(many.single.busiestASecond / 6);
    expect(many.sharded.aRun).toBeLessThan(many.single.aRun * 1.6);
  });
});

describe('the shards of a limit', () => {
  const wanted: AppliedLimit = { gate: POOL, scope: 'global', limit: 500, overflow: 'queue', group: 'o' };

  it('are for large limits with a queue that belong to no definition', () => {
    const sharded = shardOf(wanted, 'run.o.a.1');
    expect(sharded).toMatchObject({ gate: shardId(POOL, 'run.o.a.1'), lender: POOL });
    expect(shardOf(sharded, 'run.o.a.1')).toBe(sharded);
    for (const other of [{ limit: MIN_SHARDED_LIMIT - 1 }, { overflow: 'reject' }, { scope: 'workflow' }] as const)
      expect(shardOf({ ...wanted, ...other }, 'run.o.a.1')).toEqual({ ...wanted, ...other });
  });

  it('get runs in equal parts', () => {
    const counts = new Map<string, number>();
    for (let index = 0; index < 16_000; index++) {
      const shard = shardId(POOL, `run.o.a.${index}`);
      counts.set(shard, (counts.get(shard) ?? 0) + 1);
    }
    expect(counts.size).toBe(SHARD_COUNT);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(200);
  });
});
