/** A run on its graph, as a time line, and as a trace; live while it is open. What is shown is in the address. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { at, get } from '../data/api.ts';
import { counted } from '../data/labels.ts';
import { useResource, useTicks } from '../data/resource.ts';
import type { Execution, ExecutionDefinition } from '../data/types.ts';
import { GraphView, useDrawing } from '../graph/graph.tsx';
import {
  type Frame,
  repeatingAround,
  type Scope,
  type Sums,
  scopeIn,
  scopeOf,
  scopeText,
  sumUp,
  type Visit,
  without,
} from '../graph/scope.ts';
import type { GraphInput } from '../graph/ways.ts';
import { useZoom, type Zoom, ZoomButtons } from '../graph/zoom.tsx';
import { changeQuery } from '../navigation.ts';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { StatusMark } from '../parts/icons.tsx';
import { Json } from '../parts/json.tsx';
import { type Key, useKeys } from '../parts/keys.tsx';
import { LoadingLine } from '../parts/loading.tsx';
import { Problem } from '../parts/problem.tsx';
import { Heading } from '../parts/screen.tsx';
import { statusText } from '../parts/status.tsx';
import { Tabs } from '../parts/tabs.tsx';
import type { Place } from '../routes.ts';
import { RunPanel, StepPanel } from '../trace/panel.tsx';
import { Trace } from '../trace/rows.tsx';
import { hasEnded, MOST_VISITS, type RunState, stepSums, useRun } from '../trace/run-store.ts';
import { Timeline } from '../trace/timeline.tsx';
import '../style/run.css';
import { RunHead } from './run-head.tsx';
import { Why } from './run-why.tsx';

type View = 'graph' | 'trace' | 'definition';
const VIEWS: readonly { readonly name: View; readonly label: string }[] = [
  { name: 'graph', label: 'Graph' },
  { name: 'trace', label: 'Trace' },
  { name: 'definition', label: 'Definition' },
];
/** Below it the trace is shown first, and the graph is a tab. */
const NARROW = '(max-width: 700px)';
const EMPTY_GRAPH: GraphInput = { flow: 'ports', nodes: [], edges: [] };
const SLOW_MS = 300;

export function RunScreen({ place }: { readonly place: Place<'run'> }) {
  const { id } = place.params;
  const state = useRun(id);
  const { run, problem, again } = state;
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="screen full run">
      {run === undefined ? (
        <div class="screen-head">
          <Heading>Run</Heading>
        </div>
      ) : null}
      {problem === undefined ? null : (
        <div class="run-problem">
          <Problem problem={problem} again={again} />
        </div>
      )}
      {run === undefined && problem === undefined && isSlow ? <LoadingLine what="the run" /> : null}
      {run === undefined ? null : <Shown place={place} state={state} run={run} again={again} />}
    </div>
  );
}

interface ShownProps {
  readonly place: Place<'run'>;
  readonly state: RunState;
  readonly run: Execution;
  readonly again: () => void;
}

function useIsNarrow(): boolean {
  const query = useMemo(() => matchMedia(NARROW), []);
  const [isNarrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const listener = (): void => setNarrow(query.matches);
    query.addEventListener('change', listener);
    return () => query.removeEventListener('change', listener);
  }, [query]);
  return isNarrow;
}

