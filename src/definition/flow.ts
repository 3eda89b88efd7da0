/** Questions about the edges of steps that the importers ask before there is a program. */

export type Edges = ReadonlyMap<string, { readonly [port: string]: string }>;

/** Steps that are reached from `from` without passing through `without`. */
export function reached(edges: Edges, from: readonly string[], without: string): Set<string> {
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

/** The body of a loop (language.md §3.2): what its port `loop` reaches and its other ports do not. */
export function loopBody(edges: Edges, loop: string): Set<string> {
  const { loop: into, ...others } = edges.get(loop) ?? {};
  if (into === undefined) return new Set();
  const after = reached(edges, Object.values(others), loop);
  const body = reached(edges, [into], loop);
  for (const slug of after) body.delete(slug);
  return body;
}
