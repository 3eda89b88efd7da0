/** A run on its graph, as a time line, and as a trace; live while it is open. What is shown is in the address. */
import { useEffect, useState } from 'preact/hooks';
import { countText } from '../data/format-text.ts';
import type { Execution } from '../data/types.ts';
import { GraphView } from '../graph/graph.tsx';
import { type Frame, type Scope, type Sums, scopeOfFrame, withoutContainer } from '../graph/scope.ts';
import { type Zoom, ZoomButtons } from '../graph/zoom.tsx';
import { changeQuery } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { StatusIcon } from '../parts/icons.tsx';
import { LoadingLine } from '../parts/loading.tsx';
import { Problem } from '../parts/problem.tsx';
import { Heading } from '../parts/screen.tsx';
import { Tabs } from '../parts/tabs.tsx';
import type { RouteMatch } from '../routes.ts';
import { Definition, RunPanel, StepPanel } from '../trace/panel.tsx';
import { type FollowedRunState, hasEnded, MAX_VISITS, useRun } from '../trace/run-store.ts';
import { Timeline } from '../trace/timeline.tsx';
import { TraceTable } from '../trace/trace-table.tsx';
import '../style/run.css';
import { RunHead } from './run-head.tsx';
import { RunStatusReason } from './run-status-reason.tsx';
import { useRunView, VIEWS } from './run-view.ts';

const SLOW_MS = 300;

export function RunScreen({ route }: { readonly route: RouteMatch<'run'> }) {
  const { id } = route.params;
  const state = useRun(id);
  const { run, problem, reload } = state;
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
          <Problem problem={problem} onRetry={reload} />
        </div>
      )}
      {run === undefined && problem === undefined && isSlow ? <LoadingLine what="the run" /> : null}
      {run === undefined ? null : <RunContent route={route} state={state} run={run} reload={reload} />}
    </div>
  );
}

interface RunContentProps {
  readonly route: RouteMatch<'run'>;
  readonly state: FollowedRunState;
  readonly run: Execution;
  readonly reload: () => void;
}

function RunContent({ route, state, run, reload }: RunContentProps) {
  const view = useRunView(route, state, run);
  const { scope, sums, now, drawing, zoom, visit, slug, step, isFollowing, narrow } = view;
  const { steps } = drawing.layout.stepGraph;
  const startedAt = Date.parse(run.startedAt);
  return (
    <>
      <RunHead run={run} stream={state.stream} total={state.total} visit={visit?.path} />
      <RunStatusReason run={run} running={view.running} onStep={view.jumpTo} onChanged={reload} />
      <div class="run-body">
        <div class="run-main">
          <Tabs
            label="Views of the run"
            id="views"
            tabs={VIEWS}
            selected={view.name}
            onSelect={(name) => changeQuery({ view: name })}
          >
            <div class="view">
              {view.name === 'definition' ? (
                <div class="definition">
                  <Definition id={run.id} />
                </div>
              ) : (
                <RunToolbar
                  sums={sums}
                  zoom={view.name === 'graph' ? zoom : undefined}
                  isFollowing={isFollowing}
                  onFollow={() => changeQuery({ step: undefined })}
                  scope={scope}
                  onAll={() => narrow([])}
                  state={state}
                />
              )}
              {view.name === 'trace' ? (
                <TraceTable
                  sums={sums}
                  steps={steps}
                  startedAt={startedAt}
                  now={now}
                  selected={visit}
                  onSelect={view.selectVisit}
                />
              ) : null}
              {view.name === 'graph' ? (
                <>
                  <div class="graph-area graph-box" ref={zoom.box}>
                    {state.graphProblem === undefined ? null : (
                      <Problem problem={state.graphProblem} onRetry={reload} />
                    )}
                    {state.graph === undefined ? null : (
                      <GraphView
                        graph={view.graph}
                        drawing={drawing}
                        label={`Steps of ${run.workflowId}`}
                        sums={view.graphSums}
                        strips={sums.strips}
                        chosen={sums.chosen}
                        onChoose={(container, frame) =>
                          narrow(frame === undefined ? withoutContainer(scope, container) : scopeOfFrame(frame))
                        }
                        selected={slug}
                        onSelect={view.select}
                        zoom={zoom.zoom}
                        onZoom={zoom.setZoom}
                      />
                    )}
                  </div>
                  {view.hasTimes ? (
                    <Timeline
                      sums={sums}
                      layout={drawing.layout}
                      startedAt={startedAt}
                      endedAt={Math.max(now, startedAt + 1)}
                      selected={slug}
                      onSelect={view.select}
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
              onVisit={view.selectVisit}
            />
          )}
        </aside>
      </div>
    </>
  );
}

interface RunToolbarProps {
  readonly sums: Sums;
  readonly zoom: Zoom | undefined;
  readonly isFollowing: boolean;
  readonly onFollow: () => void;
  readonly scope: Scope;
  readonly onAll: () => void;
  readonly state: FollowedRunState;
}

function RunToolbar({ sums, zoom, isFollowing, onFollow, scope, onAll, state }: RunToolbarProps) {
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
      {state.isLoaded && !state.isComplete ? (
        <span class="notice">
          The newest {MAX_VISITS.toLocaleString('en-GB')} of {countText(state.total, 'visit')}
        </span>
      ) : null}
      {[...sums.counts].map(([status, count]) => (
        <span key={status} class={`count ${status}`}>
          <StatusIcon status={status} /> {count.toLocaleString('en-GB')} {status}
        </span>
      ))}
    </div>
  );
}

const chosenText = (chosen: ReadonlyMap<string, Frame | null>): string =>
  [...chosen].map(([slug, frame]) => `${slug} ${frame?.n ?? '(none)'}`).join(' · ');
