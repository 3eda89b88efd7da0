/**
 * Finds regions (LANGUAGE.md §3.2, §3.3, §3.13): which steps form the body of which container, from the outside in, by
 * the edges alone. The core uses them to follow edges; the checker reports their problems.
 *
 * A definition has up to 10,000 steps, thousands of which may be containers that each need a reachability search. So
 * steps are numbers here, and sets of steps are marks in arrays.
 */
import type { Problem } from '../definition/document/types.ts';
import { childPointer } from '../json/pointer.ts';
import type { StepKind } from './kind.ts';
import { CONTAINER_RESERVED } from './ports.ts';

/** A step as the search for regions sees it. */
export interface Node {
  readonly slug: string;
  /** loop: pushes a record; frames: parallel, race, forEach; end: finish, return, fail, which belong to no region. */
  readonly role: 'loop' | 'frames' | 'end' | 'break' | 'plain';
  readonly next: { readonly [port: string]: string };
}

interface RegionStep {
  readonly slug: string;
  readonly kind: StepKind | undefined;
  readonly next: Node['next'];
}

export function nodesOf(steps: ReadonlyMap<string, RegionStep>): Map<string, Node> {
  const nodes = new Map<string, Node>();
  for (const { slug, kind, next } of steps.values()) nodes.set(slug, { slug, role: roleOf(kind, next), next });
  return nodes;
}

/** The role of a step. A step of an unknown kind may leave by any port. */
function roleOf(kind: StepKind | undefined, next: Node['next']): Node['role'] {
  if (kind === undefined) return 'plain';
  if (kind.class === 'container') return kind.scope === 'loop' ? 'loop' : 'frames';
  if (kind.ends === 'loop') return 'break';
  return kind.class === 'end' && Object.keys(next).length === 0 ? 'end' : 'plain';
}

export interface Region {
  readonly container: string;
  readonly body: ReadonlySet<string>;
  /** Per body port; a loop has one. */
  readonly branches: ReadonlyMap<string, ReadonlySet<string>>;
  /** Steps of the body that several branches reach. */
  readonly shared: ReadonlySet<string>;
  /** The enclosing container. */
  readonly outer: string | undefined;
}

export interface Regions {
  readonly regions: ReadonlyMap<string, Region>;
  /** Step → the innermost container whose body it is in. */
  readonly containerOf: ReadonlyMap<string, string>;
  readonly problems: readonly Problem[];
}

/** The limit of nested containers. */
const MAX_CONTAINER_DEPTH = 100;

interface Edge {
  readonly port: string;
  readonly to: number;
}

interface Graph {
  readonly nodes: readonly Node[];
  /** Edges to steps that exist. */
  readonly edges: readonly (readonly Edge[])[];
  readonly predecessors: readonly (readonly number[])[];
  /** The targets of all edges, step after step; those of step i begin at `from[i]`. */
  readonly targets: Int32Array;
  readonly from: Int32Array;
}

/**
 * Finds all regions. `nodes` has every step; targets that do not exist are ignored, since they are reported
 * elsewhere.
 */
export function findRegions(nodes: ReadonlyMap<string, Node>, start: string): Regions {
  const graph = graphOf(nodes);
  const search = new Search(graph);
  const regions = new Map<string, Region>();
  const containerOf = new Map<string, string>();
  const problems: Problem[] = [];
  const all = graph.nodes.flatMap((node, i) => (node.role === 'end' ? [] : [i]));
  const first = graph.nodes.findIndex((node) => node.slug === start);

  const work: { entries: number[]; inside: readonly number[]; outer: string | undefined; depth: number }[] = [];
  // Steps that the start does not reach come last, since their containers have bodies too.
  work.push({ entries: first < 0 ? all : [first, ...all], inside: all, outer: undefined, depth: 0 });
  for (let region = work.pop(); region !== undefined; region = work.pop()) {
    const { inside, outer, depth } = region;
    search.within(inside);
    const claimed = new Set<number>();
    for (const at of search.containers(region.entries)) {
      const { slug: container } = graph.nodes[at]!;
      if (claimed.has(at) || regions.has(container)) continue;
      if (depth >= MAX_CONTAINER_DEPTH) {
        problems.push(tooDeep(container));
        continue;
      }
      search.markReservedPorts(at);
      const branches = new Map<string, ReadonlySet<string>>();
      const body = new Set<string>();
      const shared = new Set<string>();
      for (const { port, to } of graph.edges[at]!) {
        if (CONTAINER_RESERVED.has(port)) continue;
        const branch = search.bodyStepsFrom(to, at);
        for (const from of graph.predecessors[at]!)
          if (search.isReached(from) && search.isReachedByReserved(from))
            problems.push(ambiguous(graph.nodes[from]!.slug, container));
        branches.set(port, new Set(branch.map((i) => graph.nodes[i]!.slug)));
        for (const i of branch) {
          const { slug } = graph.nodes[i]!;
          if (body.has(slug)) shared.add(slug);
          body.add(slug);
          claimed.add(i);
          containerOf.set(slug, container);
        }
        work.push({ entries: [to], inside: branch, outer: container, depth: depth + 1 });
      }
      regions.set(container, { container, body, branches, shared, outer });
    }
  }
  const places = new Map(graph.nodes.map((node, i) => [node.slug, i]));
  for (const region of regions.values())
    if (nodes.get(region.container)!.role === 'frames') problems.push(...crossings(graph, region, places));
  problems.push(...strayBreaks(graph, places, regions, containerOf));
  return { regions, containerOf, problems: unique(problems) };
}