function Shown({ place, state, run, again }: ShownProps) {
  const { graph = EMPTY_GRAPH, visits } = state;
  const isNarrow = useIsNarrow();
  const scope = useMemo(() => scopeOf(place.query['in']), [place.query['in']]);
  const sums = useMemo(() => sumUp(visits, scope), [visits, scope]);
  const ticks = useTicks(1_000);
  const now = hasEnded(run) ? Date.parse(run.completedAt ?? run.startedAt) : Math.max(ticks, Date.now());
  const drawing = useDrawing(graph);
  const { steps } = drawing.layout.ways;
  const wanted = place.query['view'];
  const view = VIEWS.find(({ name }) => name === wanted)?.name ?? (isNarrow ? 'trace' : 'graph');
  const zoom = useZoom(drawing.layout.width, state.graph !== undefined);
  const [hasTimes, setTimes] = useState(true);
  const isFollowing = place.query['step'] === undefined;
  const chosen = isFollowing ? followed(sums, run, steps) : chosenIn(sums, place.query['step']!, steps);
  const visit = chosen === undefined || 'number' in chosen ? chosen : undefined;
  const slug = visit?.stepSlug ?? (chosen as { slug: string } | undefined)?.slug;
  const step = slug === undefined ? undefined : steps.get(slug);

  const select = (next: string): void => changeQuery({ step: next });
  const selectVisit = (next: Visit): void => changeQuery({ step: next.path });
  const narrow = (next: Scope): void => {
    // A visit of another iteration is no longer shown.
    changeQuery({ in: scopeText(next), step: isFollowing ? undefined : slug });
    announce(next.length === 0 ? 'The whole run' : `Only ${next.map((one) => `${one.slug} ${one.n}`).join(', ')}`);
  };
  /** Shows a visit, also one outside of the scope. */
  const jump = (next: Visit | undefined, what: string): void => {
    if (next === undefined) {
      announce(`Nothing ${what}.`);
      return;
    }
    const isHidden = !sums.visits.includes(next);
    changeQuery({ step: next.path, ...(isHidden ? { in: scopeText(scopeIn(sums.frames.of(next))) } : {}) });
  };
  const move = (by: number): void => {
    const container = repeatingAround(steps, slug) ?? sums.strips.keys().next().value;
    const strip = container === undefined ? undefined : sums.strips.get(container);
    if (container === undefined || strip === undefined) {
      announce('There are no iterations here.');
      return;
    }
    const current = sums.chosen.get(container);
    const from =
      current == null ? (by > 0 ? -1 : strip.length) : strip.findIndex(({ frame }) => frame.id === current.id);
    const next = strip[Math.max(0, Math.min(strip.length - 1, from + by))];
    if (next !== undefined) narrow(scopeIn(next.frame));
  };
  const keys: Key[] = [
    { key: 'f', label: 'The next that failed', run: () => jump(nextFailed(visits, visit, steps), 'has failed') },
    { key: 'w', label: 'What waits', run: () => jump(nextOpen(visits, visit, steps), 'waits') },
    { key: '[', label: 'The iteration before', run: () => move(-1) },
    { key: ']', label: 'The next iteration', run: () => move(1) },
    { key: '+', label: 'Larger', run: zoom.larger },
    { key: '-', label: 'Smaller', run: zoom.smaller },
    { key: '0', label: 'Original size', run: () => zoom.setZoom(1) },
    { key: 't', label: 'The time line', run: () => setTimes(!hasTimes) },
  ];
  useKeys(keys);
  useSpokenStatus(run);

  const isWhole = state.isLoaded && scope.length === 0 && !state.isWhole;
  const graphSums = useMemo(
    () => (state.summary !== undefined && (!state.isLoaded || isWhole) ? stepSums(state.summary) : sums.steps),
    [sums, state.summary, state.isLoaded, isWhole],
  );
  const running = useMemo(
    () => visits.filter(({ status, stepSlug }) => status === 'running' && steps.get(stepSlug)?.class !== 'container'),
    [visits, steps],
  );
  const startedAt = Date.parse(run.startedAt);
  return (
    <>
      <RunHead run={run} stream={state.stream} total={state.total} visit={visit?.path} />
      <Why
        run={run}
        running={running}
        onStep={(path) =>
          jump(
            visits.findLast((one) => one.path === path),
            'is there',
          )
        }
        onChanged={again}
      />
      <div class="run-body">
        <div class="run-main">
          <Tabs
            label="Views of the run"
            id="views"
            tabs={VIEWS}
            selected={view}
            onSelect={(name) => changeQuery({ view: name })}
          >
            <div class="view">
              {view === 'definition' ? <Definition id={run.id} /> : null}
              {view === 'definition' ? null : (
                <Tools
                  sums={sums}
                  zoom={view === 'graph' ? zoom : undefined}
                  isFollowing={isFollowing}
                  onFollow={() => changeQuery({ step: undefined })}
                  scope={scope}
                  onAll={() => narrow([])}
                  state={state}
                />
              )}
              {view === 'trace' ? (
                <Trace
                  sums={sums}
                  steps={steps}
                  startedAt={startedAt}
                  now={now}
                  selected={visit}
                  onSelect={selectVisit}
                />
              ) : null}
              {view === 'graph' ? (
                <>
                  <div class="graph-area graph-box" ref={zoom.box}>
                    {state.graphProblem === undefined ? null : <Problem problem={state.graphProblem} again={again} />}
                    {state.graph === undefined ? null : (
                      <GraphView
                        graph={graph}
                        drawing={drawing}
                        label={`Steps of ${run.workflowId}`}
                        sums={graphSums}
                        strips={sums.strips}
                        chosen={sums.chosen}
                        onChoose={(container, frame) =>
                          narrow(frame === undefined ? without(scope, container) : scopeIn(frame))
                        }
                        selected={slug}
                        onSelect={select}
                        zoom={zoom.zoom}
                        onZoom={zoom.setZoom}
                      />
                    )}
                  </div>
                  {hasTimes && !isNarrow ? (
                    <Timeline
                      sums={sums}
                      layout={drawing.layout}
                      startedAt={startedAt}
                      endedAt={Math.max(now, startedAt + 1)}
                      selected={slug}
                      onSelect={select}
                    />
                  ) : null}
                </>
              ) : null}
            </div>
          </Tabs>
        </div>
        <aside aria-label={step === undefined ? 'The run' : `Step ${step.name}`}>
          {step === undefined ? (
            <RunPanel run={run} />
          ) : (
            <StepPanel
              run={run}
              sums={sums}
              step={step}
              visit={visit}
              now={now}
              isNarrowed={scope.length > 0}
              onVisit={selectVisit}
            />
          )}
        </aside>
      </div>
    </>
  );
}

