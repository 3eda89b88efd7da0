/**
 * Regions (language.md §3.2, §3.3, §3.13): which steps are the body of which container, found outside in from the edges
 * alone. The core asks it where an edge leads; the checker reports what it finds wrong.
 */
import type { Problem } from '../definition/types.ts';
import { CONTAINER_RESERVED } from './ports.ts';

/** What regions need to know of a step. */
export interface Node {
  readonly slug: string;
  /** loop: pushes a record; frames: parallel, race, forEach; end: finish, return, fail, which belong to no region. */
  readonly role: 'loop' | 'frames' | 'end' | 'break' | 'plain';
  readonly next: { readonly [port: string]: string };
}

export interface Region {
  readonly container: string;
  readonly body: ReadonlySet<string>;
  /** Per body port; a loop has one. */
  readonly branches: ReadonlyMap<string, ReadonlySet<string>>;
  /** The container that this one stands in. */
  readonly outer: string | undefined;
}

export interface Regions {
  readonly regions: ReadonlyMap<string, Region>;
  /** Step → the innermost container whose body it is in. */
  readonly home: ReadonlyMap<string, string>;
  readonly problems: readonly Problem[];
}

type Nodes = ReadonlyMap<string, Node>;

/** Steps reached from `from` within `inside`, ends left out. */
function reach(nodes: Nodes, from: readonly string[], inside: ReadonlySet<string>): Set<string> {
  const seen = new Set<string>();
  const queue = [...from];
  for (let slug = queue.pop(); slug !== undefined; slug = queue.pop()) {
    if (seen.has(slug) || !inside.has(slug)) continue;
    seen.add(slug);
    for (const target of Object.values(nodes.get(slug)!.next)) queue.push(target);
  }
  return seen;
}

/** The containers of a region, in the order a breadth-first walk from its entries meets them: outer before inner. */
function containersIn(nodes: Nodes, entries: readonly string[], inside: ReadonlySet<string>): string[] {
  const seen = new Set<string>();
  const found: string[] = [];
  const queue = [...entries];
  for (let i = 0; i < queue.length; i++) {
    const slug = queue[i]!;
    if (seen.has(slug) || !inside.has(slug)) continue;
    seen.add(slug);
    const node = nodes.get(slug)!;
    if (node.role === 'loop' || node.role === 'frames') found.push(slug);
    queue.push(...Object.values(node.next));
  }
  return found;
}

/** Finds all regions. `nodes` holds every step; targets that do not exist are passed over (they are other problems). */
export function findRegions(nodes: Nodes, start: string): Regions {
  const regions = new Map<string, Region>();
  const home = new Map<string, string>();
  const problems: Problem[] = [];
  const all = new Set([...nodes.values()].filter((node) => node.role !== 'end').map((node) => node.slug));

  const work: { entries: string[]; inside: ReadonlySet<string>; outer: string | undefined }[] = [];
  // Steps that the start does not reach come last: their containers still have bodies.
  work.push({ entries: [start, ...all], inside: all, outer: undefined });
  for (let region = work.pop(); region !== undefined; region = work.pop()) {
    const claimed = new Set<string>();
    for (const container of containersIn(nodes, region.entries, region.inside)) {
      if (claimed.has(container) || regions.has(container)) continue;
      const node = nodes.get(container)!;
      const inside = new Set(region.inside);
      inside.delete(container);
      const reserved = Object.entries(node.next).filter(([port]) => CONTAINER_RESERVED.has(port));
      const after = reach(
        nodes,
        reserved.map(([, target]) => target),
        inside,
      );
      const branches = new Map<string, ReadonlySet<string>>();
      const body = new Set<string>();
      for (const [port, target] of Object.entries(node.next)) {
        if (CONTAINER_RESERVED.has(port)) continue;
        const reached = reach(nodes, [target], inside);
        const branch = new Set<string>();
        for (const slug of reached) {
          if (!after.has(slug)) branch.add(slug);
          else if (Object.values(nodes.get(slug)!.next).includes(container)) problems.push(ambiguous(slug, container));
        }
        branches.set(port, branch);
        for (const slug of branch) {
          body.add(slug);
          claimed.add(slug);
          home.set(slug, container);
        }
        work.push({ entries: [target], inside: branch, outer: container });
      }
      regions.set(container, { container, body, branches, outer: region.outer });
    }
  }
  for (const region of regions.values()) {
    if (nodes.get(region.container)!.role === 'frames') problems.push(...crossings(nodes, region));
  }
  problems.push(...strayBreaks(nodes, regions, home));
  return { regions, home, problems: unique(problems) };
}

/** 3.3: no edge leaves a branch or iteration but to its container, and none enters from outside. */
function crossings(nodes: Nodes, region: Region): Problem[] {
  const problems: Problem[] = [];
  for (const node of nodes.values()) {
    if (node.slug === region.container) continue;
    for (const [port, target] of Object.entries(node.next)) {
      const to = nodes.get(target);
      if (to === undefined || to.role === 'end') continue;
      const pointer = `/steps/${node.slug}/nextSteps/${port}`;
      if (!region.body.has(node.slug)) {
        if (region.body.has(target))
          problems.push({
            pointer,
            code: 'edge_enters_branch',
            message: `This edge leads into a branch of '${region.container}' from outside; only the container begins its branches.`,
            hint: `Lead it to '${region.container}' instead.`,
          });
        continue;
      }
      if (target === region.container) continue;
      for (const branch of region.branches.values()) {
        if (!branch.has(node.slug) || branch.has(target)) continue;
        problems.push({
          pointer,
          code: 'edge_leaves_branch',
          message: `This edge leads out of a branch of '${region.container}' to '${target}'; a branch ends at its container, at finish or fail, or at '$end'.`,
          hint: `Lead it to '${region.container}', and go on from its port done.`,
        });
        break;
      }
    }
  }
  return problems;
}

function strayBreaks(nodes: Nodes, regions: ReadonlyMap<string, Region>, home: ReadonlyMap<string, string>): Problem[] {
  const problems: Problem[] = [];
  for (const node of nodes.values()) {
    if (node.role !== 'break') continue;
    const container = home.get(node.slug);
    if (container !== undefined && nodes.get(container)!.role === 'loop') continue;
    const across = container !== undefined && enclosingLoop(nodes, regions, container) !== undefined;
    problems.push({
      pointer: `/steps/${node.slug}/stepType`,
      code: 'break_outside_loop',
      message: across
        ? `A break leaves a loop of its own branch or iteration; the loop around '${container}' is beyond that boundary.`
        : 'A break stands in the body of a loop; this one is in none.',
    });
  }
  return problems;
}

function enclosingLoop(nodes: Nodes, regions: ReadonlyMap<string, Region>, container: string): string | undefined {
  for (let outer = regions.get(container)?.outer; outer !== undefined; outer = regions.get(outer)?.outer) {
    if (nodes.get(outer)!.role === 'loop') return outer;
  }
  return undefined;
}

function ambiguous(slug: string, container: string): Problem {
  return {
    pointer: `/steps/${slug}`,
    code: 'ambiguous_region',
    message: `'${slug}' is reached from the body of '${container}' and from its other ports, and leads back to it: it would silently begin '${container}' again.`,
    hint: 'Use two steps: one in the body that ends the tick, one after done that enters anew.',
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