function graphOf(nodes: ReadonlyMap<string, Node>): Graph {
  const list = [...nodes.values()];
  const places = new Map(list.map((node, i) => [node.slug, i]));
  const predecessors: number[][] = list.map(() => []);
  const edges = list.map((node, i) =>
    Object.entries(node.next).flatMap(([port, target]) => {
      const to = places.get(target);
      if (to === undefined) return [];
      predecessors[to]!.push(i);
      return [{ port, to }];
    }),
  );
  const from = new Int32Array(list.length + 1);
  for (let i = 0; i < list.length; i++) from[i + 1] = from[i]! + edges[i]!.length;
  const targets = Int32Array.from(edges.flatMap((out) => out.map(({ to }) => to)));
  return { nodes: list, edges, predecessors, targets, from };
}

/**
 * Breadth-first searches within a region. Seen steps are marked with the number of the search, so no array is cleared.
 */
class Search {
  readonly #graph: Graph;
  readonly #inside: Int32Array;
  readonly #seen: Int32Array;
  readonly #reachedByReserved: Int32Array;
  /** The steps that the last search reached, in order of distance. */
  readonly #queue: Int32Array;
  #reached = 0;
  #region = 0;
  #walk = 0;
  #marked = 0;

  constructor(graph: Graph) {
    const size = graph.nodes.length;
    this.#graph = graph;
    this.#inside = new Int32Array(size);
    this.#seen = new Int32Array(size);
    this.#reachedByReserved = new Int32Array(size);
    this.#queue = new Int32Array(size);
  }

  /** Limits all following searches to these steps. */
  within(inside: readonly number[]): void {
    this.#region++;
    for (const at of inside) this.#inside[at] = this.#region;
  }

