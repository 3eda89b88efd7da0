/** Loops of tale: the ends of walks within them, and the names of their items. */

import { isRoot } from '../../definition/document/roots.ts';
import { changeExpressions } from '../../definition/import/expressions.ts';
import type { ImportContext } from '../../definition/import/import-context.ts';
import { type RootChange, rewriteExpression, rewriteTemplates } from '../../definition/import/rewrite-paths.ts';
import { edgesOf, loopBody, sourcesOf } from '../../definition/import/step-edges.ts';
import { isObject, type JsonObject, setOwn } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';

/** The ports by which kinds of tale continue. If they are not wired, they end the run in tale. */
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

/** The most steps in bodies of loops, counted once for each loop around them. */
const MAX_BODY_STEPS = 1_000_000;

type Bodies = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Converts loops. A missing next step ends the run in tale even in the body of a loop, where it would begin the next
 * tick in the canonical form: it becomes `$end`. With `continueOnError` a failing step of the body begins the next
 * tick. With `itemVariable: customer` the body reads `customer` for `loop.item`. `at`: of the list of steps.
 */
export function taleLoops(context: ImportContext, document: JsonObject, at: string): void {
  const bodies = bodiesOf(context);
  if (bodies === undefined) {
    context.addProblem(at, 'containers_too_deep', 'The loops of this document are nested too deeply.');
    return;
  }
  for (const [slug, body] of bodies) {
    const step = context.steps[slug];
    for (const inner of body) endRunAtOpenPorts(context.steps[inner]);
    if (!isObject(step) || !isObject(step['config']) || step['config']['continueOnError'] === undefined) continue;
    const { continueOnError, ...rest } = step['config'];
    step['config'] = rest;
    if (continueOnError !== true) continue;
    for (const inner of body) wire(context.steps[inner], 'error', slug);
  }
  renameItems(context, bodies, document);
}

function bodiesOf(context: ImportContext): Bodies | undefined {
  const edges = edgesOf(context);
  const sources = sourcesOf(edges);
  const bodies = new Map<string, Set<string>>();
  let steps = 0;
  for (const [slug, step] of Object.entries(context.steps)) {
    if (!isObject(step) || step['stepType'] !== 'loop') continue;
    const body = loopBody(edges, sources, slug);
    steps += body.size;
    if (steps > MAX_BODY_STEPS) return undefined;
    bodies.set(slug, body);
  }
  return bodies;
}

function endRunAtOpenPorts(step: unknown): void {
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

/** In a nested loop the outer item is `loop.parent.item`. If both items have the same name, the inner one has it. */
function renameItems(context: ImportContext, bodies: Bodies, document: JsonObject): void {
  const config = isObject(document['config']) ? document['config'] : {};
  const variables = isObject(config['variables']) ? config['variables'] : {};
  const loopsAround = new Map<string, string[]>();
  // From the largest body to the smallest, since a nested loop has a smaller body.
  for (const [loop, body] of [...bodies].sort(([, one], [, other]) => other.size - one.size)) {
    for (const inner of body) {
      const known = loopsAround.get(inner);
      if (known === undefined) loopsAround.set(inner, [loop]);
      else known.push(loop);
    }
  }
  const names = new Map<string, string>();
  for (const loop of bodies.keys()) {
    const name = itemName(context, loop, variables);
    if (name !== undefined) names.set(loop, name);
  }
  if (names.size === 0) return;
  for (const [slug, step] of Object.entries(context.steps)) {
    const loops = loopsAround.get(slug) ?? [];
    // The conditions of a loop are evaluated within it, its items outside of it.
    const conditionLoops = bodies.has(slug) ? [...loops, slug] : loops;
    if (isObject(step)) renameRoots(step, itemsOf(loops, names), itemsOf(conditionLoops, names));
  }
}

/** The names of the items of the surrounding loops, the outermost first. */
function itemsOf(loops: readonly string[], names: ReadonlyMap<string, string>): RootChange {
  const items = new Map<string, string>();
  for (const [index, loop] of loops.entries()) {
    const name = names.get(loop);
    if (name !== undefined) items.set(name, `loop.${'parent.'.repeat(loops.length - 1 - index)}item`);
  }
  return ({ root }) => items.get(root);
}

function itemName(context: ImportContext, loop: string, variables: JsonObject): string | undefined {
  const step = context.steps[loop];
  if (!isObject(step) || !isObject(step['config']) || step['config']['itemVariable'] === undefined) return undefined;
  const { itemVariable: name, ...rest } = step['config'];
  step['config'] = rest;
  if (typeof name !== 'string' || name === '' || name === 'item') return undefined;
  if (!isRoot(name) && !Object.hasOwn(variables, name)) return name;
  const holder = isRoot(name) ? 'root' : 'variable';
  const message = `The item's name "${name.slice(0, 80)}" is the name of a ${holder}; write {{ loop.item }}.`;
  context.warnDropped(`${context.origins.get(childPointer('/steps', loop)) ?? ''}/config/itemVariable`, message);
  return undefined;
}

function renameRoots(step: JsonObject, change: RootChange, conditionChange: RootChange): void {
  if (isObject(step['config'])) step['config'] = rewriteTemplates(step['config'], change);
  changeExpressions(step, (expression, at) =>
    rewriteExpression(expression, at.startsWith('/config/') ? conditionChange : change),
  );
}
