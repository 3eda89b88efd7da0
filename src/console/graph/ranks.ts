/**
 * The layout of one region: its members in ranks from top to bottom, ordered within each rank, with coordinates.
 * Ranks are longest paths without the back arcs (depth first, in the order of the ports). An arc over several ranks has
 * a lane in each rank that it passes; arcs to one target share it. The order is by the means of neighbours, and the
 * coordinates pool neighbours that would overlap (isotonic regression). A step with a longer path below it has more
 * weight, and lanes have little: otherwise every branch of a long path would push the rest of it aside.
 */
import { pushTo } from './step-graph.ts';

/** An edge within the region. `to`: a member, or a target beyond the foot of the region (`footNodeOf`). */
export interface Arc {
  readonly from: string;
  readonly to: string;
}

export interface Size {
  readonly w: number;
  readonly h: number;
}

/** One rank as a row. x is the left border of the region. */
export interface Row {
  readonly members: readonly string[];
  readonly height: number;
}

export interface RankedRegion {
  readonly rows: readonly Row[];
  readonly rankOf: ReadonlyMap<string, number>;
  /** Centres of the members. */
  readonly centreOf: ReadonlyMap<string, number>;
  /** By target: the first rank that its lane passes, and the lane's x in that rank and the following ones. */
  readonly lanes: ReadonlyMap<string, { readonly first: number; readonly xs: readonly number[] }>;
  /** Arcs that lead up, or to the same rank. */
  readonly isBackArc: (from: string, to: string) => boolean;
  /** The width of the rows, lanes included. */
  readonly width: number;
  /** The right end of each row, lanes included. */
  readonly rightEnds: readonly number[];
}

const STEP_GAP = 32;
const LANE_GAP = 6;
const LANE_WIDTH = 14;
const LANE_WEIGHT = 0.1;
const SWEEPS = 8;

/** `entries`: the members where the region begins. `arcs` are in the order of the ports. */
export function rankRegion(
  members: readonly string[],
  arcs: readonly Arc[],
  entries: readonly string[],
  sizeOf: (id: string) => Size,
): RankedRegion {
  const inside = new Set(members);
  const next = new Map<string, string[]>();
  const beyond = new Map<string, string[]>();
  for (const { from, to } of arcs)
    pushTo(inside.has(to) ? next : beyond, inside.has(to) ? from : to, inside.has(to) ? to : from);
  const { back, order, found } = depthFirst([...entries.filter((id) => inside.has(id)), ...members], next);
  const isBackArc = (from: string, to: string): boolean => back.has(`${from}\n${to}`);
  const rankOf = new Map(members.map((id) => [id, 0]));
  for (const from of order)
    for (const to of next.get(from) ?? [])
      if (!isBackArc(from, to)) rankOf.set(to, Math.max(rankOf.get(to)!, rankOf.get(from)! + 1));
  const count = members.length === 0 ? 0 : Math.max(...rankOf.values()) + 1;

  const cells = new Cells(sizeOf);
  const below = new Map<string, number>();
  for (const from of [...order].reverse()) {
    const ahead = (next.get(from) ?? []).filter((to) => !isBackArc(from, to)).map((to) => below.get(to)! + 1);
    below.set(from, Math.max(0, ...ahead));
  }
  for (const id of [...members].sort((a, b) => found.get(a)! - found.get(b)!))
    cells.add(rankOf.get(id)!, id, (1 + below.get(id)!) ** 2);
  // The arcs of each target, so that those over several ranks share one lane.
  const sources = new Map<string, string[]>(beyond);
  for (const [from, targets] of next) for (const to of targets) if (!isBackArc(from, to)) pushTo(sources, to, from);
  const lanesOf = new Map<string, { first: number; cells: number[] }>();
  for (const [to, froms] of sources) {
    const last = (rankOf.get(to) ?? count) - 1;
    const starts = froms.map((id) => rankOf.get(id)!);
    if (entries.includes(to)) starts.push(-1);
    const first = Math.min(...starts) + 1;
    const lane: number[] = [];
    for (let at = first; at <= last; at++) lane.push(cells.add(at, undefined, LANE_WEIGHT));
    if (lane.length > 0) lanesOf.set(to, { first, cells: lane });
    for (let n = 1; n < lane.length; n++) cells.connect(lane[n - 1]!, lane[n]!);
    const target = cells.cellOf(to);
    if (target !== undefined && lane.length > 0) cells.connect(lane.at(-1)!, target);
    for (const id of new Set(froms)) {
      const at = rankOf.get(id)!;
      const into = at === last ? target : lane[at + 1 - first];
      if (into !== undefined) cells.connect(cells.cellOf(id)!, into);
    }
  }
  cells.assignX();
  const { left, rightEnds } = cells.bounds();
  const shift = Number.isFinite(left) ? -left : 0;
  return {
    rows: Array.from({ length: count }, (_, at) => {
      const row = cells.membersOf(at);
      return { members: row, height: row.reduce((most, id) => Math.max(most, sizeOf(id).h), 0) };
    }),
    rankOf,
    centreOf: new Map(members.map((id) => [id, cells.x[cells.cellOf(id)!]! + shift])),
    lanes: new Map(
      [...lanesOf].map(([to, lane]) => [
        to,
        { first: lane.first, xs: lane.cells.map((cell) => cells.x[cell]! + shift) },
      ]),
    ),
    isBackArc,
    width: rightEnds.reduce((most, right) => Math.max(most, right + shift), 0),
    rightEnds: rightEnds.map((right) => right + shift),
  };
}

