import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draftGraphOf, graphOf } from '../../src/check/graph.ts';
import { HEAD_HEIGHT, type Layout, layoutGraph } from '../../src/console/graph/layout.ts';
import { type Line, linesOf, pathOf } from '../../src/console/graph/lines.ts';
import type { GraphInput } from '../../src/console/graph/step-graph.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import type { JsonObject } from '../../src/json/json.ts';
import { blocks, definitionOf } from '../history/programs.ts';
import { countCalls } from '../support/work-counters.ts';

const measure = (text: string): number => text.length * 6.2;
const drawn = (graph: GraphInput): { layout: Layout; lines: Line[] } => {
  const layout = layoutGraph(graph, measure);
  return { layout, lines: linesOf(layout) };
};
const graph = (steps: Definition['steps'], more: Partial<Definition> = {}): GraphInput => {
  const result = graphOf({ name: 'Graph', slug: 'graph', steps, ...more });
  if ('problems' in result) throw new Error(JSON.stringify(result.problems));
  return result.graph;
};

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}
/** Whether two boxes overlap by more than a seam. */
const overlap = (a: Box, b: Box): boolean =>
  a.x + 0.1 < b.x + b.w && b.x + 0.1 < a.x + a.w && a.y + 0.1 < b.y + b.h && b.y + 0.1 < a.y + a.h;
const holds = (outer: Box, inner: Box): boolean =>
  outer.x <= inner.x + 0.1 &&
  outer.y <= inner.y + 0.1 &&
  outer.x + outer.w >= inner.x + inner.w - 0.1 &&
  outer.y + outer.h >= inner.y + inner.h - 0.1;

/** Points along a line, curves included. */
function samplePoints({ points }: Line): { x: number; y: number }[] {
  return points.slice(1).flatMap((to, n) => {
    const from = points[n]!;
    const isStraight = from.x === to.x || from.y === to.y;
    const bend = (to.y - from.y) * 0.55;
    return Array.from({ length: 13 }, (_, k) => {
      const t = k / 12;
      if (isStraight) return { x: from.x + (to.x - from.x) * t, y: from.y + (to.y - from.y) * t };
      const u = 1 - t;
      const [a, b, c, d] = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
      return {
        x: (a + b) * from.x + (c + d) * to.x,
        y: a * from.y + b * (from.y + bend) + c * (to.y - bend) + d * to.y,
      };
    });
  });
}

/** Checks what holds for every layout. Returns the faults. */
function layoutFaults(input: GraphInput): string[] {
  const { layout, lines } = drawn(input);
  const faults: string[] = [];
  const { stepBoxes, stepGraph } = layout;
  const ids = [...stepGraph.steps.keys()];
  for (const id of ids) {
    const place = stepBoxes.get(id);
    if (
      place === undefined ||
      !Object.values(place).every((value) => typeof value === 'boolean' || Number.isFinite(value))
    )
      faults.push(`${id} has no place`);
  }
  if (faults.length > 0) return faults;
  // No line may pass through these: steps, and the heads of containers.
  const solid = ids.map((id) => {
    const { x, y, w, h, isContainer } = stepBoxes.get(id)!;
    return { id, x, y, w, h: isContainer ? HEAD_HEIGHT - 2 : h };
  });
  const around = (id: string): Set<string> => {
    const all = new Set<string>();
    for (let at = stepGraph.containerOf(id); at !== ''; at = stepGraph.containerOf(at)) all.add(at);
    return all;
  };
  const outer = new Map(ids.map((id) => [id, around(id)]));
  for (const [n, a] of ids.entries())
    for (const b of ids.slice(n + 1)) {
      const [inner, box] = outer.get(a)!.has(b) ? [a, b] : [b, a];
      if (outer.get(inner)!.has(box)) {
        const { y, h, ...rest } = stepBoxes.get(box)!;
        if (!holds({ ...rest, y: y + HEAD_HEIGHT, h: h - HEAD_HEIGHT }, stepBoxes.get(inner)!))
          faults.push(`${inner} is not in ${box}`);
      } else if (overlap(stepBoxes.get(a)!, stepBoxes.get(b)!)) faults.push(`${a} overlaps ${b}`);
    }
  const labels = lines.flatMap(({ id, label }) => (label === undefined ? [] : [{ id, ...label }]));
  for (const [n, a] of labels.entries()) {
    for (const b of labels.slice(n + 1)) if (overlap(a, b)) faults.push(`label ${a.id} overlaps ${b.id}`);
    for (const b of solid) if (overlap(a, b)) faults.push(`label ${a.id} overlaps step ${b.id}`);
  }
  for (const line of lines) {
    const { left, right, top, bottom } = line.box;
    const near = solid.filter(({ x, y, w, h }) => x < right && x + w > left && y < bottom && y + h > top);
    if (near.length === 0) continue;
    for (const { x, y } of samplePoints(line)) {
      const through = near.find(
        (box) => x > box.x + 0.2 && x < box.x + box.w - 0.2 && y > box.y + 0.2 && y < box.y + box.h - 0.2,
      );
      if (through !== undefined) {
        faults.push(`line ${line.id} passes through ${through.id}`);
        break;
      }
    }
  }
  return faults;
}

