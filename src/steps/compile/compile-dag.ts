/**
 * Compiles the steps of a `flow: dag`: the container of the graph, and a forEach around steps that iterate.
 */

import type { Definition, Problem } from '../../definition/document/types.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { type Expression, parseExpression } from '../../template/expression.ts';
import { references } from '../../template/references.ts';
import { parseTemplate } from '../../template/template.ts';
import type { Reference } from '../../template/types.ts';
import { CHUNK_STEPS, type Chunks } from '../chunks.ts';
import { matchesComparison } from '../comparison.ts';
import type { Behaviour } from '../kind.ts';
import { DAG_STEP, type DagNode, dagBehaviour, dagKind, dagMisuse, iteratedStepName } from '../kinds/dag.ts';
import { forEach } from '../kinds/for-each.ts';
import { kindOf } from '../kinds/table.ts';
import type { Step } from '../program-types.ts';
import { condition, parser } from './compile-step.ts';
import { type Report, tryOrReport } from './report.ts';
import { RETRY_POLICIES } from './retry.ts';

/** Adds to `steps`, and returns the problems. */
export function* compileDag(definition: Definition, steps: Map<string, Step>, report: Report): Chunks<Problem[]> {
  const problems = dagMisuse(definition, (stepType) => {
    const kind = kindOf(stepType);
    return kind?.scope !== undefined || kind?.ends === 'loop';
  });
  const nodes: DagNode[] = [];
  for (const [n, [slug, written]] of Object.entries(definition.steps).entries()) {
    if (n % CHUNK_STEPS === 0) yield;
    const step = steps.get(slug);
    if (step === undefined) continue;
    const read: Reference[] = [...step.references];
    if (written.forEach !== undefined) {
      const forEachStep = wrapInForEach(slug, step, written.forEach, read, report);
      if (forEachStep === undefined) continue;
      steps.set(slug, forEachStep);
      const { when: _around, outputVariable: _of, ...inner } = step;
      steps.set(iteratedStepName(slug), { ...inner, key: iteratedStepName(slug), saves: [], continueOnError: false });
    }
    const bail = written.bail === undefined ? undefined : bailOf(slug, written.bail, read, report);
    steps.set(slug, { ...(steps.get(slug) ?? step), references: read });
    nodes.push({ slug, references: read, dependsOn: written.dependsOn ?? [], ...omitUndefined({ bail }) });
  }
  const dag = yield* dagBehaviour(nodes);
  if ('problems' in dag) return [...problems, ...dag.problems];
  const next = Object.fromEntries(nodes.map(({ slug }) => [slug, slug]));
  steps.set(DAG_STEP, {
    slug: DAG_STEP,
    name: DAG_STEP,
    kind: dagKind,
    type: dagKind.type,
    behaviour: dag.behaviour,
    ports: dagKind.ports({ stepType: dagKind.type }),
    next,
    branches: Object.keys(next),
    config: {},
    retry: RETRY_POLICIES.default,
    local: 'auto',
    fuses: true,
    continueOnError: false,
    saves: [],
    references: [],
  });
  return problems;
}

type ForEach = NonNullable<Definition['steps'][string]['forEach']>;

/**
 * The kind forEach with the step as its body: `{ref | items, concurrency}`. Modifiers of the step move to the forEach.
 */
function wrapInForEach(
  slug: string,
  step: Step,
  written: ForEach,
  stepReferences: Reference[],
  report: Report,
): Step | undefined {
  const pointer = `/steps/${slug}/forEach`;
  const { ref } = written;
  if (ref !== undefined && tryOrReport(`${pointer}/ref`, report, () => parseExpression(ref)) === undefined)
    return undefined;
  const items: Json | undefined = ref === undefined ? written.items : `{{ ${ref} }}`;
  const config: JsonObject = {
    ...omitUndefined({ items, concurrency: written.concurrency }),
    onError: step.continueOnError ? 'continue' : 'fail',
  };
  const listed: Reference[] = [];
  const behaviour = tryOrReport(pointer, report, () =>
    forEach.plan(config, parser(pointer, listed), { stepType: 'forEach', config }),
  );
  if (behaviour === undefined) return undefined;
  stepReferences.push(...listed);
  const { rollback: _inner, preset, outputVariable, ...rest } = step;
  return {
    ...rest,
    kind: forEach,
    behaviour: items === undefined ? behaviour : skippingOnSkippedSource(behaviour, items, listed),
    ports: forEach.ports({ stepType: 'forEach' }),
    next: { item: iteratedStepName(slug) },
    branches: ['item'],
    config,
    ...omitUndefined({ preset, outputVariable }),
  };
}

/** A step that iterates over a skipped step's output is skipped too, since that output is null and not a list. */
function skippingOnSkippedSource(behaviour: Behaviour, items: Json, listed: readonly Reference[]): Behaviour {
  const skips = listed.flatMap(({ root, path: [slug] }) =>
    root === 'steps' && typeof slug === 'string' ? [wasSkipped(slug)] : [],
  );
  if (skips.length === 0) return behaviour;
  const list = parseTemplate(items);
  return {
    ...behaviour,
    begin: (visit) =>
      skips.some((skipped) => visit.test(skipped)) && visit.render(list) === null
        ? { do: 'skip' }
        : behaviour.begin(visit),
  };
}

function wasSkipped(slug: string): Expression {
  const output = `steps['${slug}'].output`;
  return parseExpression(`${output}.meta.skipped == true && ${output}.data == null`);
}

/** Whether the run ends with this step. A skipped step does not end it. */
function bailOf(
  slug: string,
  written: true | NonNullable<Definition['steps'][string]['when']>,
  read: Reference[],
  report: Report,
): DagNode['bail'] {
  const bail = written === true ? undefined : condition(written, `/steps/${slug}/bail`, report);
  if (written !== true && bail === undefined) return undefined;
  // The step's own output is not a dependency: bail reads it after the step has ended.
  for (const reference of bail === undefined ? [] : references(bail.ref))
    if (reference.path[0] !== slug) read.push(reference);
  const skipped = wasSkipped(slug);
  return (visit) =>
    !visit.test(skipped) && (bail === undefined || matchesComparison(visit.evaluate(bail.ref), bail.compare));
}
