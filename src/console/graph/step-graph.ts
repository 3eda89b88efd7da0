/** The edges between the steps of a definition, before the layout: each with its label. */

/** A step to draw, as `GET /api/executions/:id/graph` answers it. */
export interface GraphStep {
  readonly id: string;
  readonly name: string;
  readonly stepType: string;
  readonly kind: string;
  readonly class: 'pure' | 'effect' | 'wait' | 'container' | 'end';
  readonly container?: string | undefined;
  readonly branch?: string | undefined;
  readonly ports: readonly string[];
}

export interface GraphInput {
  readonly flow: 'ports' | 'dag';
  readonly start?: string | undefined;
  readonly nodes: readonly GraphStep[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly port?: string | undefined }[];
}

/** The width of a text in a label, in pixels. */
export type MeasureText = (text: string) => number;

export const END = '$end';
/** Containers whose bodies repeat: they have an iteration strip, and steps inside may have several visits. */
export const REPEATING_KINDS: ReadonlySet<string> = new Set(['loop', 'forEach']);

/**
 * All ports that lead from one step to the same target. `entry`: from a container into its body. `end`: to the end of
 * the run. `away`: to a step that no line can reach, in drafts with problems. `stub`: a port that is not wired.
 */
export interface Edge {
  readonly kind: 'line' | 'entry' | 'end' | 'away' | 'stub';
  readonly from: string;
  readonly to: string;
  readonly ports: readonly string[];
  /** Empty if the line needs no label. */
  readonly label: string;
  /** In pixels, with room for a count if the edge is repeated. 0 without both. */
  readonly labelWidth: number;
  /** It can be taken more than once. */
  readonly isRepeated: boolean;
}

const UNLABELED_PORTS: ReadonlySet<string> = new Set(['success']);
/** Ports of nearly every kind: their stubs are not named. */
const COMMON_PORTS: ReadonlySet<string> = new Set(['success', 'error', 'skipped']);
const MAX_LABEL_WIDTH = 150;
const LABEL_PAD = 10;
const COUNT_WIDTH = 38;

export class StepGraph {
  readonly steps: ReadonlyMap<string, GraphStep>;
  /** The steps in each container's body, by the container; '' is the root. In the order of the definition. */
  readonly members: ReadonlyMap<string, readonly string[]>;
  /** By the step that they leave. */
  readonly edgesFrom: ReadonlyMap<string, readonly Edge[]>;

  constructor(graph: GraphInput, measure: MeasureText) {
    const drawn = graph.nodes.filter(({ id }) => id !== END);
    this.steps = new Map(drawn.map((step) => [step.id, step]));
    const members = new Map<string, string[]>([['', []]]);
    for (const { id } of drawn) pushTo(members, this.containerOf(id), id);
    this.members = members;
    const cyclic = cyclicSteps(graph, (id) => this.containerOf(id));
    const from = new Map<string, Edge[]>();
    const isRepeated = (id: string): boolean =>
      this.#isIn(id, (around) => cyclic.has(around) || this.isRepeating(around));
    const add = (kind: Edge['kind'], step: string, to: string, ports: readonly string[]): void => {
      const repeated = kind !== 'stub' && (isRepeated(step) || this.isRepeating(step));
      pushTo(from, step, { kind, from: step, to, ports, ...labelOf(kind, ports, to, repeated, measure) });
    };
    for (const [step, targets] of portsByTarget(graph)) {
      if (!this.steps.has(step)) continue;
      for (const [to, ports] of targets) {
        if (to === END) add('end', step, to, ports);
        else if (this.steps.has(to)) add(this.#kindOf(step, to), step, to, ports);
      }
    }
    if (graph.flow === 'ports')
      for (const { id, ports } of drawn) {
        const wired = new Set((from.get(id) ?? []).flatMap((edge) => edge.ports));
        for (const port of ports) if (!wired.has(port) && port !== 'success') add('stub', id, '', [port]);
      }
    this.edgesFrom = from;
  }

  /** The container whose body holds the step; '' at the root. A cycle of containers ends at the root. */
  containerOf(id: string): string {
    const { container = '' } = this.steps.get(id) ?? {};
    return container !== id && this.steps.has(container) ? container : '';
  }

  isRepeating(id: string): boolean {
    return REPEATING_KINDS.has(this.steps.get(id)?.kind ?? '');
  }

  #kindOf(from: string, to: string): Edge['kind'] {
    const target = this.containerOf(to);
    if (target === from && from !== to) return 'entry';
    return this.#isIn(from, (around) => target === this.containerOf(around) || around === to) || target === ''
      ? 'line'
      : 'away';
  }