/** Depth first. `order`: each before what it leads to, except along back arcs. `found`: the order of discovery. */
function depthFirst(roots: readonly string[], next: ReadonlyMap<string, readonly string[]>) {
  const found = new Map<string, number>();
  const isOpen = new Set<string>();
  const back = new Set<string>();
  const order: string[] = [];
  for (const root of roots) {
    if (found.has(root)) continue;
    const path = [{ id: root, at: 0 }];
    found.set(root, found.size);
    isOpen.add(root);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const to = next.get(top.id)?.[top.at++];
      if (to === undefined) {
        isOpen.delete(top.id);
        order.push(top.id);
        path.pop();
      } else if (isOpen.has(to)) back.add(`${top.id}\n${to}`);
      else if (!found.has(to)) {
        found.set(to, found.size);
        isOpen.add(to);
        path.push({ id: to, at: 0 });
      }
    }
  }
  return { back, order: order.reverse(), found };
}

/** The cells of the rows: members and lanes. */
class Cells {
  readonly x: number[] = [];
  readonly #rows: number[][] = [];
  readonly #ids: (string | undefined)[] = [];
  readonly #half: number[] = [];
  readonly #weight: number[] = [];
  readonly #above: number[][] = [];
  readonly #below: number[][] = [];
  readonly #cellOf = new Map<string, number>();
  readonly #sizeOf: (id: string) => Size;

  constructor(sizeOf: (id: string) => Size) {
    this.#sizeOf = sizeOf;
  }

