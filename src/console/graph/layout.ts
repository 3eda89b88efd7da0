/**
 * The layout of a definition: where its steps are. Each region is laid out alone (ranks.ts), from the inside out: a
 * container is one box of the region around it, and branches that share no step are side by side.
 *
 * Between two rows is a gap. From top to bottom it has a band for the labels of the row above, one for back edges that
 * leave that row, one in which edges change their column, and one for back edges that enter the row below. So no line
 * passes through a step, and no label overlaps another.
 *
 * Not a library: dagre draws no containers with branches side by side, and ELK is larger than the whole console.
 */
import { type Arc, isotonicRegression, type RankedRegion, rankRegion, type Size } from './ranks.ts';
import { type Edge, type GraphInput, type MeasureText, pushTo, REPEATING_KINDS, StepGraph } from './step-graph.ts';

const STEP_SIZE = { w: 216, h: 62 } as const;
/** A container's head: its button, and its strip. */
export const HEAD_HEIGHT = 62;
export const MARGIN = 48;
const PADDING = 16;
const MIN_REPEATED_WIDTH = 484;
const BRANCH_NAME_HEIGHT = 20;
const ENTRY_HEIGHT = 34;
const FOOT_HEIGHT = 26;
const END_LINES_HEIGHT = 14;
const LABELS_HEIGHT = 22;
const CURVES_HEIGHT = 34;
/** Below the foot of a container: the band in which the lines that leave it change their column. */
const EXIT_LINES_HEIGHT = 30;
const BACK_EDGE_GAP = 7;
const BACK_LANE_WIDTH = 12;
const MIN_EXIT_WIDTH = 16;

/** Pixels. Of a container: its box, in which its head is at the top. */
export interface StepBox extends Size {
  readonly x: number;
  readonly y: number;
  readonly isContainer: boolean;
}

/** A part of a container's body: all of it, or one branch. */
export interface Body extends Size {
  readonly x: number;
  readonly y: number;
  readonly container: string;
  readonly branch?: string;
}

/** Where an edge leaves a step: the x at its foot. Edges of inner steps that leave a container also leave its foot. */
interface Exit {
  readonly edge: Edge;
  readonly x: number;
  readonly isFromInside: boolean;
}

/** The rows of a region. All y are absolute; x of `ranked` are relative to `x`. */
export interface Region {
  readonly container: string;
  readonly ranked: RankedRegion;
  readonly x: number;
  /** Where the gap above the first row begins: the foot of the container's head. */
  readonly top: number;
  /** Where its lines to the foot end. */
  readonly bottom: number;
  readonly rowTops: readonly number[];
  readonly rowBottoms: readonly number[];
  /** Lines change their column below a row between these. */
  readonly curveTops: readonly number[];
  readonly curveBottoms: readonly number[];
  readonly backs: readonly BackEdge[];
}

/** A back edge: below the row of its source to a lane at the right, and up to above its target. All y are absolute. */
export interface BackEdge {
  readonly from: string;
  readonly to: string;
  readonly outY: number;
  readonly lane: number;
  readonly inY: number;
  readonly inX: number;
}

export interface Layout {
  readonly stepGraph: StepGraph;
  readonly width: number;
  readonly height: number;
  readonly stepBoxes: ReadonlyMap<string, StepBox>;
  readonly bodies: readonly Body[];
  /** The region of each step. */
  readonly regionOf: ReadonlyMap<string, Region>;
  readonly exits: ReadonlyMap<string, readonly Exit[]>;
}

/** The part of an edge in one region. Its target is a member, or beyond the foot: the container or a step outside. */
interface Leg extends Arc {
  readonly edge: Edge;
}

interface RegionDraft {
  readonly container: string;
  readonly branch: string | undefined;
  readonly members: readonly string[];
  readonly ranked: RankedRegion;
  readonly legs: readonly Leg[];
  readonly backs: readonly BackEdgeDraft[];
  readonly outs: readonly number[];
  readonly ins: readonly number[];
  readonly width: number;
  readonly height: number;
  x: number;
}

interface BackEdgeDraft {
  readonly from: string;
  readonly to: string;
  readonly out: number;
  readonly in: number;
  readonly lane: number;
}

export const footNodeOf = (target: string): string => `\n${target}`;

