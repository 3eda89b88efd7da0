/** The edges of steps during an import, before there is a program. */

import { isObject } from '../../json/json.ts';
import type { ImportContext } from './import-context.ts';

export type Edges = ReadonlyMap<string, { readonly [port: string]: string }>;

/** The current edges of an import's steps. Values that are not edges are ignored. */
export function edgesOf(context: Pick<ImportContext, 'steps'>): Edges {
  const edges = new Map<string, { readonly [port: string]: string }>();
  for (const [slug, step] of Object.entries(context.steps)) {
    const next = isObject(step) && isObject(step['nextSteps']) ? step['nextSteps'] : {};
    edges.set(
      slug,
      Object.fromEntries(Object.entries(next).filter((edge): edge is [string, string] => typeof edge[1] === 'string')),
    );
  }
  return edges;
}

/** The steps that can be reached from `from` without passing through `without`. */
function reachableSteps(edges: Edges, from: readonly string[], without: string): Set<string> {
  const seen = new Set<string>();
  const open = [...from];
  for (let slug = open.pop(); slug !== undefined; slug = open.pop()) {
    const next = edges.get(slug);
    if (slug === without || next === undefined || seen.has(slug)) continue;
    seen.add(slug);
    open.push(...Object.values(next));
  }
  return seen;
}

/** A step → the steps that lead to it. */
type Sources = ReadonlyMap<string, readonly string[]>;

/** The reversed edges: for each target, the steps that lead to it, once for each port. */
export function sourcesOf(edges: Edges): Sources {
  const sources = new Map<string, string[]>();
  for (const [from, next] of edges) {
    for (const target of Object.values(next)) {
      const known = sources.get(target);
      if (known === undefined) sources.set(target, [from]);
      else known.push(from);
    }
  }
  return sources;
}

/** The body of a loop (LANGUAGE.md §3.2): what its port `loop` reaches and its other ports do not. */
export function loopBody(edges: Edges, sources: Sources, loop: string): Set<string> {
  const { loop: bodyStart, ...others } = edges.get(loop) ?? {};
  if (bodyStart === undefined) return new Set();
  const body = reachableSteps(edges, [bodyStart], loop);
  const reserved = Object.values(others);
  // Most bodies are closed: no edge leads into them from outside, so that other ports cannot reach them.
  const isClosed =
    !reserved.some((target) => body.has(target)) &&
    [...body].every((slug) => sources.get(slug)?.every((source) => source === loop || body.has(source)) !== false);
  if (isClosed) return body;
  for (const slug of reachableSteps(edges, reserved, loop)) body.delete(slug);
  return body;
}
