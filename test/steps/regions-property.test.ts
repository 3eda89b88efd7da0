/** Regions by their definition (LANGUAGE.md §3.2), computed the long way, against those that the compiler finds. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CONTAINER_RESERVED } from '../../src/steps/ports.ts';
import { findRegions, type Node } from '../../src/steps/regions.ts';

const PORTS = ['loop', 'done', 'error', 'success'];
const graphs = fc.integer({ min: 2, max: 9 }).chain((size) =>
  fc.array(
    fc.record({
      role: fc.constantFrom<Node['role']>('plain', 'plain', 'loop', 'loop', 'end'),
      next: fc.dictionary(fc.constantFrom(...PORTS), fc.integer({ min: 0, max: size - 1 }), { maxKeys: 3 }),
    }),
    { minLength: size, maxLength: size },
  ),
);

function nodesOf(drawn: readonly { role: Node['role']; next: Record<string, number> }[]): Map<string, Node> {
  return new Map(
    drawn.map(({ role, next }, i) => [
      `s${i}`,
      {
        slug: `s${i}`,
        role,
        next: role === 'end' ? {} : Object.fromEntries(Object.entries(next).map(([port, to]) => [port, `s${to}`])),
      },
    ]),
  );
}

/** What these reach within a region, without passing the container. */
function reach(
  nodes: ReadonlyMap<string, Node>,
  entries: string[],
  inside: Set<string>,
  container: string,
): Set<string> {
  const seen = new Set<string>();
  for (let queue = entries; queue.length > 0; ) {
    const at = queue.pop()!;
    if (at === container || !inside.has(at) || seen.has(at)) continue;
    seen.add(at);
    queue = [...queue, ...Object.values(nodes.get(at)!.next)];
  }
  return seen;
}

it('are what the body ports reach and the reserved ports do not', () => {
  fc.assert(
    fc.property(graphs, (drawn) => {
      const nodes = nodesOf(drawn);
      const { regions } = findRegions(nodes, 's0');
      for (const { container, body, outer } of regions.values()) {
        const holder = outer === undefined ? undefined : regions.get(outer)!;
        const all = holder === undefined ? [...nodes.keys()] : [...holder.body];
        const inside = new Set(all.filter((slug) => nodes.get(slug)!.role !== 'end'));
        const edges = Object.entries(nodes.get(container)!.next);
        const from = (reserved: boolean): string[] =>
          edges.filter(([port]) => CONTAINER_RESERVED.has(port) === reserved).map(([, to]) => to);
        const after = reach(nodes, from(true), inside, container);
        const expected = [...reach(nodes, from(false), inside, container)].filter((slug) => !after.has(slug));
        expect([...body].sort()).toEqual(expected.sort());
      }
    }),
    { numRuns: 2_000 },
  );
});