  add(at: number, id: string | undefined, weight: number): number {
    const cell = this.#ids.push(id) - 1;
    this.#weight.push(weight);
    this.#half.push((id === undefined ? LANE_WIDTH : this.#sizeOf(id).w) / 2);
    this.#above.push([]);
    this.#below.push([]);
    this.x.push(0);
    while (this.#rows.length <= at) this.#rows.push([]);
    this.#rows[at]!.push(cell);
    if (id !== undefined) this.#cellOf.set(id, cell);
    return cell;
  }

  cellOf(id: string): number | undefined {
    return this.#cellOf.get(id);
  }

  connect(above: number, below: number): void {
    this.#below[above]!.push(below);
    this.#above[below]!.push(above);
  }

  membersOf(at: number): string[] {
    return this.#rows[at]!.flatMap((cell) => this.#ids[cell] ?? []);
  }

  assignX(): void {
    for (const row of this.#rows)
      this.#pool(
        row,
        row.map(() => 0),
      );
    for (let sweep = 0; sweep <= SWEEPS; sweep++) {
      const isDown = sweep % 2 === 0;
      const near = isDown ? this.#above : this.#below;
      for (let n = 0; n < this.#rows.length; n++) {
        const at = isDown ? n : this.#rows.length - 1 - n;
        const row = this.#rows[at]!;
        const want = new Map(
          row.map((cell) => [cell, this.#mean(near[cell]!, this.#ids[cell] === undefined) ?? this.x[cell]!]),
        );
        // The last sweep only assigns coordinates: an oscillating order is not restored.
        if (sweep < SWEEPS) row.sort((a, b) => want.get(a)! - want.get(b)!);
        this.#pool(
          row,
          row.map((cell) => want.get(cell)!),
        );
      }
    }
  }

  /** Only neighbours of the same sort count, if there are any, so that lanes and steps continue straight. */
  #mean(cells: readonly number[], isLane: boolean): number | undefined {
    let [sum, weight, otherSum, otherWeight] = [0, 0, 0, 0];
    for (const cell of cells) {
      const by = this.#weight[cell]!;
      if ((this.#ids[cell] === undefined) === isLane) {
        sum += this.x[cell]! * by;
        weight += by;
      } else {
        otherSum += this.x[cell]! * by;
        otherWeight += by;
      }
    }
    return weight > 0 ? sum / weight : otherWeight > 0 ? otherSum / otherWeight : undefined;
  }

  /** Assigns coordinates as near to the wanted ones as order and gaps allow. */
  #pool(row: readonly number[], want: readonly number[]): void {
    let offset = 0;
    const offsets = row.map((cell, n) => {
      if (n > 0) offset += this.#half[row[n - 1]!]! + this.#gap(row[n - 1]!, cell) + this.#half[cell]!;
      return offset;
    });
    const wanted = want.map((x, n) => ({ value: x - offsets[n]!, weight: this.#weight[row[n]!]! }));
    for (const [n, x] of isotonicRegression(wanted).entries()) this.x[row[n]!] = x + offsets[n]!;
  }

  #gap(a: number, b: number): number {
    const lanes = Number(this.#ids[a] === undefined) + Number(this.#ids[b] === undefined);
    return lanes === 0 ? STEP_GAP : lanes === 1 ? STEP_GAP / 2 : LANE_GAP;
  }

  bounds(): { left: number; rightEnds: number[] } {
    let left = Number.POSITIVE_INFINITY;
    const rightEnds = this.#rows.map((row) => {
      let right = Number.NEGATIVE_INFINITY;
      for (const cell of row) {
        left = Math.min(left, this.x[cell]! - this.#half[cell]!);
        right = Math.max(right, this.x[cell]! + this.#half[cell]!);
      }
      return right;
    });
    return { left, rightEnds };
  }
}

/** The nearest non-decreasing numbers by weighted least squares: pool adjacent violators. */
export function isotonicRegression(wanted: readonly { readonly value: number; readonly weight: number }[]): number[] {
  const pools: { sum: number; weight: number; count: number }[] = [];
  for (const { value, weight } of wanted) {
    let pool = { sum: value * weight, weight, count: 1 };
    for (let last = pools.at(-1); last !== undefined && mean(last) > mean(pool); last = pools.at(-1)) {
      pool = { sum: pool.sum + last.sum, weight: pool.weight + last.weight, count: pool.count + last.count };
      pools.pop();
    }
    pools.push(pool);
  }
  return pools.flatMap((pool) => Array.from({ length: pool.count }, () => mean(pool)));
}

const mean = ({ sum, weight }: { readonly sum: number; readonly weight: number }): number => sum / weight;