const step = (stepType: string, nextSteps: { [port: string]: string } = {}, config?: JsonObject) => ({
  stepType,
  config: config ?? (stepType === 'set' ? { values: { a: 1 } } : {}),
  nextSteps,
});

/** Arbitrary edges: back edges, branches that share steps, edges out of loops, named ports. */
const arbitraryGraph = fc.integer({ min: 2, max: 14 }).chain((count) =>
  fc
    .array(
      fc.record({
        stepType: fc.constantFrom('set', 'set', 'condition', 'http', 'approval', 'loop', 'forEach', 'parallel', 'race'),
        to: fc.array(
          fc.tuple(
            fc.constantFrom(
              'success',
              'true',
              'false',
              'loop',
              'item',
              'done',
              'error',
              'a branch with a long name',
              'b',
            ),
            fc.integer({ min: -1, max: count - 1 }),
          ),
          { maxLength: 4 },
        ),
      }),
      { minLength: count, maxLength: count },
    )
    .map((list) => ({
      start: 's0',
      steps: Object.fromEntries(
        list.map(({ stepType, to }, n) => [
          `s${n}`,
          step(stepType, Object.fromEntries(to.map(([port, at]) => [port, at < 0 ? '$end' : `s${at}`]))),
        ]),
      ),
    })),
);

