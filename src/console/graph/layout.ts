/**
 * Where the steps of a definition are drawn. The page scrolls down. Each region is laid out alone (ranks.ts), from the
 * inside out: a container is one box of the region around it, and branches that share no step stand side by side.
 *
 * Between two rows is a gap. From top to bottom it has a band for the labels of the row above, one for ways back that
 * leave that row, one in which ways change their column, and one for ways back that enter the row below. So no line
 * passes through a step, and no label lies over another.
 *
 * By hand: dagre draws no containers with branches side by side, and ELK is larger than the whole console.
 */
import { type Arc, pooled, type Ranked, rank, type Size } from './ranks.ts';
import { type GraphInput, type Measure, pushTo, REPEATS, type Way, Ways } from './ways.ts';

export const STEP = { w: 216, h: 62 } as const;
/** A container's head: its button, and its strip. */
export const HEAD = 62;
export const MARGIN = 48;
const PAD = 16;
const LEAST_REPEATED = 484;
const BRANCH_NAME = 20;
const ENTRY = 34;
const FOOT = 26;
const ENDS = 14;
const LABELS = 22;
const CURVES = 34;
/** Beneath the feet of a container, where lines that leave it go to their places. */
const LEAVING = 30;
const BACK = 7;
const BACK_LANE = 12;
const LEAST_EXIT = 16;

/** Pixels. Of a container: its box, in which its head is at the top. */
export interface Place extends Size {
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

/** Where a way leaves a step: the x of the line, at its foot. Ways that pass through a container leave its foot too. */
interface Exit {
  readonly way: Way;
  readonly x: number;
  readonly isPassing: boolean;
}

/** The rows of a region. All y are absolute; x of `ranked` are relative to `x`. */
export interface Region {
  readonly container: string;
  readonly ranked: Ranked;
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
  readonly backs: readonly Back[];
}

/** A way back: below the row of its source to a lane at the right, and up to above its target. All y are absolute. */
export interface Back {
  readonly from: string;
  readonly to: string;
  readonly outY: number;
  readonly lane: number;
  readonly inY: number;
  readonly inX: number;
}

export interface Layout {
  readonly ways: Ways;
  readonly width: number;
  readonly height: number;
  readonly places: ReadonlyMap<string, Place>;
  readonly bodies: readonly Body[];
  /** The region in which a step stands. */
  readonly regionOf: ReadonlyMap<string, Region>;
  readonly exits: ReadonlyMap<string, readonly Exit[]>;
}

/** The part of a way in one region. Its target is a member, or beyond the foot: the container, or what is outside. */
interface Leg extends Arc {
  readonly way: Way;
}

interface Draft {
  readonly container: string;
  readonly branch: string | undefined;
  readonly members: readonly string[];
  readonly ranked: Ranked;
  readonly legs: readonly Leg[];
  readonly backs: readonly BackDraft[];
  readonly outs: readonly number[];
  readonly ins: readonly number[];
  readonly width: number;
  readonly height: number;
  x: number;
}

interface BackDraft {
  readonly from: string;
  readonly to: string;
  readonly out: number;
  readonly in: number;
  readonly lane: number;
}

export const foot = (target: string): string => `\n${target}`;

/** `measure`: the width of a text in a label. */
export function layOut(graph: GraphInput, measure: Measure): Layout {
  return new Layouter(graph, new Ways(graph, measure)).layout();
}

class Layouter {
  readonly #graph: GraphInput;
  readonly #ways: Ways;
  readonly #legs = new Map<string, Leg[]>();
  readonly #legsOf = new Map<string, Leg[]>();
  readonly #sizes = new Map<string, Size>();
  readonly #drafts = new Map<string, Draft[]>();
  readonly #places = new Map<string, Place>();
  readonly #bodies: Body[] = [];
  readonly #regionOf = new Map<string, Region>();
  readonly #exits = new Map<string, Exit[]>();

