/** The view of a run, controlled by the address and by keys: the scope, the selected step, and their sums. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useNow } from '../data/resource.ts';
import type { Execution } from '../data/types.ts';
import { useDrawing } from '../graph/graph.tsx';
import {
  formatScope,
  nearestRepeatingContainer,
  parseScope,
  type Scope,
  type Sums,
  scopeOfFrame,
  sumUp,
  type Visit,
} from '../graph/scope.ts';
import type { GraphInput } from '../graph/step-graph.ts';
import { useZoom } from '../graph/zoom.tsx';
import { changeQuery } from '../navigation.ts';
import { announce } from '../parts/announcer.tsx';
import { useShortcuts } from '../parts/shortcuts.tsx';
import { statusText } from '../parts/status.tsx';
import type { RouteMatch } from '../routes.ts';
import { type FollowedRunState, hasEnded, stepSums } from '../trace/run-store.ts';

type View = 'graph' | 'trace' | 'definition';
export const VIEWS: readonly { readonly name: View; readonly label: string }[] = [
  { name: 'graph', label: 'Graph' },
  { name: 'trace', label: 'Trace' },
  { name: 'definition', label: 'Definition' },
];
/** Below it the trace is shown first, and the graph is a tab. */
const NARROW_QUERY = '(max-width: 700px)';
const EMPTY_GRAPH: GraphInput = { flow: 'ports', nodes: [], edges: [] };

export function useRunView(route: RouteMatch<'run'>, state: FollowedRunState, run: Execution) {
  const { graph = EMPTY_GRAPH, visits } = state;
  const isNarrow = useIsNarrow();
  const scope = useMemo(() => parseScope(route.query['in']), [route.query['in']]);
  const sums = useMemo(() => sumUp(visits, scope), [visits, scope]);
  const ticks = useNow(1_000);
  const now = hasEnded(run) ? Date.parse(run.completedAt ?? run.startedAt) : Math.max(ticks, Date.now());
  const drawing = useDrawing(graph);
  const { steps } = drawing.layout.stepGraph;
  const wanted = route.query['view'];
  const name = VIEWS.find((one) => one.name === wanted)?.name ?? (isNarrow ? 'trace' : 'graph');
  const zoom = useZoom(drawing.layout.width, state.graph !== undefined);
  const [hasTimes, setTimes] = useState(true);
  const isFollowing = route.query['step'] === undefined;
  const chosen = isFollowing ? visitToFollow(sums, run, steps) : selectedVisit(sums, route.query['step']!, steps);
  const visit = chosen === undefined || 'number' in chosen ? chosen : undefined;
  const slug = visit?.stepSlug ?? (chosen as { slug: string } | undefined)?.slug;
  const step = slug === undefined ? undefined : steps.get(slug);

  const select = (next: string): void => changeQuery({ step: next });
  const selectVisit = (next: Visit): void => changeQuery({ step: next.path });
  const narrow = (next: Scope): void => {
    // A visit of another iteration is no longer shown.
    changeQuery({ in: formatScope(next), step: isFollowing ? undefined : slug });
    announce(next.length === 0 ? 'The whole run' : `Only ${next.map((one) => `${one.slug} ${one.n}`).join(', ')}`);
  };
  /** Shows a visit, also one outside of the scope. */
  const jump = (next: Visit | undefined, what: string): void => {
    if (next === undefined) {
      announce(`Nothing ${what}.`);
      return;
    }
    const isHidden = !sums.visits.includes(next);
    changeQuery({ step: next.path, ...(isHidden ? { in: formatScope(scopeOfFrame(sums.frames.frameOf(next))) } : {}) });
  };
  const jumpTo = (path: string): void =>
    jump(
      visits.findLast((one) => one.path === path),
      'is there',
    );
  const move = (offset: number): void => {
    const container = nearestRepeatingContainer(steps, slug) ?? sums.strips.keys().next().value;
    const strip = container === undefined ? undefined : sums.strips.get(container);
    if (container === undefined || strip === undefined) {
      announce('There are no iterations here.');
      return;
    }
    const current = sums.chosen.get(container);
    const from =
      current == null ? (offset > 0 ? -1 : strip.length) : strip.findIndex(({ frame }) => frame.id === current.id);
    const next = strip[Math.max(0, Math.min(strip.length - 1, from + offset))];
    if (next !== undefined) narrow(scopeOfFrame(next.frame));
  };
  useShortcuts([
    { key: 'f', label: 'The next that failed', run: () => jump(nextFailed(visits, visit, steps), 'has failed') },
    { key: 'w', label: 'What waits', run: () => jump(nextOpen(visits, visit, steps), 'waits') },
    { key: '[', label: 'The iteration before', run: () => move(-1) },
    { key: ']', label: 'The next iteration', run: () => move(1) },
    { key: '+', label: 'Larger', run: zoom.zoomIn },
    { key: '-', label: 'Smaller', run: zoom.zoomOut },
    { key: '0', label: 'Original size', run: () => zoom.setZoom(1) },
    { key: 't', label: 'The time line', run: () => setTimes(!hasTimes) },
  ]);
  useAnnouncedStatus(run);

  const isCompleteRun = state.isLoaded && scope.length === 0 && !state.isComplete;
  const graphSums = useMemo(
    () => (state.summary !== undefined && (!state.isLoaded || isCompleteRun) ? stepSums(state.summary) : sums.steps),
    [sums, state.summary, state.isLoaded, isCompleteRun],
  );
  const running = useMemo(
    () => visits.filter(({ status, stepSlug }) => status === 'running' && steps.get(stepSlug)?.class !== 'container'),
    [visits, steps],
  );
  return {
    name,
    graph,
    scope,
    sums,
    graphSums,
    running,
    now,
    drawing,
    zoom,
    hasTimes: hasTimes && !isNarrow,
    isFollowing,
    visit,
    slug,
    step,
    select,
    selectVisit,
    narrow,
    jumpTo,
  };
}

