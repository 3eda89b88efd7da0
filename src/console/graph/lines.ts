/** The lines of a graph: routes of the edges between the steps, and their labels. */
import { type BackEdge, footNodeOf, HEAD_HEIGHT, type Layout, legsOf, type Region } from './layout.ts';
import type { Edge } from './step-graph.ts';

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A label's box. The box has room for a count if the edge is repeated. */
interface Label extends Point {
  readonly w: number;
  readonly h: number;
  readonly text: string;
}

export interface Line {
  readonly id: string;
  readonly edge: Edge;
  /** Straight where one coordinate stays, otherwise a curve that begins and ends downwards. */
  readonly points: readonly Point[];
  readonly isBackEdge: boolean;
  readonly label?: Label;
  /** The bounding box, label included. */
  readonly box: { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number };
}

const LABEL_HEIGHT = 17;
const STUB_LENGTH = 8;
const END_MARK_LENGTH = 5;
const CORNER_RADIUS = 7;

export function linesOf(layout: Layout): Line[] {
  const { stepGraph, stepBoxes } = layout;
  const lines: Line[] = [];
  for (const id of stepBoxes.keys()) {
    const exits = new Map(layout.exits.get(id)?.map((exit) => [exit.edge, exit.x]));
    for (const edge of stepGraph.edgesFrom.get(id) ?? []) {
      const drawn = edge.kind === 'entry' ? entryLine(layout, edge) : exitLine(layout, edge, exits.get(edge)!);
      if (drawn !== undefined)
        lines.push({ id: `${id}>${edge.to}>${edge.ports.join()}`, edge, ...drawn, box: boxOf(drawn) });
    }
  }
  return lines;
}

type DrawnLine = Omit<Line, 'id' | 'edge' | 'box'>;

function exitLine(layout: Layout, edge: Edge, x: number): DrawnLine | undefined {
  const place = layout.stepBoxes.get(edge.from)!;
  const y = place.y + place.h;
  const label = labelAt(edge, x, y + 3);
  if (edge.kind === 'line') {
    const route = routeOf(layout, edge, { x, y });
    return route === undefined ? undefined : { ...route, ...label };
  }
  const end = y + (edge.kind === 'stub' ? STUB_LENGTH : END_MARK_LENGTH);
  return {
    points: [
      { x, y },
      { x, y: end },
    ],
    isBackEdge: false,
    ...label,
  };
}

function labelAt(edge: Edge, x: number, y: number): { label?: Label } {
  if (edge.labelWidth === 0) return {};
  return { label: { x: x - edge.labelWidth / 2, y, w: edge.labelWidth, h: LABEL_HEIGHT, text: edge.label } };
}

function routeOf(layout: Layout, edge: Edge, start: Point): Pick<DrawnLine, 'points' | 'isBackEdge'> | undefined {
  const points = [start];
  for (const [container, { from, to }] of legsOf(layout.stepGraph, edge)) {
    const region = layout.regionOf.get(from);
    if (region === undefined) return undefined;
    const back = region.backs.find((one) => one.from === from && one.to === to);
    if (back !== undefined) {
      points.push(...backPoints(layout, back, points.at(-1)!));
      return { points, isBackEdge: true };
    }
    points.push(...legPoints(layout, region, region.ranked.rankOf.get(from)!, to, points.at(-1)!));
    // The edge leaves the container through its foot.
    if (container === '' || to !== footNodeOf(edge.to) || edge.to === container) continue;
    const box = layout.stepBoxes.get(container)!;
    const exit = layout.exits.get(container)?.find((one) => one.edge === edge);
    if (exit === undefined) return undefined;
    const bottom = box.y + box.h;
    points.push({ x: points.at(-1)!.x, y: bottom - 28 }, { x: exit.x, y: bottom - 2 }, { x: exit.x, y: bottom });
  }
  return { points, isBackEdge: false };
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
  return [...points, { x: at, y: layout.stepBoxes.get(to)!.y }];
}

function backPoints(layout: Layout, { outY, lane, inY, inX, to }: BackEdge, { x }: Point): Point[] {
  return [
    { x, y: outY },
    { x: lane, y: outY },
    { x: lane, y: inY },
    { x: inX, y: inY },
    { x: inX, y: layout.stepBoxes.get(to)!.y },
  ];
}

/** From the head of a container to where its body begins. */
function entryLine(layout: Layout, edge: Edge): DrawnLine | undefined {
  const region = layout.regionOf.get(edge.to);
  const place = layout.stepBoxes.get(edge.to);
  const box = layout.stepBoxes.get(edge.from);
  if (region === undefined || place === undefined || box === undefined) return undefined;
  const lane = region.ranked.lanes.get(edge.to);
  const x = lane === undefined ? place.x + place.w / 2 : region.x + lane.xs[0]!;
  const start = { x, y: Math.max(region.top, box.y + HEAD_HEIGHT) };
  return { points: [start, ...legPoints(layout, region, 0, edge.to, start)], isBackEdge: false };
}

/** The bounding box of a line and its label. */
function boxOf({ points, label }: DrawnLine): Line['box'] {
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

/** The line as data of an SVG path. Corners of back edges are round. */
export function pathOf({ points, isBackEdge }: Pick<Line, 'points' | 'isBackEdge'>): string {
  const [first, ...rest] = points;
  let path = `M${pointText(first!)}`;
  let at = first!;
  for (const [index, to] of rest.entries()) {
    const after = rest[index + 1];
    if (at.x === to.x || at.y === to.y) {
      const isCorner = isBackEdge && after !== undefined && (at.x === to.x) !== (to.x === after.x);
      path += isCorner ? roundedCorner(at, to, after) : `L${pointText(to)}`;
    } else {
      const bend = (to.y - at.y) * 0.55;
      const controls = `${pointText({ x: at.x, y: at.y + bend })} ${pointText({ x: to.x, y: to.y - bend })}`;
      path += `C${controls} ${pointText(to)}`;
    }
    at = to;
  }
  return path;
}

function roundedCorner(from: Point, at: Point, to: Point): string {
  const before = pointTowards(at, from);
  const after = pointTowards(at, to);
  return `L${pointText(before)}Q${pointText(at)} ${pointText(after)}`;
}

const pointText = ({ x, y }: Point): string => `${oneDecimal(x)} ${oneDecimal(y)}`;

function pointTowards(at: Point, to: Point): Point {
  const length = Math.hypot(to.x - at.x, to.y - at.y);
  const share = length === 0 ? 0 : Math.min(CORNER_RADIUS, length / 2) / length;
  return { x: at.x + (to.x - at.x) * share, y: at.y + (to.y - at.y) * share };
}

const oneDecimal = (value: number): number => Math.round(value * 10) / 10;
