/**
 * `{{input.*}}` of alloy (004) reads the output of the direct predecessor. With several predecessors the path must
 * exist in the schema of each. A condition passes on its input, so its predecessors count instead of it.
 *
 * A single predecessor is read by name. Of several, `lastOutput` is the output of the one before in the walk, in
 * cycles too. If a condition is between, each of them also stores its output under one common name, and the last write
 * counts.
 */

import type { PayloadFormat } from '../../definition/document/types.ts';
import { changeExpressions } from '../../definition/import/expressions.ts';
import { type ImportContext, originOf } from '../../definition/import/import-context.ts';
import { type RootChange, rewriteExpression, rewriteTemplates } from '../../definition/import/rewrite-paths.ts';
import { type Edges, edgesOf } from '../../definition/import/step-edges.ts';
import { declarationStatus } from '../../definition/payload/format.ts';
import { isObject, type JsonObject } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';

/** The prefix of the `outputVariable` for predecessors with a condition between. */
const PREDECESSOR_VARIABLE = 'predecessor';
/** The most predecessors, since every path is checked against the schema of each. */
const MAX_PREDECESSORS = 200;
/** Kinds with concurrent steps, whose outputs under a common name cannot be told apart. */
const CONTAINERS: ReadonlySet<unknown> = new Set(['loop', 'forEach', 'parallel', 'join', 'race']);

export function predecessorPaths(context: ImportContext, document: JsonObject): void {
  const edges = edgesOf(context);
  const direct = directPredecessors(edges);
  const origin = originOf(context.origins);
  for (const [slug, step] of Object.entries(context.steps)) {
    if (!isObject(step) || !JSON.stringify([step['config'], step['saveToState']]).includes('input')) continue;
    const sources = sourcesOf(slug, direct, context);
    if (sources.steps.length === 0) continue;
    const at = childPointer('/steps', slug);
    if (sources.steps.length > MAX_PREDECESSORS) {
      context.addProblem(
        origin(`${at}/config`),
        'invalid_config',
        `${sources.steps.length} steps directly precede this one; {{input.*}} supports at most ${MAX_PREDECESSORS}.`,
        'Read steps.NAME.output.data.',
      );
      continue;
    }
    let isRead = false;
    let isSaved = false;
    const changeAt =
      (place: string, path: string): RootChange =>
      (reference) => {
        if (reference.root !== 'input') return undefined;
        isRead = true;
        const undeclaring = sources.steps.filter((source) => {
          const schema = schemaOf(context.steps[source], document);
          return schema !== undefined && declarationStatus(schema, reference.path) === 'undeclared';
        });
        if (undeclaring.length > 0)
          context.addProblem(
            origin(`${at}${place}${reference.pointer ?? ''}`),
            'undeclared_input',
            `${quotedNames(undeclaring)} directly precedes this step and does not declare ` +
              `"${reference.path.join('.')}".`,
          );
        return path;
      };
    if (isObject(step['config']))
      step['config'] = rewriteTemplates(step['config'], changeAt('/config', pathOf(sources)));
    changeExpressions(step, (expression, place) => {
      if (!place.startsWith('/saveToState')) return rewriteExpression(expression, changeAt(place, pathOf(sources)));
      const rewritten = rewriteExpression(expression, changeAt(place, pathAtEnd(sources)));
      isSaved ||= rewritten !== expression;
      return rewritten;
    });
    if (!isRead) continue;
    if (sources.conditions.has(String(document['start'])) || slug === document['start'])
      context.warnDropped(
        origin(`${at}/config`),
        'The run begins here: {{input.*}} is null, since no step has an output yet.',
        PAYLOAD_HINT,
      );
    if (sources.steps.length > 1 && (sources.conditions.size > 0 || isSaved))
      storeUnderCommonName(sources.steps, edges, context, origin(`${at}/config`));
  }
}

const PAYLOAD_HINT = 'Begin with a starting_step.';

interface Sources {
  readonly steps: readonly string[];
  /** The conditions between them and the step. */
  readonly conditions: ReadonlySet<string>;
}

function pathOf({ steps, conditions }: Sources): string {
  const [only = '', ...others] = steps;
  if (others.length === 0) return `${only.includes('-') ? `steps['${only}']` : `steps.${only}`}.output.data`;
  return conditions.size === 0 ? 'lastOutput.data' : `outputs.${PREDECESSOR_VARIABLE}`;
}

/** For texts that are evaluated after the step has ended, when lastOutput is its own output. */
function pathAtEnd(sources: Sources): string {
  return sources.steps.length === 1 ? pathOf(sources) : `outputs.${PREDECESSOR_VARIABLE}`;
}

/** Makes every source store its output under the common name, and warns that a failure stores none. */
function storeUnderCommonName(sources: readonly string[], edges: Edges, context: ImportContext, at: string): void {
  for (const source of sources) {
    const step = context.steps[source];
    if (isObject(step)) step['outputVariable'] = PREDECESSOR_VARIABLE;
  }
  const continuing = sources.filter((source) => {
    const step = context.steps[source];
    return edges.get(source)?.['error'] !== undefined || (isObject(step) && step['onError'] === 'continue');
  });
  if (continuing.length > 0)
    context.warnDropped(
      at,
      `If ${quotedNames(continuing)} fails and the run continues here, {{input.*}} is the output of an earlier step.`,
      'Read steps.NAME.output.data, which is null then.',
    );
  if (Object.values(context.steps).some((step) => isObject(step) && CONTAINERS.has(step['stepType'])))
    context.warnDropped(
      at,
      `{{input.*}} is ambiguous here: ${quotedNames(sources)} run concurrently before this step.`,
      'Read steps.NAME.output.data.',
    );
}

function quotedNames(slugs: readonly string[]): string {
  const [first = '', ...others] = slugs;
  return others.length === 0 ? `"${first}"` : `"${first}" (and ${others.length} more)`;
}

function directPredecessors(edges: Edges): Map<string, Set<string>> {
  const direct = new Map<string, Set<string>>();
  for (const [from, next] of edges) {
    for (const target of Object.values(next)) direct.set(target, (direct.get(target) ?? new Set()).add(from));
  }
  return direct;
}

function sourcesOf(slug: string, direct: ReadonlyMap<string, ReadonlySet<string>>, context: ImportContext): Sources {
  const steps: string[] = [];
  const conditions = new Set<string>();
  // The set grows during the loop: a condition adds its predecessors.
  const candidates = new Set(direct.get(slug) ?? []);
  for (const source of candidates) {
    const step = context.steps[source];
    if (!isObject(step) || step['stepType'] !== 'condition') steps.push(source);
    else {
      conditions.add(source);
      for (const earlier of direct.get(source) ?? []) candidates.add(earlier);
    }
  }
  return { steps, conditions };
}

/** The schema of a step's output, if it has one: of a payload, a form or a declared response. */
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
