/** Loops of document 000: where a walk ends within them, and what their items are called. */

import { isObject, type JsonObject, setOwn } from '../../json/json.ts';
import { below } from '../document/pointer.ts';
import { isRoot } from '../document/roots.ts';
import { edgesOf, loopBody, sourcesOf } from './flow.ts';
import type { Import } from './imported.ts';
import { changeExpressions } from './imported-expressions.ts';
import { type RootChange, rewriteExpression, rewriteTemplates } from './rewrite.ts';

/** The ports by which kinds of 000 go on, and which end the run there when they lead nowhere. */
const PORTS: { readonly [stepType: string]: readonly string[] } = {
  trigger: ['success'],
  action: ['success'],
  set: ['success'],
  llm: ['success'],
  agent: ['success'],
  condition: ['true', 'false'],
  approval: ['approved', 'rejected'],
  loop: ['done'],
};

/** Steps in the bodies of loops, counted once for each loop around them; more are nested deeper than any walk goes. */
const MAX_BODY_STEPS = 1_000_000;

type Bodies = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * A missing next step ends the run in 000, also in the body of a loop, where the canonical form would begin the next
 * tick: there it becomes `$end`. `continueOnError` of a loop: a failing step of its body begins the next tick.
 * `itemVariable`: in the body, `customer` is what the canonical form calls `loop.item`.
 */
export function loops000(into: Import, document: JsonObject): void {
  const bodies = bodiesOf(into);
  if (bodies === undefined) {
    into.problem('/stepsConfig', 'containers_too_deep', 'The loops of this document are nested too deeply.');
    return;
  }
  for (const [slug, body] of bodies) {
    const step = into.steps[slug];
    for (const inner of body) endInBody(into.steps[inner]);
    if (!isObject(step) || !isObject(step['config']) || step['config']['continueOnError'] === undefined) continue;
    const { continueOnError, ...rest } = step['config'];
    step['config'] = rest;
    if (continueOnError !== true) continue;
    for (const inner of body) wire(into.steps[inner], 'error', slug);
  }
  renameItems(into, bodies, document);
}

function bodiesOf(into: Import): Bodies | undefined {
  const edges = edgesOf(into);
  const sources = sourcesOf(edges);
  const bodies = new Map<string, Set<string>>();
  let steps = 0;
  for (const [slug, step] of Object.entries(into.steps)) {
    if (!isObject(step) || step['stepType'] !== 'loop') continue;
    const body = loopBody(edges, sources, slug);
    steps += body.size;
    if (steps > MAX_BODY_STEPS) return undefined;
    bodies.set(slug, body);
  }
  return bodies;
}

function endInBody(step: unknown): void {
  if (!isObject(step)) return;
  const config = isObject(step['config']) ? step['config'] : {};
  const branches =
    step['stepType'] === 'condition' && Array.isArray(config['branches']) ? config['branches'] : undefined;
  const named = branches?.flatMap((branch) =>
    isObject(branch) && typeof branch['port'] === 'string' ? [branch['port']] : [],
  );
  const ports = named === undefined ? (PORTS[String(step['stepType'])] ?? []) : [...named, 'default'];
  for (const port of ports) wire(step, port, '$end');
}

function wire(step: unknown, port: string, target: string): void {
  if (!isObject(step) || step['stepType'] === 'finish') return;
  const next: JsonObject = isObject(step['nextSteps']) ? step['nextSteps'] : {};
  if (Object.hasOwn(next, port)) return;
  setOwn(next, port, target);
  step['nextSteps'] = next;
}

/** In a loop within, the outer item is `loop.parent.item`; where both have one name, the inner one has it. */
function renameItems(into: Import, bodies: Bodies, document: JsonObject): void {
  const config = isObject(document['config']) ? document['config'] : {};
  const variables = isObject(config['variables']) ? config['variables'] : {};
  const around = new Map<string, string[]>();
  // From the largest body to the smallest: a loop within another one has the smaller.
  for (const [loop, body] of [...bodies].sort(([, one], [, other]) => other.size - one.size)) {
    for (const inner of body) {
      const known = around.get(inner);
      if (known === undefined) around.set(inner, [loop]);
      else known.push(loop);
    }
  }
  const names = new Map<string, string>();
  for (const loop of bodies.keys()) {
    const name = itemName(into, loop, variables);
    if (name !== undefined) names.set(loop, name);
  }
  if (names.size === 0) return;
  for (const [slug, step] of Object.entries(into.steps)) {
    const loops = around.get(slug) ?? [];
    // What a loop asks before and after its ticks is asked within it; what it walks, outside of it.
    const asked = bodies.has(slug) ? [...loops, slug] : loops;
    if (isObject(step)) renameRoots(step, itemsOf(loops, names), itemsOf(asked, names));
  }
}

/** What the items of the loops around, the outermost first, are called here. */
function itemsOf(loops: readonly string[], names: ReadonlyMap<string, string>): RootChange {
  const items = new Map<string, string>();
  for (const [index, loop] of loops.entries()) {
    const name = names.get(loop);
    if (name !== undefined) items.set(name, `loop.${'parent.'.repeat(loops.length - 1 - index)}item`);
  }
  return ({ root }) => items.get(root);
}

function itemName(into: Import, loop: string, variables: JsonObject): string | undefined {
  const step = into.steps[loop];
  if (!isObject(step) || !isObject(step['config']) || step['config']['itemVariable'] === undefined) return undefined;
  const { itemVariable: name, ...rest } = step['config'];
  step['config'] = rest;
  if (typeof name !== 'string' || name === '' || name === 'item') return undefined;
  if (!isRoot(name) && !Object.hasOwn(variables, name)) return name;
  const message = `The item's name "${name.slice(0, 80)}" is taken by a ${isRoot(name) ? 'root' : 'variable'}; the item is {{ loop.item }}.`;
  into.lost(`${into.places.get(below('/steps', loop)) ?? ''}/config/itemVariable`, message);
  return undefined;
}

function renameRoots(step: JsonObject, change: RootChange, asked: RootChange): void {
  if (isObject(step['config'])) step['config'] = rewriteTemplates(step['config'], change);
  changeExpressions(step, (expression, at) =>
    rewriteExpression(expression, at.startsWith('/config/') ? asked : change),
  );
}