/** `measure`: the width of a text in a label. */
export function layoutGraph(graph: GraphInput, measure: MeasureText): Layout {
  return new Layouter(graph, new StepGraph(graph, measure)).layout();
}

class Layouter {
  readonly #graph: GraphInput;
  readonly #stepGraph: StepGraph;
  readonly #legs = new Map<string, Leg[]>();
  readonly #legsOf = new Map<string, Leg[]>();
  readonly #sizes = new Map<string, Size>();
  readonly #drafts = new Map<string, RegionDraft[]>();
  readonly #places = new Map<string, StepBox>();
  readonly #bodies: Body[] = [];
  readonly #regionOf = new Map<string, Region>();
  readonly #exits = new Map<string, Exit[]>();

  constructor(graph: GraphInput, stepGraph: StepGraph) {
    this.#graph = graph;
    this.#stepGraph = stepGraph;
    for (const list of stepGraph.edgesFrom.values())
      for (const edge of list) {
        if (edge.kind !== 'line') continue;
        for (const [container, leg] of legsOf(stepGraph, edge)) {
          pushTo(this.#legs, container, leg);
          pushTo(this.#legsOf, leg.from, leg);
        }
      }
  }

  layout(): Layout {
    const { start } = this.#graph;
    const members = this.#stepGraph.members.get('')!;
    for (const id of members) this.#measure(id);
    const root = this.#region('', undefined, members, start === undefined ? [] : [start]);
    this.#drafts.set('', [root]);
    this.#put(root, 0, 0);
    return {
      stepGraph: this.#stepGraph,
      width: Math.max(root.width, STEP_SIZE.w),
      height: root.height,
      stepBoxes: this.#places,
      bodies: this.#bodies,
      regionOf: this.#regionOf,
      exits: this.#exits,
    };
  }

  /** Sets the size of a step; of a container with its body. */
  #measure(id: string): void {
    const exits = this.#exitWidths(id).reduce((sum, width) => sum + width, 0) + PADDING;
    const members = this.#stepGraph.members.get(id);
    if (members === undefined) {
      this.#sizes.set(id, { w: Math.max(STEP_SIZE.w, exits), h: STEP_SIZE.h });
      return;
    }
    for (const member of members) this.#measure(member);
    const drafts = this.#parts(id, members).map(([branch, ids]) => {
      const entries = this.#entriesOf(id).filter((to) => ids.includes(to));
      return this.#region(id, branch, ids, entries);
    });
    this.#drafts.set(id, drafts);
    const minWidth = REPEATING_KINDS.has(this.#stepGraph.steps.get(id)!.kind)
      ? MIN_REPEATED_WIDTH
      : STEP_SIZE.w + 2 * PADDING;
    const inner = drafts.reduce((sum, { width }) => sum + width + 2 * PADDING, 0);
    const w = Math.max(minWidth, exits, inner);
    let x = (w - inner) / 2;
    for (const draft of drafts) {
      draft.x = x + PADDING;
      x += draft.width + 2 * PADDING;
    }
    this.#sizes.set(id, {
      w,
      h: HEAD_HEIGHT + this.#namesHeight(id) + bodyHeight(drafts) + FOOT_HEIGHT + this.#leaving(id),
    });
  }

  /** Branches that share no step, each alone; otherwise the whole body. */
  #parts(id: string, members: readonly string[]): (readonly [string | undefined, readonly string[]])[] {
    const byBranch = new Map<string, string[]>();
    for (const edge of this.#stepGraph.edgesFrom.get(id) ?? [])
      if (edge.kind === 'entry') for (const port of edge.ports) byBranch.set(port, []);
    for (const member of members) {
      const { branch } = this.#stepGraph.steps.get(member)!;
      if (branch === undefined) return [[undefined, members]];
      pushTo(byBranch, branch, member);
    }
    return [...byBranch].filter(([, ids]) => ids.length > 0);
  }

  #entriesOf(id: string): string[] {
    return (this.#stepGraph.edgesFrom.get(id) ?? []).filter(({ kind }) => kind === 'entry').map(({ to }) => to);
  }

  #isNamed(id: string): boolean {
    return !this.#stepGraph.isRepeating(id);
  }

  #namesHeight(id: string): number {
    return this.#isNamed(id) ? BRANCH_NAME_HEIGHT : 0;
  }

  #leaving(id: string): number {
    return (this.#legsOf.get(id) ?? []).some(({ edge }) => edge.from !== id) ? EXIT_LINES_HEIGHT : 0;
  }

  #exitEdges(id: string): { edge: Edge; isFromInside: boolean }[] {
    const own = (this.#stepGraph.edgesFrom.get(id) ?? []).filter(({ kind }) => kind !== 'entry');
    const fromInside = (this.#legsOf.get(id) ?? []).filter(({ edge }) => edge.from !== id);
    return [
      ...own.map((edge) => ({ edge, isFromInside: false })),
      ...fromInside.map(({ edge }) => ({ edge, isFromInside: true })),
    ];
  }

  #exitWidths(id: string): number[] {
    return this.#exitEdges(id).map(exitWidth);
  }

  #region(
    container: string,
    branch: string | undefined,
    members: readonly string[],
    entries: readonly string[],
  ): RegionDraft {
    const inside = new Set(members);
    const legs = (this.#legs.get(container) ?? []).filter(({ from }) => inside.has(from));
    const ranked = rankRegion(members, legs, entries, (id) => this.#sizes.get(id)!);
    const { rows, rankOf, rightEnds } = ranked;
    const outs = rows.map(() => 0);
    const ins = rows.map(() => 0);
    const backs: BackEdgeDraft[] = [];
    const taken: { lane: number; top: number; bottom: number }[] = [];
    let width = ranked.width;
    for (const { from, to } of legs) {
      if (!inside.has(to) || !(ranked.isBackArc(from, to) || from === to)) continue;
      const top = rankOf.get(to)!;
      const bottom = rankOf.get(from)!;
      let lane = rightEnds.slice(top, bottom + 1).reduce((most, right) => Math.max(most, right), 0) + BACK_LANE_WIDTH;
      const near = taken.filter((other) => other.top <= bottom && other.bottom >= top);
      for (const other of near.sort((a, b) => a.lane - b.lane))
        if (Math.abs(other.lane - lane) < BACK_LANE_WIDTH) lane = other.lane + BACK_LANE_WIDTH;
      taken.push({ lane, top, bottom });
      width = Math.max(width, lane + BACK_LANE_WIDTH);
      backs.push({ from, to, out: outs[bottom]!++, in: ins[top]!++, lane });
    }
    const rowsHeight = rows.reduce(
      (sum, { height }, at) => sum + height + LABELS_HEIGHT + BACK_EDGE_GAP * outs[at]! + BACK_EDGE_GAP * ins[at]!,
      0,
    );
    // Lines that end at the foot of a container are visible below their labels.
    const ends = container === '' ? 0 : END_LINES_HEIGHT;
    const height = rowsHeight + CURVES_HEIGHT * Math.max(0, rows.length - 1) + ends;
    return { container, branch, members, ranked, legs, backs, outs, ins, width, height, x: 0 };
  }

  /** `top`: where the gap above its first row begins. */
  #put(draft: RegionDraft, x: number, top: number, bottom?: number): void {
    const { ranked, container, outs, ins, members } = draft;
    const rowTops: number[] = [];
    const rowBottoms: number[] = [];
    const curveTops: number[] = [];
    const curveBottoms: number[] = [];
    let y = container === '' ? top : top + ENTRY_HEIGHT;
    for (const [at, { height }] of ranked.rows.entries()) {
      y += BACK_EDGE_GAP * ins[at]!;
      rowTops.push(y);
      rowBottoms.push(y + height);
      y += height + LABELS_HEIGHT + BACK_EDGE_GAP * outs[at]!;
      curveTops.push(y);
      y += CURVES_HEIGHT;
      curveBottoms.push(y - 10);
    }
    const end = bottom ?? y - CURVES_HEIGHT;
    for (const id of members) {
      const { w, h } = this.#sizes.get(id)!;
      const at = rowTops[ranked.rankOf.get(id)!]!;
      this.#places.set(id, {
        x: x + ranked.centreOf.get(id)! - w / 2,
        y: at,
        w,
        h,
        isContainer: this.#stepGraph.members.has(id),
      });
    }
    const inCount = new Map<string, number>();
    const backs = draft.backs.map((back): BackEdge => {
      const place = this.#places.get(back.to)!;
      const n = (inCount.get(back.to) ?? 0) + 1;
      inCount.set(back.to, n);
      return {
        from: back.from,
        to: back.to,
        outY: rowBottoms[ranked.rankOf.get(back.from)!]! + LABELS_HEIGHT + BACK_EDGE_GAP * back.out,
        lane: x + back.lane,
        inY: rowTops[ranked.rankOf.get(back.to)!]! - 10 - BACK_EDGE_GAP * back.in,
        inX: place.x + place.w / 2 + Math.min(place.w / 2 - 12, 14 + 10 * n),
      };
    });
    const region: Region = {
      container,
      ranked,
      x,
      top,
      bottom: end,
      rowTops,
      rowBottoms,
      curveTops,
      curveBottoms,
      backs,
    };
    for (const id of members) this.#regionOf.set(id, region);
    for (const id of members) {
      this.#exits.set(id, this.#exitsOf(id, region));
      if (this.#stepGraph.members.has(id)) this.#putBody(id);
    }
  }

  #putBody(id: string): void {
    const place = this.#places.get(id)!;
    const drafts = this.#drafts.get(id) ?? [];
    const top = place.y + HEAD_HEIGHT + this.#namesHeight(id);
    const height = bodyHeight(drafts);
    for (const draft of drafts) {
      const { branch } = draft;
      const x = place.x + draft.x;
      const body = { container: id, x: x - PADDING / 2, y: top - 4, w: draft.width + PADDING, h: height + 8 };
      this.#bodies.push(branch === undefined || !this.#isNamed(id) ? body : { ...body, branch });
      this.#put(draft, x, top, top + height);
    }
  }

  /** Each edge leaves the step as near as possible to the x of its target. */
  #exitsOf(id: string, region: Region): Exit[] {
    const place = this.#places.get(id)!;
    const legs = new Map((this.#legsOf.get(id) ?? []).map((leg) => [leg.edge, leg]));
    const exits = this.#exitEdges(id).map((exit, n) => ({
      ...exit,
      width: exitWidth(exit),
      want: targetX(legs.get(exit.edge), region, place) + n * 1e-6,
    }));
    exits.sort((a, b) => a.want - b.want);
    const slack = place.w - PADDING - exits.reduce((sum, { width }) => sum + width, 0);
    let before = place.x + PADDING / 2;
    const offsets = exits.map(({ width }) => {
      before += width;
      return before - width / 2;
    });
    const moved = isotonicRegression(exits.map(({ want }, n) => ({ value: want - offsets[n]!, weight: 1 })));
    return exits.map(({ edge, isFromInside }, n) => ({
      edge,
      isFromInside,
      x: offsets[n]! + Math.min(Math.max(moved[n]!, 0), Math.max(slack, 0)),
    }));
  }
}