  constructor(graph: GraphInput, ways: Ways) {
    this.#graph = graph;
    this.#ways = ways;
    for (const list of ways.from.values())
      for (const way of list) {
        if (way.kind !== 'line') continue;
        for (const [container, leg] of legsOf(ways, way)) {
          pushTo(this.#legs, container, leg);
          pushTo(this.#legsOf, leg.from, leg);
        }
      }
  }

  layout(): Layout {
    const { start } = this.#graph;
    const members = this.#ways.members.get('')!;
    for (const id of members) this.#measure(id);
    const root = this.#region('', undefined, members, start === undefined ? [] : [start]);
    this.#drafts.set('', [root]);
    this.#put(root, 0, 0);
    return {
      ways: this.#ways,
      width: Math.max(root.width, STEP.w),
      height: root.height,
      places: this.#places,
      bodies: this.#bodies,
      regionOf: this.#regionOf,
      exits: this.#exits,
    };
  }

  /** Sets the size of a step, of a container with all that is in it. */
  #measure(id: string): void {
    const exits = this.#exitWidths(id).reduce((sum, width) => sum + width, 0) + PAD;
    const members = this.#ways.members.get(id);
    if (members === undefined) {
      this.#sizes.set(id, { w: Math.max(STEP.w, exits), h: STEP.h });
      return;
    }
    for (const member of members) this.#measure(member);
    const drafts = this.#parts(id, members).map(([branch, ids]) => {
      const entries = this.#entriesOf(id).filter((to) => ids.includes(to));
      return this.#region(id, branch, ids, entries);
    });
    this.#drafts.set(id, drafts);
    const least = REPEATS.has(this.#ways.steps.get(id)!.kind) ? LEAST_REPEATED : STEP.w + 2 * PAD;
    const inner = drafts.reduce((sum, { width }) => sum + width + 2 * PAD, 0);
    const w = Math.max(least, exits, inner);
    let x = (w - inner) / 2;
    for (const draft of drafts) {
      draft.x = x + PAD;
      x += draft.width + 2 * PAD;
    }
    this.#sizes.set(id, { w, h: HEAD + this.#namesHeight(id) + bodyHeight(drafts) + FOOT + this.#leaving(id) });
  }

  /** Branches that share no step, each alone; otherwise the whole body. */
  #parts(id: string, members: readonly string[]): (readonly [string | undefined, readonly string[]])[] {
    const byBranch = new Map<string, string[]>();
    for (const way of this.#ways.from.get(id) ?? [])
      if (way.kind === 'entry') for (const port of way.ports) byBranch.set(port, []);
    for (const member of members) {
      const { branch } = this.#ways.steps.get(member)!;
      if (branch === undefined) return [[undefined, members]];
      pushTo(byBranch, branch, member);
    }
    return [...byBranch].filter(([, ids]) => ids.length > 0);
  }

  #entriesOf(id: string): string[] {
    return (this.#ways.from.get(id) ?? []).filter(({ kind }) => kind === 'entry').map(({ to }) => to);
  }

  #isNamed(id: string): boolean {
    return !this.#ways.repeats(id);
  }

