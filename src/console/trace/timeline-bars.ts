/** The time line of a run: its steps in the graph's order, with bars for their visits. */
import type { Layout } from '../graph/layout.ts';
import type { Sums, Visit, VisitStatus } from '../graph/scope.ts';

interface TimeRow {
  readonly slug: string;
  readonly depth: number;
  readonly visits: readonly Visit[];
  /** The sum of all visits, in milliseconds. */
  readonly totalMs: number;
}

/** Pixels from the left. `count`: the visits in it. */
interface Bar {
  readonly left: number;
  readonly right: number;
  readonly status: VisitStatus;
  readonly count: number;
}

const MIN_WIDTH = 2.5;

/** The steps that were reached, each container followed by its body. `now`: until when open visits have lasted. */
export function timeRows({ visits, steps }: Sums, { stepBoxes, stepGraph }: Layout, now: number): TimeRow[] {
  const bySlug = new Map<string, Visit[]>();
  for (const visit of visits) {
    if (visit.inner === true || !steps.has(visit.stepSlug)) continue;
    const list = bySlug.get(visit.stepSlug);
    if (list === undefined) bySlug.set(visit.stepSlug, [visit]);
    else list.push(visit);
  }
  const rows: TimeRow[] = [];
  const walk = (container: string, depth: number): void => {
    const members = [...(stepGraph.members.get(container) ?? [])].sort((a, b) => {
      const [one, other] = [stepBoxes.get(a), stepBoxes.get(b)];
      return (one?.y ?? 0) - (other?.y ?? 0) || (one?.x ?? 0) - (other?.x ?? 0);
    });
    for (const slug of members) {
      const own = bySlug.get(slug);
      if (own !== undefined) {
        const totalMs = own.reduce((sum, { startedAt, completedAt = now }) => sum + completedAt - startedAt, 0);
        rows.push({ slug, depth, visits: own, totalMs });
      }
      if (stepGraph.members.has(slug)) walk(slug, depth + 1);
    }
  };
  walk('', 0);
  return rows;
}

/** The bars of a row. Adjacent bars of one status are merged. */
export function barsOf(visits: readonly Visit[], xOf: (at: number) => number, now: number): Bar[] {
  const bars: { left: number; right: number; status: VisitStatus; count: number }[] = [];
  for (const { startedAt, completedAt = now, status } of visits) {
    const left = xOf(startedAt);
    const right = Math.max(left + MIN_WIDTH, xOf(completedAt));
    const last = bars.at(-1);
    if (last !== undefined && left - last.right < 1 && last.status === status) {
      last.right = Math.max(last.right, right);
      last.count++;
    } else bars.push({ left, right, status, count: 1 });
  }
  return bars;
}