  /** The containers that are reached, outer before inner. */
  containers(entries: readonly number[]): number[] {
    this.#reach(entries, -1);
    const found: number[] = [];
    for (let i = 0; i < this.#reached; i++) {
      const { role } = this.#graph.nodes[this.#queue[i]!]!;
      if (role === 'loop' || role === 'frames') found.push(this.#queue[i]!);
    }
    return found;
  }

  /**
   * Marks the steps of the body that the container's reserved ports reach too. The steps after the container, possibly
   * the rest of the definition, are searched only if they lead into the body.
   */
  markReservedPorts(container: number): void {
    const reserved: number[] = [];
    const body: number[] = [];
    for (const { port, to } of this.#graph.edges[container]!) (CONTAINER_RESERVED.has(port) ? reserved : body).push(to);
    if (!this.#leadTo(reserved, body, container)) {
      this.#marked = ++this.#walk;
      return;
    }
    this.#reach(reserved, container);
    for (let i = 0; i < this.#reached; i++) this.#reachedByReserved[this.#queue[i]!] = this.#walk;
    this.#marked = this.#walk;
  }

  /**
   * Whether a start leads to a step that the entries reach, without passing `without`. Searches backwards from there.
   */
  #leadTo(starts: readonly number[], entries: readonly number[], without: number): boolean {
    const { predecessors } = this.#graph;
    const queue = this.#queue;
    this.#reach(entries, without);
    let end = this.#reached;
    for (let i = 0; i < end; i++) {
      for (const from of predecessors[queue[i]!]!) {
        if (from === without || this.#inside[from] !== this.#region || this.#seen[from] === this.#walk) continue;
        this.#seen[from] = this.#walk;
        queue[end++] = from;
      }
    }
    return starts.some((at) => this.#seen[at] === this.#walk);
  }

  isReachedByReserved(at: number): boolean {
    return this.#reachedByReserved[at] === this.#marked;
  }

  /** The steps that a body port reaches and the reserved ports do not. */
  bodyStepsFrom(entry: number, container: number): number[] {
    this.#reach([entry], container);
    const found: number[] = [];
    for (let i = 0; i < this.#reached; i++) {
      const at = this.#queue[i]!;
      if (this.#reachedByReserved[at] !== this.#marked) found.push(at);
    }
    return found;
  }

  /** Whether the last search reached the step. */
  isReached(at: number): boolean {
    return this.#seen[at] === this.#walk;
  }

  /** Searches from the entries without passing `without`. */
  #reach(entries: readonly number[], without: number): void {
    const { targets, from } = this.#graph;
    const queue = this.#queue;
    const seen = this.#seen;
    const inside = this.#inside;
    const region = this.#region;
    const walk = ++this.#walk;
    let end = 0;
    for (const at of entries) {
      if (at === without || inside[at] !== region || seen[at] === walk) continue;
      seen[at] = walk;
      queue[end++] = at;
    }
    for (let i = 0; i < end; i++) {
      const at = queue[i]!;
      for (let edge = from[at]!; edge < from[at + 1]!; edge++) {
        const to = targets[edge]!;
        if (to === without || inside[to] !== region || seen[to] === walk) continue;
        seen[to] = walk;
        queue[end++] = to;
      }
    }
    this.#reached = end;
  }
}

/** §3.3: an edge leaves a branch or iteration only to its container, and none enters it from outside. */
function crossings(graph: Graph, region: Region, places: ReadonlyMap<string, number>): Problem[] {
  const { container, body } = region;
  const at = places.get(container)!;
  const entering = new Set<number>();
  for (const slug of body)
    for (const from of graph.predecessors[places.get(slug)!]!)
      if (from !== at && !body.has(graph.nodes[from]!.slug)) entering.add(from);
  const problems: Problem[] = [];
  for (const from of [...entering].sort((a, b) => a - b))
    for (const { port, to } of graph.edges[from]!)
      if (body.has(graph.nodes[to]!.slug)) problems.push(entersBranch(graph.nodes[from]!.slug, port, container));
  for (const slug of body)
    for (const { port, to } of graph.edges[places.get(slug)!]!) {
      const { slug: target, role } = graph.nodes[to]!;
      if (to === at || role === 'end') continue;
      const leaves = [...region.branches.values()].some((branch) => branch.has(slug) && !branch.has(target));
      if (leaves) problems.push(leavesBranch(slug, port, target, container));
    }
  return problems;
}

function strayBreaks(
  graph: Graph,
  places: ReadonlyMap<string, number>,
  regions: ReadonlyMap<string, Region>,
  home: ReadonlyMap<string, string>,
): Problem[] {
  const isLoop = (slug: string): boolean => graph.nodes[places.get(slug)!]!.role === 'loop';
  const problems: Problem[] = [];
  for (const { slug, role } of graph.nodes) {
    const container = role === 'break' ? home.get(slug) : undefined;
    if (role !== 'break' || (container !== undefined && isLoop(container))) continue;
    let outer = container;
    while (outer !== undefined && !isLoop(outer)) outer = regions.get(outer)?.outer;
    problems.push({
      pointer: `${childPointer('/steps', slug)}/stepType`,
      code: 'break_outside_loop',
      message:
        outer === undefined
          ? 'A break must be in the body of a loop; this one is in none.'
          : 'A break leaves a loop of its own branch or iteration; ' +
            `the loop around '${container}' is beyond that boundary.`,
    });
  }
  return problems;
}

function edgePointer(slug: string, port: string): string {
  return childPointer(`${childPointer('/steps', slug)}/nextSteps`, port);
}

function entersBranch(slug: string, port: string, container: string): Problem {
  return {
    pointer: edgePointer(slug, port),
    code: 'edge_enters_branch',
    message: `This edge leads into a branch of '${container}' from outside; only the container begins its branches.`,
    hint: `Lead it to '${container}' instead.`,
  };
}

function leavesBranch(slug: string, port: string, target: string, container: string): Problem {
  return {
    pointer: edgePointer(slug, port),
    code: 'edge_leaves_branch',
    message:
      `This edge leads out of a branch of '${container}' to '${target}'; ` +
      "a branch ends at its container, at finish or fail, or at '$end'.",
    hint: `Lead it to '${container}', and go on from its port done.`,
  };
}

function ambiguous(slug: string, container: string): Problem {
  return {
    pointer: childPointer('/steps', slug),
    code: 'ambiguous_region',
    message:
      `'${slug}' is reached from the body of '${container}' and from its other ports, and leads back to it: ` +
      `it would silently begin '${container}' again.`,
    hint: 'Use two steps: one in the body that ends the tick, one after done that enters anew.',
  };
}

function tooDeep(container: string): Problem {
  return {
    pointer: childPointer('/steps', container),
    code: 'containers_too_deep',
    message: `More than ${MAX_CONTAINER_DEPTH} containers stand within one another here.`,
    hint: 'Split the definition into workflows that call one another (run_workflow).',
  };
}

function unique(problems: Problem[]): Problem[] {
  const seen = new Set<string>();
  return problems.filter((problem) => {
    const key = `${problem.pointer} ${problem.code} ${problem.message}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