/** Changes of the status are said to people who do not see them. */
function useSpokenStatus({ status }: Execution): void {
  const before = useRef(status);
  useEffect(() => {
    if (before.current !== status) announce(`The run is ${statusText(status)}.`);
    before.current = status;
  }, [status]);
}

type Steps = ReadonlyMap<string, { readonly class: string }>;
const isLeaf = (steps: Steps, { stepSlug, inner }: Visit): boolean =>
  inner !== true && steps.get(stepSlug)?.class !== 'container';

/** While nobody has chosen a step: the one that failed the run, waits or runs. */
function followed({ visits }: Sums, run: Execution, steps: Steps): Visit | undefined {
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

/** The address names a step, or the path of a visit. Of a step the visit that matters most is shown. */
function chosenIn(sums: Sums, name: string, steps: ReadonlyMap<string, unknown>): Visit | { slug: string } | undefined {
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

interface ToolsProps {
  readonly sums: Sums;
  readonly zoom: Zoom | undefined;
  readonly isFollowing: boolean;
  readonly onFollow: () => void;
  readonly scope: Scope;
  readonly onAll: () => void;
  readonly state: RunState;
}

function Tools({ sums, zoom, isFollowing, onFollow, scope, onAll, state }: ToolsProps) {
  return (
    <div class="tools">
      {zoom === undefined ? null : <ZoomButtons {...zoom} />}
      {isFollowing || hasEnded(state.run) ? null : <Button onClick={onFollow}>Follow</Button>}
      {scope.length === 0 ? null : (
        <span class="chip">
          Only {chosenText(sums.chosen)}
          <Button kind="quiet" label="Show the whole run" onClick={onAll}>
            ×
          </Button>
        </span>
      )}
      <span class="grow" />
      {state.isLoaded ? null : <span role="status">Loading visits…</span>}
      {state.isLoaded && !state.isWhole ? (
        <span class="notice">
          The newest {MOST_VISITS.toLocaleString('en-GB')} of {counted(state.total, 'visit')}
        </span>
      ) : null}
      {[...sums.counts].map(([status, count]) => (
        <span key={status} class={`count ${status}`}>
          <StatusMark status={status} /> {count.toLocaleString('en-GB')} {status}
        </span>
      ))}
    </div>
  );
}

const chosenText = (chosen: ReadonlyMap<string, Frame | null>): string =>
  [...chosen].map(([slug, frame]) => `${slug} ${frame?.n ?? '(none)'}`).join(' · ');

function Definition({ id }: { readonly id: string }) {
  const { data, problem, isSlow, again } = useResource(id, (signal) =>
    get<ExecutionDefinition>(at`/api/executions/${id}/definition`, { signal }),
  );
  return (
    <div class="definition">
      <Problem problem={problem} again={again} />
      {isSlow && data === undefined ? <LoadingLine what="the definition" /> : null}
      {data === undefined ? null : <Json value={data.definition} name="definition" openTo={3} />}
    </div>
  );
}