  #namesHeight(id: string): number {
    return this.#isNamed(id) ? BRANCH_NAME : 0;
  }

  #leaving(id: string): number {
    return (this.#legsOf.get(id) ?? []).some(({ way }) => way.from !== id) ? LEAVING : 0;
  }

  #exitWays(id: string): { way: Way; isPassing: boolean }[] {
    const own = (this.#ways.from.get(id) ?? []).filter(({ kind }) => kind !== 'entry');
    const passing = (this.#legsOf.get(id) ?? []).filter(({ way }) => way.from !== id);
    return [...own.map((way) => ({ way, isPassing: false })), ...passing.map(({ way }) => ({ way, isPassing: true }))];
  }

  #exitWidths(id: string): number[] {
    return this.#exitWays(id).map(exitWidth);
  }

  #region(
    container: string,
    branch: string | undefined,
    members: readonly string[],
    entries: readonly string[],
  ): Draft {
    const inside = new Set(members);
    const legs = (this.#legs.get(container) ?? []).filter(({ from }) => inside.has(from));
    const ranked = rank(members, legs, entries, (id) => this.#sizes.get(id)!);
    const { rows, rankOf, rights } = ranked;
    const outs = rows.map(() => 0);
    const ins = rows.map(() => 0);
    const backs: BackDraft[] = [];
    const taken: { lane: number; top: number; bottom: number }[] = [];
    let width = ranked.width;
    for (const { from, to } of legs) {
      if (!inside.has(to) || !(ranked.isBack(from, to) || from === to)) continue;
      const top = rankOf.get(to)!;
      const bottom = rankOf.get(from)!;
      let lane = rights.slice(top, bottom + 1).reduce((most, right) => Math.max(most, right), 0) + BACK_LANE;
      const near = taken.filter((other) => other.top <= bottom && other.bottom >= top);
      for (const other of near.sort((a, b) => a.lane - b.lane))
        if (Math.abs(other.lane - lane) < BACK_LANE) lane = other.lane + BACK_LANE;
      taken.push({ lane, top, bottom });
      width = Math.max(width, lane + BACK_LANE);
      backs.push({ from, to, out: outs[bottom]!++, in: ins[top]!++, lane });
    }
    const rowsHeight = rows.reduce(
      (sum, { height }, at) => sum + height + LABELS + BACK * outs[at]! + BACK * ins[at]!,
      0,
    );
    // Lines that end at the foot of a container show beneath their labels.
    const ends = container === '' ? 0 : ENDS;
    const height = rowsHeight + CURVES * Math.max(0, rows.length - 1) + ends;
    return { container, branch, members, ranked, legs, backs, outs, ins, width, height, x: 0 };
  }

  /** `top`: where the gap above its first row begins. */
  #put(draft: Draft, x: number, top: number, bottom?: number): void {
    const { ranked, container, outs, ins, members } = draft;
    const rowTops: number[] = [];
    const rowBottoms: number[] = [];
    const curveTops: number[] = [];
    const curveBottoms: number[] = [];
    let y = container === '' ? top : top + ENTRY;
    for (const [at, { height }] of ranked.rows.entries()) {
      y += BACK * ins[at]!;
      rowTops.push(y);
      rowBottoms.push(y + height);
      y += height + LABELS + BACK * outs[at]!;
      curveTops.push(y);
      y += CURVES;
      curveBottoms.push(y - 10);
    }
    const end = bottom ?? y - CURVES;
    for (const id of members) {
      const { w, h } = this.#sizes.get(id)!;
      const at = rowTops[ranked.rankOf.get(id)!]!;
      this.#places.set(id, {
        x: x + ranked.centreOf.get(id)! - w / 2,
        y: at,
        w,
        h,
        isContainer: this.#ways.members.has(id),
      });
    }
    const inCount = new Map<string, number>();
    const backs = draft.backs.map((back): Back => {
      const place = this.#places.get(back.to)!;
      const n = (inCount.get(back.to) ?? 0) + 1;
      inCount.set(back.to, n);
      return {
        from: back.from,
        to: back.to,
        outY: rowBottoms[ranked.rankOf.get(back.from)!]! + LABELS + BACK * back.out,
        lane: x + back.lane,
        inY: rowTops[ranked.rankOf.get(back.to)!]! - 10 - BACK * back.in,
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
      if (this.#ways.members.has(id)) this.#putBody(id);
    }
  }

  #putBody(id: string): void {
    const place = this.#places.get(id)!;
    const drafts = this.#drafts.get(id) ?? [];
    const top = place.y + HEAD + this.#namesHeight(id);
    const height = bodyHeight(drafts);
    for (const draft of drafts) {
      const { branch } = draft;
      const x = place.x + draft.x;
      const body = { container: id, x: x - PAD / 2, y: top - 4, w: draft.width + PAD, h: height + 8 };
      this.#bodies.push(branch === undefined || !this.#isNamed(id) ? body : { ...body, branch });
      this.#put(draft, x, top, top + height);
    }
  }

  /** Each way out leaves as near as it can below its target. */
  #exitsOf(id: string, region: Region): Exit[] {
    const place = this.#places.get(id)!;
    const legs = new Map((this.#legsOf.get(id) ?? []).map((leg) => [leg.way, leg]));
    const exits = this.#exitWays(id).map((exit, n) => ({
      ...exit,
      width: exitWidth(exit),
      want: aimOf(legs.get(exit.way), region, place) + n * 1e-6,
    }));
    exits.sort((a, b) => a.want - b.want);
    const slack = place.w - PAD - exits.reduce((sum, { width }) => sum + width, 0);
    let before = place.x + PAD / 2;
    const offsets = exits.map(({ width }) => {
      before += width;
      return before - width / 2;
    });
    const moved = pooled(exits.map(({ want }, n) => ({ value: want - offsets[n]!, weight: 1 })));
    return exits.map(({ way, isPassing }, n) => ({
      way,
      isPassing,
      x: offsets[n]! + Math.min(Math.max(moved[n]!, 0), Math.max(slack, 0)),
    }));
  }
}

function exitWidth({ way, isPassing }: { way: Way; isPassing: boolean }): number {
  return isPassing ? LEAST_EXIT : Math.max(LEAST_EXIT, way.labelWidth + 6);
}

const bodyHeight = (drafts: readonly Draft[]): number =>
  ENTRY + drafts.reduce((most, { height }) => Math.max(most, height), 0);

/** The x towards which a way leaves. */
function aimOf(leg: Leg | undefined, { ranked, x }: Region, place: Place): number {
  const centre = place.x + place.w / 2;
  if (leg === undefined) return place.x + place.w;
  const { from, to } = leg;
  const target = ranked.rankOf.get(to);
  if (target !== undefined && (from === to || ranked.isBack(from, to))) return place.x + place.w;
  const next = ranked.rankOf.get(from)! + 1;
  const lane = ranked.lanes.get(to);
  if (lane !== undefined && next < (target ?? ranked.rows.length)) return x + lane.xs[next - lane.first]!;
  return target === undefined ? centre : x + ranked.centreOf.get(to)!;
}

/** The legs of a way by region, from the inside out. */
export function legsOf(ways: Ways, way: Way): [container: string, Leg][] {
  const legs: [string, Leg][] = [];
  const target = ways.home(way.to);
  for (let from = way.from; ; ) {
    const around = ways.home(from);
    if (around === target) legs.push([around, { way, from, to: way.to }]);
    else legs.push([around, { way, from, to: foot(way.to) }]);
    if (around === target || around === way.to || around === '') return legs;
    from = around;
  }
}
