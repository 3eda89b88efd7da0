/**
 * Which steps can have run before which. The graph has the written edges and the implied ones (the end of a body leads
 * back to its container). A container that opens frames is two nodes, its begin and its end, so that no path leads from
 * one branch into a sibling (LANGUAGE.md §3.4, §3.5).
 */
import { CONTAINER_RESERVED } from '../steps/ports.ts';
import { type Analysis, type CheckedStep, opensFrames } from './analysis.ts';

export interface StepOrder {
  /** Whether a visit of `earlier` can have ended when a visit of `later` begins, or, for `end`, when it ends. */
  canPrecede(earlier: string, later: string, moment: 'begin' | 'end'): boolean;
  /** Steps that a walk from the start can reach. */
  readonly reachable: ReadonlySet<string>;
}

/** `tracked`: the steps that can be passed as `earlier`. Fewer steps take less work. */
export function stepOrderOf(analysis: Analysis, tracked: Iterable<string>): StepOrder {
  const graph = graphOf(analysis);
  const columns = new Map<string, number>();
  for (const slug of tracked) if (analysis.steps.has(slug) && !columns.has(slug)) columns.set(slug, columns.size);
  const components = stronglyConnected(graph.edges);
  const ancestors = propagateAncestors(graph, components, columns);
  return {
    reachable: reachableFrom(graph, analysis.start),
    canPrecede(earlier, later, moment) {
      const column = columns.get(earlier);
      const node = moment === 'end' ? graph.exits.get(later) : graph.entries.get(later);
      if (column === undefined || node === undefined) return false;
      const row = ancestors[components.componentOf[node] ?? 0];
      return row !== undefined && ((row[column >>> 5] ?? 0) & (1 << (column & 31))) !== 0;
    },
  };
}

interface Graph {
  readonly entries: ReadonlyMap<string, number>;
  /** Equal to the entry, but for containers that open frames. */
  readonly exits: ReadonlyMap<string, number>;
  readonly slugs: readonly string[];
  readonly edges: readonly (readonly number[])[];
}

function graphOf({ steps, regions, start }: Analysis): Graph {
  const entries = new Map<string, number>();
  const exits = new Map<string, number>();
  const slugs: string[] = [];
  const edges: number[][] = [];
  const node = (slug: string): number => {
    slugs.push(slug);
    return edges.push([]) - 1;
  };
  for (const step of steps.values()) {
    const entry = node(step.slug);
    entries.set(step.slug, entry);
    exits.set(step.slug, opensFrames(step) ? node(step.slug) : entry);
  }
  const connect = (from: number | undefined, to: number | undefined): void => {
    if (from !== undefined && to !== undefined) edges[from]?.push(to);
  };
  for (const step of steps.values()) {
    const [entry, exit] = [entries.get(step.slug), exits.get(step.slug)];
    if (entry !== exit) connect(entry, exit);
    for (const [port, target] of Object.entries(step.next)) {
      const from = isBodyPort(step, port) ? entry : exit;
      const body = regions.regions.get(target)?.body;
      const endsBody = body?.has(step.slug) === true;
      connect(from, endsBody ? exits.get(target) : entries.get(target));
      // A run that starts within the body is in no branch yet: its first way back begins the container.
      if (endsBody && start !== undefined && body?.has(start) === true) connect(from, entries.get(target));
    }
    // A step of a body with a port that is not wired ends the tick, the iteration or the branch.
    const container = regions.containerOf.get(step.slug);
    if (container !== undefined) connect(exit, exits.get(container));
  }
  return { entries, exits, slugs, edges };
}

function isBodyPort(step: CheckedStep, port: string): boolean {
  return opensFrames(step) && !CONTAINER_RESERVED.has(port);
}

interface Components {
  readonly componentOf: readonly number[];
  readonly count: number;
}

/** Tarjan's algorithm without recursion. A component has a higher number than the components it leads to. */
function stronglyConnected(edges: readonly (readonly number[])[]): Components {
  const size = edges.length;
  const order = new Int32Array(size).fill(-1);
  const low = new Int32Array(size);
  const componentOf: number[] = new Array<number>(size).fill(-1);
  const next = new Int32Array(size);
  const stack: number[] = [];
  let counter = 0;
  let count = 0;
  for (let root = 0; root < size; root++) {
    if (order[root] !== -1) continue;
    const path = [root];
    order[root] = low[root] = counter++;
    stack.push(root);
    for (let current = path.at(-1); current !== undefined; current = path.at(-1)) {
      const target = edges[current]?.[next[current] ?? 0];
      if (target !== undefined) {
        next[current] = (next[current] ?? 0) + 1;
        if (order[target] === -1) {
          order[target] = low[target] = counter++;
          stack.push(target);
          path.push(target);
        } else if (componentOf[target] === -1) {
          low[current] = Math.min(low[current] ?? 0, order[target] ?? 0);
        }
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) low[parent] = Math.min(low[parent] ?? 0, low[current] ?? 0);
      if (low[current] !== order[current]) continue;
      for (let member = stack.pop(); member !== undefined; member = stack.pop()) {
        componentOf[member] = count;
        if (member === current) break;
      }
      count += 1;
    }
  }
  return { componentOf, count };
}

/** For each component, as bits: the tracked steps that reach it by at least one edge. */
function propagateAncestors(graph: Graph, components: Components, columns: ReadonlyMap<string, number>): Uint32Array[] {
  const width = Math.ceil(columns.size / 32);
  const rows = Array.from({ length: components.count }, () => new Uint32Array(width));
  if (width === 0) return rows;
  const members: number[][] = Array.from({ length: components.count }, () => []);
  for (const [node, component] of components.componentOf.entries()) members[component]?.push(node);
  // In descending order the predecessors of a component are done before it.
  for (let component = components.count - 1; component >= 0; component--) {
    const row = rows[component];
    const nodes = members[component] ?? [];
    if (row === undefined) continue;
    const cyclic = nodes.length > 1 || nodes.some((node) => graph.edges[node]?.includes(node) === true);
    const reaching = new Uint32Array(row);
    for (const node of nodes) {
      const column =
        graph.exits.get(graph.slugs[node] ?? '') === node ? columns.get(graph.slugs[node] ?? '') : undefined;
      if (column === undefined) continue;
      reaching[column >>> 5] = (reaching[column >>> 5] ?? 0) | (1 << (column & 31));
    }
    if (cyclic) row.set(reaching);
    const reached = new Set(
      nodes.flatMap((node) => (graph.edges[node] ?? []).map((target) => components.componentOf[target] ?? -1)),
    );
    reached.delete(component);
    for (const target of reached) {
      const targetRow = rows[target];
      if (targetRow === undefined) continue;
      for (let word = 0; word < width; word++) targetRow[word] = (targetRow[word] ?? 0) | (reaching[word] ?? 0);
    }
  }
  return rows;
}

function reachableFrom(graph: Graph, start: string | undefined): Set<string> {
  const seen = new Set<number>();
  const open = [graph.entries.get(start ?? '') ?? -1];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node < 0 || seen.has(node)) continue;
    seen.add(node);
    open.push(...(graph.edges[node] ?? []));
  }
  return new Set([...seen].map((node) => graph.slugs[node] ?? ''));
}