function exitWidth({ edge, isFromInside }: { edge: Edge; isFromInside: boolean }): number {
  return isFromInside ? MIN_EXIT_WIDTH : Math.max(MIN_EXIT_WIDTH, edge.labelWidth + 6);
}

const bodyHeight = (drafts: readonly RegionDraft[]): number =>
  ENTRY_HEIGHT + drafts.reduce((most, { height }) => Math.max(most, height), 0);

/** The x of the target of an edge. */
function targetX(leg: Leg | undefined, { ranked, x }: Region, place: StepBox): number {
  const centre = place.x + place.w / 2;
  if (leg === undefined) return place.x + place.w;
  const { from, to } = leg;
  const target = ranked.rankOf.get(to);
  if (target !== undefined && (from === to || ranked.isBackArc(from, to))) return place.x + place.w;
  const next = ranked.rankOf.get(from)! + 1;
  const lane = ranked.lanes.get(to);
  if (lane !== undefined && next < (target ?? ranked.rows.length)) return x + lane.xs[next - lane.first]!;
  return target === undefined ? centre : x + ranked.centreOf.get(to)!;
}

/** The legs of an edge by region, from the inside out. */
export function legsOf(stepGraph: StepGraph, edge: Edge): [container: string, Leg][] {
  const legs: [string, Leg][] = [];
  const target = stepGraph.containerOf(edge.to);
  for (let from = edge.from; ; ) {
    const around = stepGraph.containerOf(from);
    if (around === target) legs.push([around, { edge, from, to: edge.to }]);
    else legs.push([around, { edge, from, to: footNodeOf(edge.to) }]);
    if (around === target || around === edge.to || around === '') return legs;
    from = around;
  }
}