function useIsNarrow(): boolean {
  const query = useMemo(() => matchMedia(NARROW_QUERY), []);
  const [isNarrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const listener = (): void => setNarrow(query.matches);
    query.addEventListener('change', listener);
    return () => query.removeEventListener('change', listener);
  }, [query]);
  return isNarrow;
}

/** Announces changes of the status to screen readers. */
function useAnnouncedStatus({ status }: Execution): void {
  const before = useRef(status);
  useEffect(() => {
    if (before.current !== status) announce(`The run is ${statusText(status)}.`);
    before.current = status;
  }, [status]);
}

type Steps = ReadonlyMap<string, { readonly class: string }>;
const isLeaf = (steps: Steps, { stepSlug, inner }: Visit): boolean =>
  inner !== true && steps.get(stepSlug)?.class !== 'container';

/** The visit to show while no step is selected: the one that failed the run, waits or runs. */
function visitToFollow({ visits }: Sums, run: Execution, steps: Steps): Visit | undefined {
  if (hasEnded(run))
    return (
      visits.findLast(({ path }) => path === run.error?.path) ??
      (run.error === undefined
        ? undefined
        : visits.findLast((visit) => visit.status === 'failed' && isLeaf(steps, visit)))
    );
  const waits = new Set(run.waitingFor.map(({ path }) => path));
  return (
    visits.find((visit) => visit.completedAt === undefined && waits.has(visit.path)) ??
    visits.findLast((visit) => visit.completedAt === undefined && isLeaf(steps, visit)) ??
    visits.findLast((visit) => visit.completedAt === undefined)
  );
}

/** The visit that the address selects, by its path or its step; of a step the most relevant visit. */
function selectedVisit(
  sums: Sums,
  name: string,
  steps: ReadonlyMap<string, unknown>,
): Visit | { slug: string } | undefined {
  if (!steps.has(name)) {
    const visit = sums.visits.findLast(({ path }) => path === name);
    if (visit !== undefined) return visit;
  }
  const visits = sums.visits.filter(({ stepSlug, inner }) => stepSlug === name && inner !== true);
  const found =
    visits.findLast(({ completedAt }) => completedAt === undefined) ??
    visits.findLast(({ status }) => status === 'failed') ??
    visits.at(-1);
  return found ?? (steps.has(name) ? { slug: name } : undefined);
}

/** The next visit that failed after this one; after the last the first. Containers fail with what is in them. */
function nextFailed(visits: readonly Visit[], from: Visit | undefined, steps: Steps): Visit | undefined {
  const failed = visits.filter(({ status }) => status === 'failed');
  const leaves = failed.filter((visit) => isLeaf(steps, visit));
  return nextOf(leaves.length > 0 ? leaves : failed, from);
}

function nextOpen(visits: readonly Visit[], from: Visit | undefined, steps: Steps): Visit | undefined {
  const waiting = visits.filter((visit) => visit.status === 'waiting' && isLeaf(steps, visit));
  return nextOf(waiting, from);
}

const nextOf = (visits: readonly Visit[], from: Visit | undefined): Visit | undefined =>
  visits.find(({ number }) => from !== undefined && number > from.number) ?? visits[0];
