/** Loops of document 000: where a walk ends within them, and what their items are called. */
import { type Edges, loopBody, sourcesOf } from './flow.ts';
import type { Import } from './imported.ts';
import { isObject, put } from './json.ts';
import { below } from './pointer.ts';
import { type RootChange, rewriteExpression, rewriteTemplates } from './rewrite.ts';
import { isRoot } from './roots.ts';
import type { JsonObject } from './types.ts';

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

/**
 * A missing next step ends the run in 000, also in the body of a loop, where the canonical form would begin the next
 * tick: there it becomes `$end`. `continueOnError` of a loop: a failing step of its body begins the next tick.
 */
export function loopEndings(into: Import): void {
  const edges = edgesOf(into);
  const sources = sourcesOf(edges);
  for (const [slug, step] of Object.entries(into.steps)) {
    if (!isObject(step) || step['stepType'] !== 'loop') continue;
    const body = loopBody(edges, sources, slug);
    for (const inner of body) endInBody(into.steps[inner]);
    const config = isObject(step['config']) ? step['config'] : {};
    if (config['continueOnError'] === undefined) continue;
    if (config['continueOnError'] === true) {
      for (const inner of body) wire(into.steps[inner], 'error', slug);
    }
    const { continueOnError: _, ...rest } = config;
    step['config'] = rest;
  }
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
  if (!isObject(step)) return;
  const next: JsonObject = isObject(step['nextSteps']) ? step['nextSteps'] : {};
  if (Object.hasOwn(next, port)) return;
  put(next, port, target);
  step['nextSteps'] = next;
}

/** `itemVariable`: in the body, `customer` is what the canonical form calls `loop.item`, or `loop.parent.item` in a loop within. */
export function renameLoopItems(into: Import, document: JsonObject): void {
  const edges = edgesOf(into);
  const sources = sourcesOf(edges);
  const config = isObject(document['config']) ? document['config'] : {};
  const variables = isObject(config['variables']) ? config['variables'] : {};
  const loops = Object.entries(into.steps).filter(([, step]) => isObject(step) && step['stepType'] === 'loop');
  const bodies = new Map(loops.map(([slug]) => [slug, loopBody(edges, sources, slug)]));
  for (const [slug, step] of loops) {
    if (!isObject(step) || !isObject(step['config']) || step['config']['itemVariable'] === undefined) continue;
    const { itemVariable, ...rest } = step['config'];
    step['config'] = rest;
    const name = typeof itemVariable === 'string' ? itemVariable : '';
    if (name === '' || name === 'item') continue;
    const at = `${into.places.get(below('/steps', slug)) ?? ''}/config/itemVariable`;
    if (isRoot(name) || Object.hasOwn(variables, name)) {
      into.lost(
        at,
        `The item's name "${name.slice(0, 80)}" is taken by a ${isRoot(name) ? 'root' : 'variable'}; the item is {{ loop.item }}.`,
      );
      continue;
    }
    const body = bodies.get(slug) ?? new Set();
    for (const inner of body) {
      const depth = [...bodies].filter(
        ([other, within]) => other !== slug && body.has(other) && within.has(inner),
      ).length;
      const item = `loop.${'parent.'.repeat(depth)}item`;
      const innerStep = into.steps[inner];
      if (isObject(innerStep)) renameRoot(innerStep, (reference) => (reference.root === name ? item : undefined));
    }
  }
}

function renameRoot(step: JsonObject, change: RootChange): void {
  if (!isObject(step['config'])) return;
  const config = rewriteTemplates(step['config'], change);
  if (isObject(config) && step['stepType'] === 'condition') {
    if (typeof config['expression'] === 'string')
      config['expression'] = rewriteExpression(config['expression'], change);
    if (Array.isArray(config['branches'])) {
      for (const branch of config['branches']) {
        if (isObject(branch) && typeof branch['expression'] === 'string')
          branch['expression'] = rewriteExpression(branch['expression'], change);
      }
    }
  }
  step['config'] = config;
}

function edgesOf(into: Import): Edges {
  const edges = new Map<string, { readonly [port: string]: string }>();
  for (const [slug, step] of Object.entries(into.steps)) {
    const next = isObject(step) && isObject(step['nextSteps']) ? step['nextSteps'] : {};
    edges.set(
      slug,
      Object.fromEntries(Object.entries(next).filter((edge): edge is [string, string] => typeof edge[1] === 'string')),
    );
  }
  return edges;
}
