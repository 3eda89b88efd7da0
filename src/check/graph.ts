/** A definition as a graph for drawing: steps as nodes, each with its container, and edges. */
import type { Definition, Problem } from '../definition/document/types.ts';
import { compile } from '../steps/compile/program.ts';
import type { KindClass } from '../steps/kind.ts';
import { DAG_STEP } from '../steps/kinds/dag.ts';
import { END_TARGET } from '../steps/ports.ts';
import type { Program } from '../steps/program-types.ts';

export interface GraphNode {
  readonly id: string;
  readonly name: string;
  /** As written in the definition. */
  readonly stepType: string;
  /** `$end`, which ends the run, has the class `end`. */
  readonly class: KindClass;
  /** The container whose body the step is in, and the body port that leads to it if it is exactly one. */
  readonly container?: string;
  readonly branch?: string;
}

export interface GraphEdge {
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
  const isDag = program.start === DAG_STEP;
  const edges = isDag ? dependencies(program) : ports(program);
  const nodes = Object.keys(program.definition.steps).map((slug) => nodeOf(program, slug));
  const ends = edges.some(({ to }) => to === END_TARGET);
  const end: GraphNode = { id: END_TARGET, name: 'End', stepType: END_TARGET, class: 'end' };
  return {
    graph: {
      flow: isDag ? 'dag' : 'ports',
      ...(isDag ? {} : { start: program.start }),
      nodes: ends ? [...nodes, end] : nodes,
      edges,
    },
  };
}

function nodeOf(program: Program, slug: string): GraphNode {
  const { name, type, kind } = program.steps.get(slug)!;
  const container = program.regions.home.get(slug);
  const branches = container === undefined ? undefined : program.regions.regions.get(container)?.branches;
  const within = [...(branches ?? [])].filter(([, steps]) => steps.has(slug)).map(([port]) => port);
  const [branch] = within;
  return {
    id: slug,
    name,
    stepType: type,
    class: kind.class,
    ...(container === undefined || container === DAG_STEP ? {} : { container }),
    ...(branch === undefined || within.length > 1 || container === DAG_STEP ? {} : { branch }),
  };
}

function ports(program: Program): GraphEdge[] {
  return [...program.steps.values()].flatMap(({ slug, next }) =>
    Object.entries(next).map(([port, to]) => ({ from: slug, to, port })),
  );
}

/** A step depends on the steps that it reads and on those in `dependsOn` (LANGUAGE.md §8). */
function dependencies({ definition, steps }: Program): GraphEdge[] {
  return Object.entries(definition.steps).flatMap(([slug, written]) => {
    const on = new Set(written.dependsOn);
    for (const { root, path } of steps.get(slug)?.references ?? []) if (root === 'steps') on.add(String(path[0]));
    return [...on].filter((from) => Object.hasOwn(definition.steps, from)).map((from) => ({ from, to: slug }));
  });
}
