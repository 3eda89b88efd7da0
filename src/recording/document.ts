/** A recording as a definition: a document in the form of mesh, which the importer reads like any other. */

import { referencedNames } from '../compat/mesh/references.ts';
import type { RecordedStep } from '../contract/definitions/recording.ts';
import type { JsonObject } from '../json/json.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { eachText } from './references.ts';

/** What makes data of a text that holds JSON, as most MCP servers answer. */
export const PARSE_JSON_CODE = `export default function (result) {
  if (typeof result !== 'string') return result;
  try { return JSON.parse(result); } catch { return result; }
}`;

export const STEP_ORDERS = ['recorded', 'references'] as const;

interface DocumentOptions {
  readonly name: string;
  readonly slug: string;
  readonly description?: string;
  /**
   * `recorded`: a step waits for the steps that had ended when it began, since its call may depend on what they did.
   * `references`: a step waits only for the steps that it refers to.
   */
  readonly order: (typeof STEP_ORDERS)[number];
  /** Steps whose calls failed. */
  readonly includesFailed: boolean;
}

export function documentOf(
  steps: readonly RecordedStep[],
  { name, slug, description, order, includesFailed }: DocumentOptions,
): JsonObject {
  const included = steps.filter(({ status }) => status !== 'running' && (includesFailed || status !== 'failed'));
  const ancestors: Map<string, ReadonlySet<string>> = new Map();
  const written = included.map((one, index) => {
    const earlier = order === 'recorded' ? endedBefore(one, included.slice(0, index)) : [];
    const referred = referencesOf(one, included);
    const dependsOn = withoutImplied(earlier, [...referred], ancestors);
    ancestors.set(one.name, withAncestors([...referred, ...dependsOn], ancestors));
    const { dependsOn: writtenDependsOn = [], ...step } = one.step;
    const all = [...(Array.isArray(writtenDependsOn) ? writtenDependsOn : []), ...dependsOn];
    return { name: one.name, ...step, ...(all.length === 0 ? {} : { dependsOn: all }) };
  });
  return { name, slug, ...omitUndefined({ description }), steps: written };
}

/** Of these steps the ones that neither `referred` nor a later one of them waits for. In their order. */
function withoutImplied(earlier: readonly string[], referred: readonly string[], ancestors: Ancestors): string[] {
  const implied = new Set(withAncestors(referred, ancestors));
  const chosen: string[] = [];
  for (const name of earlier.toReversed()) {
    if (implied.has(name)) continue;
    chosen.unshift(name);
    for (const one of withAncestors([name], ancestors)) implied.add(one);
  }
  return chosen;
}

/** Names of steps that had ended when the step began. Both are in the recording's order. */
function endedBefore({ startedAt }: RecordedStep, earlier: readonly RecordedStep[]): string[] {
  return earlier
    .filter(({ startedAt: began, completedAt = began }) => completedAt <= startedAt)
    .map(({ name }) => name);
}

function referencesOf({ step }: RecordedStep, included: readonly RecordedStep[]): ReadonlySet<string> {
  const names = new Set(included.map(({ name }) => name));
  const found = new Set<string>();
  eachText(step, '', (text) => {
    for (const name of referencedNames(text)) if (names.has(name)) found.add(name);
  });
  return found;
}

type Ancestors = ReadonlyMap<string, ReadonlySet<string>>;

/** The steps and all that they wait for. */
function withAncestors(names: readonly string[], ancestors: Ancestors): ReadonlySet<string> {
  return new Set(names.flatMap((name) => [name, ...(ancestors.get(name) ?? [])]));
}
