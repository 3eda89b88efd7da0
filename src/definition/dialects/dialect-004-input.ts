/**
 * `{{input.*}}` of alloy (004) reads the output of the direct predecessor. With several predecessors the path must
 * exist in the schema of each. A condition passes on its input, so its predecessors count instead of it.
 *
 * A single predecessor is read by name. Of several, `lastOutput` is the output of the one before in the walk, in
 * cycles too. If a condition is between, each of them also stores its output under one common name, and the last write
 * counts.
 */

import { isObject, type JsonObject } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import type { PayloadFormat } from '../document/types.ts';
import { declares } from '../payload/format.ts';
import { type Import, originOf } from './import.ts';
import { changeExpressions } from './import-expressions.ts';
import { type RootChange, rewriteExpression, rewriteTemplates } from './rewrite-paths.ts';
import { type Edges, edgesOf } from './step-edges.ts';

/** The prefix of the `outputVariable` for predecessors with a condition between. */
const HANDED_ON = 'predecessor';
/** The most predecessors, since every path is checked against the schema of each. */
const MAX_PREDECESSORS = 200;
/** Kinds with concurrent steps, whose outputs under a common name cannot be told apart. */
const CONTAINERS: ReadonlySet<unknown> = new Set(['loop', 'forEach', 'parallel', 'join', 'race']);

export function predecessorPaths(into: Import, document: JsonObject): void {
  const edges = edgesOf(into);
  const direct = directPredecessors(edges);
  const origin = originOf(into.places);
  for (const [slug, step] of Object.entries(into.steps)) {
    if (!isObject(step) || !JSON.stringify([step['config'], step['saveToState']]).includes('input')) continue;
    const before = sourcesOf(slug, direct, into);
    if (before.steps.length === 0) continue;
    const at = childPointer('/steps', slug);
    if (before.steps.length > MAX_PREDECESSORS) {
      into.problem(
        origin(`${at}/config`),
        'invalid_config',
        `${before.steps.length} steps directly precede this one; {{input.*}} supports at most ${MAX_PREDECESSORS}.`,
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
        const lacking = before.steps.filter((source) => {
          const schema = schemaOf(into.steps[source], document);
          return schema !== undefined && declares(schema, reference.path) === 'undeclared';
        });
        if (lacking.length > 0)
          into.problem(
            origin(`${at}${place}${reference.pointer ?? ''}`),
            'undeclared_input',
            `${named(lacking)} directly precedes this step and does not declare "${reference.path.join('.')}".`,
          );
        return path;
      };
    if (isObject(step['config']))
      step['config'] = rewriteTemplates(step['config'], changeAt('/config', pathOf(before)));
    changeExpressions(step, (expression, place) => {
      if (!place.startsWith('/saveToState')) return rewriteExpression(expression, changeAt(place, pathOf(before)));
      const rewritten = rewriteExpression(expression, changeAt(place, pathAtEnd(before)));
      isSaved ||= rewritten !== expression;
      return rewritten;
    });
    if (!isRead) continue;
    if (before.conditions.has(String(document['start'])) || slug === document['start'])
      into.lost(
        origin(`${at}/config`),
        'The run begins here: {{input.*}} is null, since no step has an output yet.',
        PAYLOAD_HINT,
      );
    if (before.steps.length > 1 && (before.conditions.size > 0 || isSaved))
      handOn(before.steps, edges, into, origin(`${at}/config`));
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
  return conditions.size === 0 ? 'lastOutput.data' : `outputs.${HANDED_ON}`;
}

/** For texts that are evaluated after the step has ended, when lastOutput is its own output. */
function pathAtEnd(before: Sources): string {
  return before.steps.length === 1 ? pathOf(before) : `outputs.${HANDED_ON}`;
}

/** Makes every source store its output under the common name, and warns that a failure stores none. */
function handOn(sources: readonly string[], edges: Edges, into: Import, at: string): void {
  for (const source of sources) {
    const step = into.steps[source];
    if (isObject(step)) step['outputVariable'] = HANDED_ON;
  }
  const caught = sources.filter((source) => {
    const step = into.steps[source];
    return edges.get(source)?.['error'] !== undefined || (isObject(step) && step['onError'] === 'continue');
  });
  if (caught.length > 0)
    into.lost(
      at,
      `If ${named(caught)} fails and the run continues here, {{input.*}} is the output of an earlier step.`,
      'Read steps.NAME.output.data, which is null then.',
    );
  if (Object.values(into.steps).some((step) => isObject(step) && CONTAINERS.has(step['stepType'])))
    into.lost(
      at,
      `{{input.*}} is ambiguous here: ${named(sources)} run concurrently before this step.`,
      'Read steps.NAME.output.data.',
    );
}

function named(slugs: readonly string[]): string {
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

function sourcesOf(slug: string, direct: ReadonlyMap<string, ReadonlySet<string>>, into: Import): Sources {
  const steps: string[] = [];
  const conditions = new Set<string>();
  // The set grows during the loop: a condition adds its predecessors.
  const asked = new Set(direct.get(slug) ?? []);
  for (const source of asked) {
    const step = into.steps[source];
    if (!isObject(step) || step['stepType'] !== 'condition') steps.push(source);
    else {
      conditions.add(source);
      for (const earlier of direct.get(source) ?? []) asked.add(earlier);
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