describe('the layout of a graph', () => {
  it('keeps steps, lines and labels apart in definitions of blocks', () => {
    fc.assert(
      fc.property(blocks, (list) => {
        const result = graphOf(definitionOf(list));
        if ('graph' in result) expect(layoutFaults(result.graph)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it('keeps them apart in any draft', () => {
    fc.assert(
      fc.property(arbitraryGraph, (document) => {
        expect(layoutFaults(draftGraphOf(document as unknown as JsonObject))).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  it('puts a body into its container, branches side by side, and ends a tick at the foot of the box', () => {
    const { layout, lines } = drawn(
      graph({
        each: step('loop', { loop: 'both', done: 'end' }, { items: [1] }),
        both: step('parallel', { left: 'one', right: 'two', done: 'each' }),
        one: step('checkpoint'),
        two: step('checkpoint'),
        end: step('finish'),
      }),
    );
    const place = (id: string) => layout.stepBoxes.get(id)!;
    expect(layout.bodies.map(({ container, branch }) => [container, branch])).toEqual([
      ['each', undefined],
      ['both', 'left'],
      ['both', 'right'],
    ]);
    expect(place('one').y).toBe(place('two').y);
    expect(place('one').x).toBeLessThan(place('two').x);
    const tick = lines.find(({ edge }) => edge.from === 'both' && edge.to === 'each')!;
    const box = place('each');
    expect(tick.isBackEdge).toBe(false);
    expect(tick.points.at(-1)!.y).toBeGreaterThan(place('both').y + place('both').h);
    expect(tick.points.at(-1)!.y).toBeLessThan(box.y + box.h);
    expect(lines.every(({ points }) => points.every(({ y }, n) => n === 0 || y >= points[n - 1]!.y))).toBe(true);
  });

  it('draws paging outside at the right of every box that it passes', () => {
    const { layout, lines } = drawn(
      graph({
        fetch: step('set', { success: 'each' }),
        each: step('loop', { loop: 'one', done: 'more' }, { items: [1] }),
        one: step('checkpoint', { success: 'each' }),
        more: step('condition', { true: 'fetch', false: '$end' }, { expression: 'true' }),
      }),
    );
    const back = lines.find(({ edge }) => edge.from === 'more' && edge.to === 'fetch')!;
    expect(back.isBackEdge).toBe(true);
    const right = Math.max(...[...layout.stepBoxes.values()].map(({ x, w }) => x + w));
    expect(Math.max(...back.points.map(({ x }) => x))).toBeGreaterThan(right);
    expect(back.label?.text).toBe('true');
    expect(lines.find(({ edge }) => edge.to === '$end')?.label?.text).toBe('false ■ end');
    expect(pathOf(back)).toMatch(/^M[\d. ]+L[\d. ]+Q/);
  });

  it('makes one line of all ports to one step, says no success, and shows ports that nobody wired as stubs', () => {
    const { lines } = drawn(
      graph({
        first: step('set', { success: 'ask' }),
        ask: step('approval', { rejected: 'tell', error: 'tell' }, { message: '?' }),
        tell: step('finish'),
      }),
    );
    const shown = lines.map(({ edge }) => [edge.kind, edge.from, edge.ports.join(), edge.label]);
    expect(shown).toEqual([
      ['line', 'first', 'success', ''],
      ['stub', 'first', 'error', ''],
      ['line', 'ask', 'rejected,error', 'rejected, error'],
      ['stub', 'ask', 'approved', 'approved'],
      ['stub', 'ask', 'timeout', 'timeout'],
    ]);
  });

  it('leads out of a loop through its foot', () => {
    const input = graph({
      each: step('loop', { loop: 'look', done: 'end' }, { items: [1] }),
      look: step('condition', { true: 'found', false: 'each' }, { expression: 'true' }),
      found: step('set', { success: 'end' }),
      end: step('finish'),
    });
    const { layout, lines } = drawn(input);
    expect([layout.stepGraph.containerOf('found'), layout.stepGraph.containerOf('end')]).toEqual(['each', '']);
    const out = lines.find(({ edge }) => edge.from === 'found' && edge.to === 'end')!;
    const box = layout.stepBoxes.get('each')!;
    expect(out.points.some(({ y }) => y === box.y + box.h)).toBe(true);
    expect(layoutFaults(input)).toEqual([]);
  });

  it('draws dependencies where there are no ports', () => {
    const set = (value: string) => ({ stepType: 'set', config: { values: { a: value } } });
    const input = graph(
      { one: set('1'), two: set('{{ steps.one.output.data }}'), three: set('{{ steps.two.output.data }}') },
      { flow: 'dag' },
    );
    const { lines } = drawn(input);
    expect(lines.map(({ edge, label }) => [edge.from, edge.to, label])).toEqual([
      ['one', 'two', undefined],
      ['two', 'three', undefined],
    ]);
    expect(layoutFaults(input)).toEqual([]);
  });

  it('keeps a long path straight, whatever leaves it at its side', () => {
    const steps: { [slug: string]: ReturnType<typeof step> } = {};
    for (let n = 0; n < 200; n++) {
      steps[`c${n}`] = step('condition', { true: `c${n + 1}`, false: `x${n}` }, { expression: 'true' });
      steps[`x${n}`] = step('finish');
    }
    steps['c200'] = step('finish');
    const { layout } = drawn(graph({ ...steps }, { start: 'c0' }));
    expect(layout.width).toBeLessThan(1_000);
  });

  it('lays out a thousand steps, all of which lead to one, and keeps it narrow', async () => {
    const chained = (count: number): GraphInput => {
      const steps: { [slug: string]: ReturnType<typeof step> } = {};
      for (let n = 0; n < count; n++) {
        const next = n === count - 1 ? {} : { success: `s${n + 1}` };
        steps[`s${n}`] = step('http', { ...next, error: 'failed' }, { url: 'https://example.com' });
      }
      steps['failed'] = step('finish');
      return draftGraphOf({ start: 's0', steps } as unknown as JsonObject);
    };
    const [few, many] = [chained(99), chained(999)];
    const { layout, lines } = drawn(many);
    expect(layout.width).toBeLessThan(600);
    expect(lines.length).toBe(1_997);
    // Its square would be a hundred times as many.
    const ratio = (await countCalls(() => drawn(many))) / (await countCalls(() => drawn(few)));
    expect(ratio).toBeLessThan(30);
  });
});
