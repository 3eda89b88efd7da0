import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cellsOf,
  Frames,
  formatScope,
  frameText,
  MAX_CELLS,
  nearestRepeatingContainer,
  parseScope,
  scopeOfFrame,
  sumUp,
  type Visit,
  withoutContainer,
} from '../../src/console/graph/scope.ts';

let count = 0;
const visit = (path: string, more: Partial<Visit> = {}): Visit => ({
  number: count++,
  path,
  stepSlug: /([\w-]+)(?:#\d+)?$/.exec(path)?.[1] ?? path,
  stepType: 'set',
  status: 'completed',
  attempts: 1,
  startedAt: count,
  completedAt: count + 1,
  ...more,
});

/** `shops` with two items, in each a loop `pages` of three ticks, in each `look`; `fails` are shop and page. */
function shops(fails: (shop: number, page: number) => boolean): Visit[] {
  count = 0;
  const visits = [visit('shops', { stepType: 'forEach', port: 'done' })];
  for (const shop of [0, 1]) {
    const item = { frame: `shops[${shop}]`, container: 'shops', index: shop };
    const loop = `shops[${shop}]/pages`;
    visits.push(visit(loop, { ...item, stepSlug: 'pages', stepType: 'loop' }));
    for (const page of [0, 1, 2]) {
      const tick = { frame: `${loop}~${page}`, container: loop, tick: page };
      const failed = fails(shop, page) ? ({ status: 'failed', port: 'error' } as const) : { port: 'success' };
      visits.push(visit(`${loop}~${page}/look`, { ...tick, ...failed }));
    }
  }
  return [...visits, visit('end')];
}

describe('what a run did in a scope', () => {
  const visits = shops((shop, page) => shop === 1 && page === 2);

  it('is what the last visit of a frame did, where a step was retried', () => {
    count = 0;
    const failed = { status: 'failed', frame: 'shops[0]', container: 'shops', index: 0 } as const;
    const tries = [
      visit('shops', { stepType: 'forEach' }),
      visit('shops[0]/look', failed),
      visit('shops[0]/look#2', failed),
      visit('shops[0]/look#3', { ...failed, status: 'completed' }),
    ];
    const retried = sumUp(tries, []);
    expect(retried.steps.get('look')).toMatchObject({ visits: 3, failed: 0, status: 'completed' });
    expect(retried.strips.get('shops')?.map(({ worstStatus }) => worstStatus)).toEqual(['completed']);
    const failing = sumUp(tries.slice(0, 3), []);
    expect(failing.steps.get('look')).toMatchObject({ visits: 2, failed: 1, status: 'failed' });
    expect(failing.strips.get('shops')?.map(({ worstStatus }) => worstStatus)).toEqual(['failed']);
  });

  it('is counted by step, by port, and by iteration', () => {
    const { steps, strips, counts } = sumUp(visits, []);
    expect(steps.get('look')).toMatchObject({ visits: 6, failed: 1, status: 'failed' });
    expect([...steps.get('look')!.ports]).toEqual([
      ['success', 5],
      ['error', 1],
    ]);
    expect(strips.get('shops')?.map(({ worstStatus }) => worstStatus)).toEqual(['completed', 'failed']);
    expect(strips.get('pages')?.length).toBe(6);
    expect([...counts]).toEqual([
      ['completed', 9],
      ['failed', 1],
    ]);
  });

  it('leaves nothing of another iteration, and all that is around', () => {
    const narrowed = sumUp(visits, parseScope('shops:0'));
    expect(narrowed.visits.filter(({ path }) => path.startsWith('shops[1]'))).toEqual([]);
    expect(narrowed.steps.get('look')).toMatchObject({ visits: 3, failed: 0, status: 'completed' });
    expect(narrowed.steps.get('end')?.visits).toBe(1);
    expect(narrowed.strips.get('shops')?.length).toBe(2);
    expect(narrowed.strips.get('pages')?.length).toBe(3);
    const inner = sumUp(visits, parseScope('shops:1,pages:2'));
    expect(inner.visits.map(({ path }) => path)).toEqual(['shops', 'shops[1]/pages', 'shops[1]/pages~2/look', 'end']);
    expect(inner.strips.get('pages')?.map(({ frame }) => frame.id)).toEqual(
      [0, 1, 2].map((n) => `shops[1]/pages~${n}`),
    );
    expect(sumUp(visits, parseScope('shops:7')).visits.map(({ path }) => path)).toEqual(['shops', 'end']);
  });

  it('is in the address, with the iterations around the chosen one', () => {
    const { frames } = sumUp(visits, []);
    const look = visits.find(({ path }) => path === 'shops[1]/pages~2/look')!;
    const scope = scopeOfFrame(frames.frameOf(look));
    expect(formatScope(scope)).toBe('shops:1,pages:2');
    expect(parseScope(formatScope(scope))).toEqual(scope);
    expect(frameText(frames.frameOf(look))).toBe('shops 1 · pages 2');
    expect(formatScope(withoutContainer(scope, 'pages'))).toBe('shops:1');
    expect(withoutContainer(scope, 'shops')).toEqual([]);
    expect(parseScope('nonsense,each:x,:3,each@2:4,')).toEqual([{ slug: 'each', visit: 2, n: 4 }]);
  });

  it('tells the visits of one container apart', () => {
    count = 0;
    const twice = [1, 2].flatMap((n) => {
      const path = n === 1 ? 'each' : 'each#2';
      const tick = { frame: `${path}~0`, container: path, tick: 0 };
      return [visit(path, { stepSlug: 'each', visit: n }), visit(`${path}~0/look`, tick)];
    });
    const { strips, frames } = sumUp(twice, []);
    expect(strips.get('each')?.map(({ frame }) => formatScope(scopeOfFrame(frame)))).toEqual(['each:0', 'each@2:0']);
    const second = sumUp(twice, parseScope('each@2:0'));
    expect(second.steps.get('look')).toMatchObject({ visits: 1 });
    expect(second.visits.map(({ path }) => path)).toEqual(['each', 'each#2', 'each#2~0/look']);
    expect(frames.chosen(parseScope('each@3:0')).get('each')).toBe(null);
  });

  it('never has a visit of a container in two of its iterations, and each in one', () => {
    fc.assert(
      fc.property(fc.func(fc.boolean()), fc.nat(1), fc.nat(2), (fails, shop, page) => {
        const all = shops(fails);
        const one = sumUp(all, parseScope(`shops:${shop},pages:${page}`));
        expect(one.steps.get('look')?.visits).toBe(1);
        const parts = [0, 1].map((n) => sumUp(all, parseScope(`shops:${n}`)));
        const sum = parts.reduce((failed, { steps }) => failed + steps.get('look')!.failed, 0);
        expect(sum).toBe(sumUp(all, []).steps.get('look')!.failed);
      }),
    );
  });
});

describe('a strip of iterations', () => {
  it('has at most 24 cells, which are all iterations in their order, with the share that failed', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 400 }), (outcomes) => {
        const strip = outcomes.map((isBad, n) => ({
          frame: { id: `${n}`, slug: 'each', visit: 1, n, parent: undefined },
          worstStatus: isBad ? ('failed' as const) : ('completed' as const),
        }));
        const cells = cellsOf(strip);
        expect(cells.length).toBeLessThanOrEqual(MAX_CELLS);
        expect(cells.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, n) => from + n))).toEqual(
          strip.map((_, n) => n),
        );
        expect(cells.reduce((sum, { failed }) => sum + failed, 0)).toBe(outcomes.filter(Boolean).length);
        for (const { from, to, failed, status } of cells) expect(status === 'failed').toBe(failed === to - from + 1);
      }),
    );
  });

  it('is that of the nearest container around a step', () => {
    const steps = new Map([
      ['each', { kind: 'loop' }],
      ['both', { kind: 'parallel', container: 'each' }],
      ['one', { kind: 'set', container: 'both' }],
      ['end', { kind: 'finish' }],
    ]);
    expect(['one', 'both', 'each', 'end', 'none'].map((slug) => nearestRepeatingContainer(steps, slug))).toEqual([
      'each',
      'each',
      'each',
      undefined,
      undefined,
    ]);
  });
});

it('knows the frame of a visit whose container is not loaded', () => {
  count = 0;
  const frames = new Frames([visit('a/each~4/look', { frame: 'a/each~4', container: 'a/each', tick: 4 })]);
  expect([...frames.iterations()].map(({ slug, n }) => [slug, n])).toEqual([['each', 4]]);
});
