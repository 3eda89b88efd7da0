/** A run on its graph, as a time line, and as a trace; live while it is open. What is shown is in the address. */
import { useEffect, useState } from 'preact/hooks';
import { counted } from '../data/labels.ts';
import type { Execution } from '../data/types.ts';
import { GraphView } from '../graph/graph.tsx';
import { type Frame, type Scope, type Sums, scopeIn, without } from '../graph/scope.ts';
import { type Zoom, ZoomButtons } from '../graph/zoom.tsx';
import { changeQuery } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { StatusMark } from '../parts/icons.tsx';
import { LoadingLine } from '../parts/loading.tsx';
import { Problem } from '../parts/problem.tsx';
import { Heading } from '../parts/screen.tsx';
import { Tabs } from '../parts/tabs.tsx';
import type { Place } from '../routes.ts';
import { Definition, RunPanel, StepPanel } from '../trace/panel.tsx';
import { Trace } from '../trace/rows.tsx';
import { hasEnded, MOST_VISITS, type RunState, useRun } from '../trace/run-store.ts';
import { Timeline } from '../trace/timeline.tsx';
import '../style/run.css';
import { RunHead } from './run-head.tsx';
import { useRunView, VIEWS } from './run-view.ts';
import { Why } from './run-why.tsx';

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

function Shown({ place, state, run, again }: ShownProps) {
  const view = useRunView(place, state, run);
  const { scope, sums, now, drawing, zoom, visit, slug, step, isFollowing, narrow } = view;
  const { steps } = drawing.layout.ways;
  const startedAt = Date.parse(run.startedAt);
  return (
    <>
      <RunHead run={run} stream={state.stream} total={state.total} visit={visit?.path} />
      <Why run={run} running={view.running} onStep={view.jumpTo} onChanged={again} />
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
                <Tools
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
                <Trace
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
                    {state.graphProblem === undefined ? null : <Problem problem={state.graphProblem} again={again} />}
                    {state.graph === undefined ? null : (
                      <GraphView
                        graph={view.graph}
                        drawing={drawing}
                        label={`Steps of ${run.workflowId}`}
                        sums={view.graphSums}
                        strips={sums.strips}
                        chosen={sums.chosen}
                        onChoose={(container, frame) =>
                          narrow(frame === undefined ? without(scope, container) : scopeIn(frame))
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
