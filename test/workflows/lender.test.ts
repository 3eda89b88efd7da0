import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SHARDED_FROM, shardOf } from '../../src/client/starts/limiters.ts';
import { SHARDS, shardId } from '../../src/contract/lender.ts';
import type { GateWanted } from '../../src/contract/limiter.ts';
import { LENDER, World } from './shard-world.ts';

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

/** No shard believes to have more than the lender counts, and the lender counts no more than the limit. */
function demandBooks(world: World): void {
  let lent = 0;
  for (const { shard, byLender, byShard } of world.books()) {
    if (byShard > byLender) throw new Error(`${shard} uses ${byShard}, and the lender counts ${byLender}.`);
    lent += byLender;
  }
  if (lent > world.limit) throw new Error(`${lent} slots are lent of ${world.limit}.`);
  if (world.active > world.limit) throw new Error(`${world.active} runs go, and ${world.limit} may.`);
}

describe('a divided limit', () => {
  it('admits five hundred runs a second, and no workflow hears of more than a part of them', () => {
    const draw = random(7);
    const [limit, perSecond, seconds] = [600, 500, 12];
    const world = new World(limit, { ...quiet, delayMs: () => 5 + draw() * 20 });
    for (let at = 0, index = 0; at < seconds * 1_000; index++) {
      const id = `run-${index}`;
      world.after(at, () => world.start(id, 400 + draw() * 1_000));
      at += (-Math.log(1 - draw()) * 1_000) / perSecond;
    }
    world.until(seconds * 1_000, () => demandBooks(world));
    const perWorkflow = [...world.events].map(([id, count]) => [id, count / seconds] as const);
    const busiest = Math.max(...perWorkflow.map(([, rate]) => rate));
    const lender = (world.events.get(LENDER) ?? 0) / seconds;
    world.until(60_000, () => demandBooks(world));
    const runs = [...world.runs.values()];
    expect(runs.length).toBeGreaterThan(perSecond * seconds * 0.9);
    expect(runs.every(({ closedAt }) => closedAt !== undefined)).toBe(true);
    const waits = runs.map(({ askedAt, grantedAt }) => grantedAt! - askedAt).sort((a, b) => a - b);
    expect(waits[Math.floor(waits.length * 0.5)]).toBeLessThan(50);
    expect(waits[Math.floor(waits.length * 0.99)]).toBeLessThan(1_500);
    expect(world.mostActive).toBeGreaterThan(perSecond * 0.8);
    // One limiter would have more than a thousand: a take and a release for each run, and the questions.
    expect(busiest).toBeLessThan(130);
    expect(lender).toBeLessThan(90);
  });

  it('lends all of it to one shard, if only that one needs it', () => {
    const world = new World(SHARDED_FROM, quiet);
    // Others have taken their spare slots before.
    for (let index = 0; index < 100; index++) world.start(`first-${index}`, 100);
    world.until(500, () => demandBooks(world));
    const same = Array.from({ length: 20_000 }, (_, index) => `same-${index}`)
      .filter((id) => shardId(LENDER, id) === `${LENDER}.s3`)
      .slice(0, 300);
    for (const id of same) world.start(id, 20_000);
    world.until(10_000, () => demandBooks(world));
    expect(world.active).toBe(SHARDED_FROM);
    world.until(60_000, () => demandBooks(world));
    expect([...world.runs.values()].every(({ closedAt }) => closedAt !== undefined)).toBe(true);
  });

  it('comes down to a limit that has sunk, and goes up to one that has risen', () => {
    const draw = random(3);
    const world = new World(320, quiet);
    for (let at = 0, index = 0; at < 30_000; at += 4, index++) {
      const id = `run-${index}`;
      world.after(at, () => world.start(id, 1_500 + draw() * 500));
    }
    world.until(8_000, () => demandBooks(world));
    expect(world.active).toBeGreaterThan(300);
    // Runs wait everywhere: all shards have the same, and ask for more now and then only.
    expect(Math.max(...world.books().map(({ byLender }) => byLender))).toBeLessThanOrEqual(24);
    world.events.clear();
    world.until(10_000, () => demandBooks(world));
    expect((world.events.get(LENDER) ?? 0) / 2).toBeLessThan(40);
    world.limit = SHARDED_FROM;
    world.until(16_000);
    expect(world.active).toBeLessThanOrEqual(SHARDED_FROM);
    expect(world.active).toBeGreaterThan(SHARDED_FROM * 0.8);
    world.limit = 320;
    world.until(22_000, () => demandBooks(world));
    expect(world.active).toBeGreaterThan(300);
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
          const world = new World(limit, {
            delayMs: () => draw() * 120,
            isLost: () => draw() < 0.15,
            continues: () => draw() < 0.1,
          });
          for (const [index, { at, ms, id }] of arrivals.entries())
            world.after(at, () => world.start(`run-${id}-${index}`, ms));
          world.until(600_000, () => demandBooks(world));
          // Every run had its turn, nobody holds a slot, and all actors have ended.
          expect([...world.runs.values()].filter(({ closedAt }) => closedAt === undefined)).toEqual([]);
          expect([...world.desks.keys()]).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** Events of history that limits cost, for each run and on the busiest workflow; runs come evenly for ten seconds. */
function costOf(perSecond: number, isDivided: boolean): { readonly aRun: number; readonly busiestASecond: number } {
  const seconds = 10;
  const draw = random(11);
  const world = new World(perSecond * 2, { ...quiet, delayMs: () => 5 + draw() * 20 }, isDivided);
  for (let index = 0; index < perSecond * seconds; index++)
    world.after((index * 1_000) / perSecond, () => world.start(`run-${index}`, 500 + draw() * 1_000));
  world.until(seconds * 1_000);
  const counts = [...world.events.values()];
  const all = counts.reduce((sum, count) => sum + count, 0);
  return { aRun: all / world.runs.size, busiestASecond: Math.max(...counts) / seconds };
}

describe('what a limit costs', () => {
  it('grows with the runs of its one limiter, unless it is divided', () => {
    const few = { whole: costOf(20, false), divided: costOf(20, true) };
    const many = { whole: costOf(300, false), divided: costOf(300, true) };
    // A take, a release, and a part of a question for each run; divided, now and then a request to the lender.
    for (const { aRun } of [few.whole, few.divided, many.whole, many.divided]) expect(aRun).toBeLessThan(5);
    expect(many.whole.busiestASecond).toBeGreaterThan(550);
    expect(many.divided.busiestASecond).toBeLessThan(many.whole.busiestASecond / 6);
    expect(many.divided.aRun).toBeLessThan(many.whole.aRun * 1.6);
  });
});

describe('the shards of a limit', () => {
  const wanted: GateWanted = { gate: LENDER, scope: 'global', limit: 500, overflow: 'queue', group: 'o' };

  it('are for large limits with a queue that belong to no definition', () => {
    const divided = shardOf(wanted, 'run.o.a.1');
    expect(divided).toMatchObject({ gate: shardId(LENDER, 'run.o.a.1'), lender: LENDER });
    expect(shardOf(divided, 'run.o.a.1')).toBe(divided);
    for (const other of [{ limit: SHARDED_FROM - 1 }, { overflow: 'reject' }, { scope: 'workflow' }] as const)
      expect(shardOf({ ...wanted, ...other }, 'run.o.a.1')).toEqual({ ...wanted, ...other });
  });

  it('get runs in equal parts', () => {
    const counts = new Map<string, number>();
    for (let index = 0; index < 16_000; index++) {
      const shard = shardId(LENDER, `run.o.a.${index}`);
      counts.set(shard, (counts.get(shard) ?? 0) + 1);
    }
    expect(counts.size).toBe(SHARDS);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(200);
  });
});
