/** The lines of a graph: their routes between the places of the steps, and their labels. */
import { type Back, foot, HEAD, type Layout, legsOf, type Region } from './layout.ts';
import type { Way } from './ways.ts';

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A label's box. `text` leaves room for a count where the way is repeated. */
interface Label extends Point {
  readonly w: number;
  readonly h: number;
  readonly text: string;
}

export interface Line {
  readonly id: string;
  readonly way: Way;
  /** Straight where one coordinate stays, otherwise a curve that begins and ends downwards. */
  readonly points: readonly Point[];
  readonly isBack: boolean;
  readonly label?: Label;
  /** What it takes up. */
  readonly box: { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number };
}

const LABEL_HEIGHT = 17;
const STUB = 8;
const MARK = 5;
const CORNER = 7;

export function linesOf(layout: Layout): Line[] {
  const { ways, places } = layout;
  const lines: Line[] = [];
  for (const id of places.keys()) {
    const exits = new Map(layout.exits.get(id)?.map((exit) => [exit.way, exit.x]));
    for (const way of ways.from.get(id) ?? []) {
      const drawn = way.kind === 'entry' ? entry(layout, way) : leaving(layout, way, exits.get(way)!);
      if (drawn !== undefined)
        lines.push({ id: `${id}>${way.to}>${way.ports.join()}`, way, ...drawn, box: boxOf(drawn) });
    }
  }
  return lines;
}

type Drawn = Omit<Line, 'id' | 'way' | 'box'>;

function leaving(layout: Layout, way: Way, x: number): Drawn | undefined {
  const place = layout.places.get(way.from)!;
  const y = place.y + place.h;
  const label = labelAt(way, x, y + 3);
  if (way.kind === 'line') {
    const route = routeOf(layout, way, { x, y });
    return route === undefined ? undefined : { ...route, ...label };
  }
  const end = y + (way.kind === 'stub' ? STUB : MARK);
  return {
    points: [
      { x, y },
      { x, y: end },
    ],
    isBack: false,
    ...label,
  };
}

function labelAt(way: Way, x: number, y: number): { label?: Label } {
  if (way.labelWidth === 0) return {};
  return { label: { x: x - way.labelWidth / 2, y, w: way.labelWidth, h: LABEL_HEIGHT, text: way.label } };
}

function routeOf(layout: Layout, way: Way, start: Point): Pick<Drawn, 'points' | 'isBack'> | undefined {
  const points = [start];
  for (const [container, { from, to }] of legsOf(layout.ways, way)) {
    const region = layout.regionOf.get(from);
    if (region === undefined) return undefined;
    const back = region.backs.find((one) => one.from === from && one.to === to);
    if (back !== undefined) {
      points.push(...backPoints(layout, back, points.at(-1)!));
      return { points, isBack: true };
    }
    points.push(...legPoints(layout, region, region.ranked.rankOf.get(from)!, to, points.at(-1)!));
    // The way leaves the container through its foot.
    if (container === '' || to !== foot(way.to) || way.to === container) continue;
    const box = layout.places.get(container)!;
    const exit = layout.exits.get(container)?.find((one) => one.way === way);
    if (exit === undefined) return undefined;
    const bottom = box.y + box.h;
    points.push({ x: points.at(-1)!.x, y: bottom - 28 }, { x: exit.x, y: bottom - 2 }, { x: exit.x, y: bottom });
  }
  return { points, isBack: false };
}

/** Down from a row, through the lanes of the rows between, to the target or to the foot of the region. */
function legPoints(layout: Layout, region: Region, first: number, to: string, start: Point): Point[] {
  const { ranked, x, curveTops, curveBottoms, bottom } = region;
  const target = ranked.rankOf.get(to);
  const last = target ?? ranked.rows.length;
  const lane = ranked.lanes.get(to);
  const points: Point[] = [];
  let at = start.x;
  const shift = (next: number, row: number): void => {
    if (Math.abs(next - at) < 0.5) return;
    points.push({ x: at, y: curveTops[row]! }, { x: next, y: curveBottoms[row]! });
    at = next;
  };
  for (let row = first; row + 1 < last; row++) shift(x + lane!.xs[row + 1 - lane!.first]!, row);
  if (target === undefined) return [...points, { x: at, y: bottom }];
  shift(x + ranked.centreOf.get(to)!, last - 1);
  return [...points, { x: at, y: layout.places.get(to)!.y }];
}

function backPoints(layout: Layout, { outY, lane, inY, inX, to }: Back, { x }: Point): Point[] {
  return [
    { x, y: outY },
    { x: lane, y: outY },
    { x: lane, y: inY },
    { x: inX, y: inY },
    { x: inX, y: layout.places.get(to)!.y },
  ];
}

/** From the head of a container to where its body begins. */
function entry(layout: Layout, way: Way): Drawn | undefined {
  const region = layout.regionOf.get(way.to);
  const place = layout.places.get(way.to);
  const box = layout.places.get(way.from);
  if (region === undefined || place === undefined || box === undefined) return undefined;
  const lane = region.ranked.lanes.get(way.to);
  const x = lane === undefined ? place.x + place.w / 2 : region.x + lane.xs[0]!;
  const start = { x, y: Math.max(region.top, box.y + HEAD) };
  return { points: [start, ...legPoints(layout, region, 0, way.to, start)], isBack: false };
}

/** What a line and its label take up. */
function boxOf({ points, label }: Drawn): Line['box'] {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  const add = (x: number, y: number): void => {
    box.left = Math.min(box.left, x);
    box.right = Math.max(box.right, x);
    box.top = Math.min(box.top, y);
    box.bottom = Math.max(box.bottom, y);
  };
  for (const { x, y } of points) add(x, y);
  if (label !== undefined) {
    add(label.x, label.y);
    add(label.x + label.w, label.y + label.h);
  }
  return box;
}

/** The line as data of an SVG path. Corners of ways back are round. */
export function pathOf({ points, isBack }: Pick<Line, 'points' | 'isBack'>): string {
  const [first, ...rest] = points;
  let path = `M${n(first!.x)} ${n(first!.y)}`;
  let at = first!;
  for (const [index, to] of rest.entries()) {
    const after = rest[index + 1];
    if (at.x === to.x || at.y === to.y) {
      const isCorner = isBack && after !== undefined && (at.x === to.x) !== (to.x === after.x);
      path += isCorner ? corner(at, to, after) : `L${n(to.x)} ${n(to.y)}`;
    } else {
      const bend = (to.y - at.y) * 0.55;
      path += `C${n(at.x)} ${n(at.y + bend)} ${n(to.x)} ${n(to.y - bend)} ${n(to.x)} ${n(to.y)}`;
    }
    at = to;
  }
  return path;
}

function corner(from: Point, at: Point, to: Point): string {
  const before = towards(at, from);
  const after = towards(at, to);
  return `L${n(before.x)} ${n(before.y)}Q${n(at.x)} ${n(at.y)} ${n(after.x)} ${n(after.y)}`;
}

function towards(at: Point, to: Point): Point {
  const length = Math.hypot(to.x - at.x, to.y - at.y);
  const share = length === 0 ? 0 : Math.min(CORNER, length / 2) / length;
  return { x: at.x + (to.x - at.x) * share, y: at.y + (to.y - at.y) * share };
}

const n = (value: number): number => Math.round(value * 10) / 10;
