/**
 * `flow: dag` (LANGUAGE.md §8) has dependencies instead of ports: a step depends on the steps that it
 * reads. The graph is one internal container. Every step is a frame of it, which opens when all its dependencies have
 * ended. The modifier `forEach` becomes the kind forEach around the step.
 */
import { z } from 'zod';
import type { Definition, Problem } from '../../definition/document/types.ts';
import { type Expression, parseExpression } from '../../template/expression.ts';
import type { Reference } from '../../template/types.ts';
import { CHUNK_STEPS, type Chunks } from '../chunks.ts';
import type { Behaviour, FrameSpec, StepContext, StepKind } from '../kind.ts';

export const DAG_STEP = '$dag';

/** The name of a step under a forEach modifier in the program. Everywhere else it has its slug. */
export function iteratedStepName(slug: string): string {
  return `${slug}$item`;
}

export interface DagNode {
  readonly slug: string;
  readonly references: readonly Reference[];
  readonly dependsOn: readonly string[];
  readonly bail?: (visit: StepContext) => boolean;
}

type DagState = {
  /** Steps that have not ended. */
  remaining: number;
  /** By step that has not begun: how many of its dependencies have not ended. */
  readonly openDependencies: { [slug: string]: number };
};

/** The kind that walks the graph. It is not in the table of kinds, since no document can name it. */
export const dagKind: StepKind<DagState> = {
  type: 'dag',
  class: 'container',
  scope: 'branches',
  summary: 'The graph of a definition with flow: dag.',
  description: 'Opened by the core. No document names it.',
  example: { stepType: 'dag' },
  output: 'The output of the only terminal step, else `{slug: output}` of all of them.',
  schema: () => z.never(),
  ports: () => ({ normal: null, names: [], body: 'any' }),
  plan() {
    throw new Error('The graph is planned from its steps.');
  },
};

export function* dagBehaviour(
  nodes: readonly DagNode[],
): Chunks<{ behaviour: Behaviour<DagState> } | { problems: Problem[] }> {
  const known = new Map(nodes.map((node) => [node.slug, node]));
  const dependencies = new Map(nodes.map((node) => [node.slug, dependenciesOf(node, known)]));
  const cycle = findCycle(dependencies);
  if (cycle !== undefined)
    return {
      problems: [
        {
          pointer: `/steps/${cycle[0]}`,
          code: 'circular_dependency',
          message: `Circular dependency detected: ${cycle.join(' -> ')}`,
        },
      ],
    };
  const dependents = new Map<string, string[]>(nodes.map((node) => [node.slug, []]));
  for (const [slug, dependsOn] of dependencies) for (const other of dependsOn) dependents.get(other)!.push(slug);
  const terminals = nodes.filter((node) => dependents.get(node.slug)!.length === 0).map((node) => node.slug);
  const data = new Map<string, Expression>();
  for (const [n, slug] of terminals.entries()) {
    if (n % CHUNK_STEPS === 0) yield;
    data.set(slug, parseExpression(`steps['${slug}'].output.data`));
  }
  const frame = (slug: string): FrameSpec => ({ name: slug, port: slug, flat: true });

  const behaviour: Behaviour<DagState> = {
    begin: () => ({
      do: 'suspend',
      state: {
        remaining: nodes.length,
        openDependencies: Object.fromEntries(
          [...dependencies]
            .filter(([, dependsOn]) => dependsOn.size > 0)
            .map(([slug, dependsOn]) => [slug, dependsOn.size]),
        ),
      },
      frames: nodes.filter(({ slug }) => dependencies.get(slug)!.size === 0).map(({ slug }) => frame(slug)),
    }),
    resume(visit, event) {
      if (event.on !== 'frame') return { do: 'ignore' };
      if (!event.ended) return { do: 'fail', error: event.error };
      const bail = known.get(event.name)?.bail;
      if (bail?.(visit) === true) return { do: 'finish', output: event.data };
      const { state } = visit;
      if (--state.remaining === 0) return { do: 'finish', output: outputOf(visit) };
      const { openDependencies } = state;
      const ready: FrameSpec[] = [];
      for (const slug of dependents.get(event.name) ?? []) {
        const remaining = openDependencies[slug]! - 1;
        if (remaining > 0) openDependencies[slug] = remaining;
        else {
          delete openDependencies[slug];
          ready.push(frame(slug));
        }
      }
      return { do: 'suspend', state, cancel: [event.name], frames: ready };
    },
  };
  const outputOf = (visit: StepContext) => {
    const evaluateOutput = (slug: string) => visit.evaluate(data.get(slug)!) ?? null;
    return terminals.length === 1
      ? evaluateOutput(terminals[0]!)
      : Object.fromEntries(terminals.map((slug) => [slug, evaluateOutput(slug)]));
  };
  return { behaviour };
}

/**
 * The dependencies of a step: those it reads and those it names. The checker reports unknown names.
 */
function dependenciesOf(node: DagNode, known: ReadonlyMap<string, DagNode>): Set<string> {
  const on = new Set<string>();
  for (const { root, path } of node.references) {
    const slug = path[0];
    if (root === 'steps' && typeof slug === 'string' && known.has(slug)) on.add(slug);
  }
  for (const slug of node.dependsOn) if (known.has(slug)) on.add(slug);
  return on;
}

/** A cycle as `[a, b, a]`. The search does not recurse, since a graph may be 10,000 steps deep. */
function findCycle(dependencies: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const done = new Set<string>();
  for (const start of dependencies.keys()) {
    if (done.has(start)) continue;
    const path: string[] = [];
    const onPath = new Set<string>();
    const stack: { slug: string; rest: Iterator<string> }[] = [];
    const enter = (slug: string): void => {
      path.push(slug);
      onPath.add(slug);
      stack.push({ slug, rest: dependencies.get(slug)!.values() });
    };
    enter(start);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const next = top.rest.next();
      if (next.done === true) {
        stack.pop();
        path.pop();
        onPath.delete(top.slug);
        done.add(top.slug);
      } else if (onPath.has(next.value)) return [...path.slice(path.indexOf(next.value)), next.value];
      else if (!done.has(next.value)) enter(next.value);
    }
  }
  return undefined;
}

/** The problems of members that a dag must not have. */
export function dagMisuse(definition: Definition, containerOf: (stepType: string) => boolean): Problem[] {
  const problems: Problem[] = [];
  for (const [slug, step] of Object.entries(definition.steps)) {
    if (step.nextSteps !== undefined && Object.keys(step.nextSteps).length > 0)
      problems.push({
        pointer: `/steps/${slug}/nextSteps`,
        code: 'ports_in_dag',
        message: 'With flow: dag there are no ports: a step follows the steps that it reads, and those in dependsOn.',
      });
    if (containerOf(step.stepType))
      problems.push({
        pointer: `/steps/${slug}/stepType`,
        code: 'container_in_dag',
        message: `With flow: dag a '${step.stepType}' has no body; use the modifiers forEach and when.`,
      });
    for (const [i, other] of (step.dependsOn ?? []).entries())
      if (!Object.hasOwn(definition.steps, other))
        problems.push({
          pointer: `/steps/${slug}/dependsOn/${i}`,
          code: 'unknown_step',
          message: `'${other}' is no step of this definition.`,
        });
  }
  return problems;
}
