/**
 * Document 004: `{{input.*}}` resolves only from the output of the direct predecessor; with several, the path must exist in
 * the schema of each. A condition hands on what it was given, so its predecessors count in its place.
 */
import { type Edges, edgesOf } from './flow.ts';
import { declares } from './format.ts';
import type { Import } from './imported.ts';
import { isObject } from './json.ts';
import { below } from './pointer.ts';
import { type RootChange, rewriteExpression, rewriteTemplates } from './rewrite.ts';
import type { JsonObject, PayloadFormat } from './types.ts';

/** Each is named wherever the input is read. */
const MAX_PREDECESSORS = 20;

export function predecessorPaths(into: Import, document: JsonObject): void {
  const edges = edgesOf(into);
  const before = directPredecessors(edges, into);
  for (const [slug, step] of Object.entries(into.steps)) {
    if (!isObject(step) || !isObject(step['config'])) continue;
    const sources = [...(before.get(slug) ?? [])];
    if (sources.length === 0) continue;
    const at = `${into.places.get(below('/steps', slug)) ?? ''}/config`;
    if (sources.length > MAX_PREDECESSORS && JSON.stringify(step['config']).includes('input')) {
      into.problem(
        at,
        'invalid_config',
        `${sources.length} steps come right before this one; {{input.*}} can be read from at most ${MAX_PREDECESSORS}.`,
        'Read steps.NAME.output.data.',
      );
      continue;
    }
    const path = pathOf(sources);
    const change: RootChange = (reference) => {
      if (reference.root !== 'input') return undefined;
      for (const source of sources) {
        const schema = schemaOf(into.steps[source], document);
        if (schema === undefined || declares(schema, reference.path) !== 'undeclared') continue;
        into.problem(
          `${at}${reference.pointer ?? ''}`,
          'undeclared_input',
          `"${source}" comes right before this step, and its output does not declare "${reference.path.join('.')}".`,
        );
      }
      return path;
    };
    step['config'] = changed(step, change);
  }
}

/** One predecessor is read by name; of several the one that has just ended. */
function pathOf(sources: readonly string[]): string {
  const read = (slug: string): string => (slug.includes('-') ? `steps['${slug}']` : `steps.${slug}`);
  const [first, ...others] = sources;
  if (others.length === 0) return `${read(first ?? '')}.output.data`;
  return `(${sources
    .slice(0, -1)
    .map((slug) => `${read(slug)} ? ${read(slug)} : `)
    .join('')}${read(sources.at(-1) ?? '')}).output.data`;
}

function changed(step: JsonObject, change: RootChange): JsonObject {
  const config = isObject(step['config']) ? step['config'] : {};
  const rewritten = rewriteTemplates(config, change);
  if (!isObject(rewritten) || step['stepType'] !== 'condition') return isObject(rewritten) ? rewritten : config;
  if (typeof rewritten['expression'] === 'string')
    rewritten['expression'] = rewriteExpression(rewritten['expression'], change);
  if (Array.isArray(rewritten['branches'])) {
    for (const branch of rewritten['branches']) {
      if (isObject(branch) && typeof branch['expression'] === 'string')
        branch['expression'] = rewriteExpression(branch['expression'], change);
    }
  }
  return rewritten;
}

function directPredecessors(edges: Edges, into: Import): Map<string, Set<string>> {
  const direct = new Map<string, Set<string>>();
  for (const [from, next] of edges) {
    for (const target of Object.values(next)) direct.set(target, (direct.get(target) ?? new Set()).add(from));
  }
  const resolved = new Map<string, Set<string>>();
  for (const slug of edges.keys()) {
    const found = new Set<string>();
    // A set that grows while it is walked: a condition adds those before it.
    const asked = new Set(direct.get(slug) ?? []);
    for (const source of asked) {
      const step = into.steps[source];
      if (!isObject(step) || step['stepType'] !== 'condition') found.add(source);
      else for (const earlier of direct.get(source) ?? []) asked.add(earlier);
    }
    resolved.set(slug, found);
  }
  return resolved;
}

/** The schema of a step's output where there is one: the payload's, a form's, a declared response's. */
function schemaOf(step: unknown, document: JsonObject): PayloadFormat | undefined {
  if (!isObject(step)) return undefined;
  const config = isObject(step['config']) ? step['config'] : {};
  const schema =
    step['stepType'] === 'starting_step'
      ? document['input']
      : (config['outputSchema'] ??
        config['responseSchema'] ??
        (step['stepType'] === 'user_input' ? config['form'] : undefined));
  return isObject(schema) ? schema : undefined;
}
