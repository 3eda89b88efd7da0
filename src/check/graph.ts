/** A definition as a graph for drawing: steps as nodes, each with its container and its ports, and edges. */
import type { Definition, Problem, StepDefinition } from '../definition/document/types.ts';
import { isObject, type Json, type JsonObject } from '../json/json.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { compile } from '../steps/compile/program.ts';
import type { KindClass } from '../steps/kind.ts';
import { COMMON_PORTS, END_TARGET } from '../steps/ports.ts';
import { type Analysis, analyze, bodyPorts, type CheckedStep } from './analysis.ts';

/** The kind of a step whose type is not known. */
const UNKNOWN_KIND = 'unknown';

interface GraphNode {
  readonly id: string;
  readonly name: string;
  /** As written in the definition. */
  readonly stepType: string;
  /** The kind that the step type means; `$end`; `unknown` in a draft. */
  readonly kind: string;
  /** `$end`, which ends the run, has the class `end`. */
  readonly class: KindClass;
  /** The container whose body the step is in, and the body port that leads to it if it is exactly one. */
  readonly container?: string;
  readonly branch?: string;
  /** Of a container: the wired ports that lead into its body. */
  readonly branches?: readonly string[];
  /** Every port by which the step can be left, wired or not; those into the body first. */
  readonly ports: readonly string[];
}

interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** Absent in flow: dag, where an edge is a dependency. */
  readonly port?: string;
}

export interface Graph {
  readonly flow: 'ports' | 'dag';
  /** The step where the run begins; absent in flow: dag. */
  readonly start?: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** The graph, or the reasons why the definition cannot be walked. */
export function graphOf(definition: Definition): { graph: Graph } | { problems: Problem[] } {
  const result = compile(definition);
  if ('problems' in result) return result;
  const { program } = result;
  return { graph: buildGraph(analyze(program.definition, program.regions)) };
}

/**
 * The graph of a document that may have any problem: steps of unknown kinds are nodes, edges that lead nowhere are left
 * out. Never throws. `document`: in canonical form (toCanonical).
 */
export function draftGraphOf(document: JsonObject): Graph {
  return buildGraph(analyze(drawableDefinition(document)));
}

function buildGraph(analysis: Analysis): Graph {
  const { isDag, start, steps } = analysis;
  const edges = isDag ? dependencies(analysis) : portEdges(analysis);
  const nodes = [...steps.values()].map((step) => nodeOf(analysis, step));
  const ends = edges.some(({ to }) => to === END_TARGET);
  const end: GraphNode = {
    id: END_TARGET,
    name: 'End',
    stepType: END_TARGET,
    kind: END_TARGET,
    class: 'end',
    ports: [],
  };
  return {
    flow: isDag ? 'dag' : 'ports',
    ...(isDag || start === undefined || !steps.has(start) ? {} : { start }),
    nodes: ends ? [...nodes, end] : nodes,
    edges,
  };
}

function nodeOf({ isDag, regions }: Analysis, step: CheckedStep): GraphNode {
  const { slug, written, kind } = step;
  const container = isDag ? undefined : regions.containerOf.get(slug);
  const containerBranches = container === undefined ? undefined : regions.regions.get(container)?.branches;
  const containingPorts = [...(containerBranches ?? [])].filter(([, steps]) => steps.has(slug)).map(([port]) => port);
  const [branch] = containingPorts;
  const branches = bodyPorts(step);
  return {
    id: slug,
    name: written.name ?? slug,
    stepType: written.stepType,
    kind: kind?.type ?? UNKNOWN_KIND,
    class: kind?.class ?? 'pure',
    ...omitUndefined({ container }),
    ...(branch === undefined || containingPorts.length > 1 ? {} : { branch }),
    ...(kind?.class === 'container' ? { branches } : {}),
    ports: isDag ? [] : portsOf(step, branches),
  };
}

function portsOf({ kind, ports, written }: CheckedStep, branches: readonly string[]): string[] {
  const own = ports.names.filter((port) => ports.ruledOut?.includes(port) !== true);
  const common = kind === undefined ? [] : kind.class === 'end' ? [] : COMMON_PORTS;
  // `skipped` is taken by a step with `when`; without a port of that name it leaves by its normal one.
  const possible = [...common].filter((port) => port !== 'skipped' || written.when !== undefined);
  return [...new Set([...branches, ...own, ...possible, ...Object.keys(written.nextSteps ?? {})])];
}

function portEdges({ steps }: Analysis): GraphEdge[] {
  return [...steps.values()].flatMap(({ slug, written }) =>
    Object.entries(written.nextSteps ?? {})
      .filter(([, to]) => to === END_TARGET || steps.has(to))
      .map(([port, to]) => ({ from: slug, to, port })),
  );
}

/** A step depends on the steps that it reads and on those in `dependsOn` (LANGUAGE.md §8). */
function dependencies({ steps, expressionSites }: Analysis): GraphEdge[] {
  const dependenciesByStep = new Map([...steps].map(([slug, { written }]) => [slug, new Set(written.dependsOn)]));
  for (const { slug = '', references } of expressionSites)
    for (const { root, path } of references) if (root === 'steps') dependenciesByStep.get(slug)?.add(String(path[0]));
  return [...dependenciesByStep].flatMap(([to, all]) =>
    [...all].filter((from) => steps.has(from)).map((from) => ({ from, to })),
  );
}

/** What can be drawn of a document of any form. */
function drawableDefinition(document: JsonObject): Definition {
  const { slug, flow, start, steps } = document;
  const drawableSteps: { [slug: string]: StepDefinition } = {};
  for (const [name, written] of Object.entries(isObject(steps) ? steps : {}))
    if (isObject(written) && name !== '__proto__') drawableSteps[name] = drawableStep(written);
  return {
    name: '',
    slug: typeof slug === 'string' ? slug : '',
    ...(flow === 'dag' ? { flow } : {}),
    ...(typeof start === 'string' ? { start } : {}),
    steps: drawableSteps,
  };
}

function drawableStep({ stepType, name, config, nextSteps, dependsOn, when, forEach }: JsonObject): StepDefinition {
  const isText = (value: Json | undefined): value is string => typeof value === 'string';
  const next = Object.entries(isObject(nextSteps) ? nextSteps : {}).filter(([, to]) => isText(to));
  return {
    stepType: isText(stepType) ? stepType : '',
    ...(isText(name) ? { name } : {}),
    ...(isObject(config) ? { config } : {}),
    nextSteps: Object.fromEntries(next) as { [port: string]: string },
    ...(Array.isArray(dependsOn) ? { dependsOn: dependsOn.filter(isText) } : {}),
    ...(isText(when) ? { when } : {}),
    ...(isObject(forEach) && isText(forEach['items']) ? { forEach: { items: forEach['items'] } } : {}),
  };
}