  /** Whether `holds` is true for the step or for a container around it. */
  #isIn(id: string, holds: (id: string) => boolean): boolean {
    for (let at = id, n = 0; at !== '' && n <= this.steps.size; at = this.containerOf(at), n++)
      if (holds(at)) return true;
    return false;
  }
}

export function pushTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** From step to target to ports, in the order of the edges. */
function portsByTarget({ edges }: GraphInput): Map<string, Map<string, string[]>> {
  const steps = new Map<string, Map<string, string[]>>();
  for (const { from, to, port } of edges) {
    const targets = steps.get(from) ?? new Map<string, string[]>();
    steps.set(from, targets);
    const ports = targets.get(to) ?? [];
    targets.set(to, ports);
    if (port !== undefined) ports.push(port);
  }
  return steps;
}

/** The steps on a cycle outside of containers' bodies, such as a paging loop. */
function cyclicSteps({ nodes, edges }: GraphInput, containerOf: (id: string) => string): ReadonlySet<string> {
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) if (containerOf(from) === containerOf(to)) pushTo(next, from, to);
  // Tarjan's components, without recursion.
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const cyclic = new Set<string>();
  const enter = (id: string): void => {
    index.set(id, index.size);
    low.set(id, index.get(id)!);
    open.push(id);
    isOpen.add(id);
  };
  for (const { id: root } of nodes) {
    if (index.has(root)) continue;
    const path = [{ id: root, at: 0 }];
    enter(root);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { id } = top;
      const to = next.get(id)?.[top.at++];
      if (to !== undefined) {
        if (to === id) cyclic.add(id);
        if (!index.has(to)) {
          enter(to);
          path.push({ id: to, at: 0 });
        } else if (isOpen.has(to)) low.set(id, Math.min(low.get(id)!, index.get(to)!));
        continue;
      }
      path.pop();
      const above = path.at(-1)?.id;
      if (above !== undefined) low.set(above, Math.min(low.get(above)!, low.get(id)!));
      if (low.get(id) !== index.get(id)) continue;
      const component = open.splice(open.lastIndexOf(id));
      for (const one of component) isOpen.delete(one);
      if (component.length > 1) for (const one of component) cyclic.add(one);
    }
  }
  return cyclic;
}

function labelOf(
  kind: Edge['kind'],
  ports: readonly string[],
  to: string,
  isRepeated: boolean,
  measure: MeasureText,
): Pick<Edge, 'label' | 'labelWidth' | 'isRepeated'> {
  const named = ports.filter((port) => !(kind === 'stub' ? COMMON_PORTS : UNLABELED_PORTS).has(port)).join(', ');
  const mark = kind === 'end' ? '■ end' : kind === 'away' ? `→ ${to}` : '';
  const label = truncateText([named, mark].filter((part) => part !== '').join(' '), measure);
  const text = label === '' ? 0 : Math.ceil(measure(label)) + LABEL_PAD;
  return { label, labelWidth: text + (isRepeated ? COUNT_WIDTH : 0), isRepeated };
}

function truncateText(text: string, measure: MeasureText): string {
  if (measure(text) <= MAX_LABEL_WIDTH) return text;
  let length = Math.min(text.length, MAX_LABEL_WIDTH);
  while (length > 1 && measure(`${text.slice(0, length)}…`) > MAX_LABEL_WIDTH) length--;
  return `${text.slice(0, length)}…`;
}
