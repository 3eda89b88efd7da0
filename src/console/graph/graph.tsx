/**
 * A definition as a graph: buttons for the steps, one SVG for the lines, in a page that scrolls. Only what is near the
 * window is in the document. The graph is one stop of the Tab key; arrow keys move along it.
 */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { durationText } from '../data/format-text.ts';
import { KindIcon, StatusIcon } from '../parts/icons.tsx';
import { pixels } from '../parts/pixels.ts';
import { useScrollAndResize } from '../parts/scroll-and-resize.ts';
import { IterationStrip } from './iteration-strip.tsx';
import { HEAD_HEIGHT, type Layout, layoutGraph, MARGIN, type StepBox } from './layout.ts';
import { type Line, linesOf, pathOf } from './lines.ts';
import type { Frame, Iteration, StepSum } from './scope.ts';
import type { GraphInput, GraphStep } from './step-graph.ts';

export interface GraphProps {
  readonly graph: GraphInput;
  /** The label of the graph, for screen readers. */
  readonly label: string;
  /** The sums of the steps. A step without a sum was not reached. Default: no step shows a status. */
  readonly sums?: ReadonlyMap<string, StepSum> | undefined;
  readonly strips?: ReadonlyMap<string, readonly Iteration[]>;
  readonly chosen?: ReadonlyMap<string, Frame | null>;
  readonly onChoose?: (slug: string, frame: Frame | undefined) => void;
  readonly selected: string | undefined;
  readonly onSelect: (slug: string) => void;
  readonly zoom: number;
  readonly onZoom: (zoom: number) => void;
  /** Classes of steps, such as those that a version changed. */
  readonly marks?: ReadonlyMap<string, string>;
}

const MIN_ZOOM = 0.12;
const MAX_ZOOM = 1.6;
/** Below it only boxes and colours are drawn. */
const OVERVIEW_ZOOM = 0.42;
const MIN_FITTED_ZOOM = 0.55;
const HEAD_BUTTON = { x: 8, y: 8, w: 228, h: 46 } as const;
const STRIP_WIDTH = 250;

export const clampZoom = (zoom: number): number => Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, zoom));

interface Drawing {
  readonly layout: Layout;
  readonly lines: readonly { readonly line: Line; readonly path: string }[];
}

export function useDrawing(graph: GraphInput): Drawing {
  return useMemo(() => {
    const layout = layoutGraph(graph, measureLabel);
    return { layout, lines: linesOf(layout).map((line) => ({ line, path: pathOf(line) })) };
  }, [graph]);
}

/** The zoom at which a graph fits into a width, at least the smallest readable one. */
export const fittingZoom = (graphWidth: number, width: number): number =>
  Math.min(1, Math.max(MIN_FITTED_ZOOM, (width - 20) / (graphWidth + 2 * MARGIN)));

interface Viewport {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const OVERSCAN_PX = 500;
/** A smaller scroll does not rerender. */
const REDRAW_SCROLL_PX = 200;

export function GraphView(props: GraphProps & { readonly drawing: Drawing }) {
  const { graph, drawing, selected, onSelect, zoom, onZoom, label } = props;
  const { layout, lines } = drawing;
  const pane = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<Viewport>({ left: 0, top: 0, width: 1_200, height: 900 });
  const [focused, setFocused] = useState<string>();
  const width = layout.width + 2 * MARGIN;
  const height = layout.height + 2 * MARGIN;
  const shift = Math.max(0, (view.width - width) / 2);
  const updateViewport = ({ scrollLeft, scrollTop, clientWidth, clientHeight }: HTMLElement): void => {
    const next = {
      left: scrollLeft / zoom,
      top: scrollTop / zoom,
      width: clientWidth / zoom,
      height: clientHeight / zoom,
    };
    setView((was) => (isSmallScroll(was, next) ? was : next));
  };
  const previousZoom = useRef(zoom);
  useLayoutEffect(() => {
    const { current } = pane;
    if (current === null) return;
    const ratio = zoom / previousZoom.current;
    previousZoom.current = zoom;
    if (ratio !== 1) {
      current.scrollLeft = (current.scrollLeft + current.clientWidth / 2) * ratio - current.clientWidth / 2;
      current.scrollTop = (current.scrollTop + current.clientHeight / 2) * ratio - current.clientHeight / 2;
    }
    updateViewport(current);
  }, [zoom, graph]);
  useScrollAndResize(pane, updateViewport);
  useEffect(() => {
    const { current } = pane;
    if (current === null) return undefined;
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      onZoom(clampZoom(previousZoom.current * (event.deltaY < 0 ? 1.1 : 0.9)));
    };
    current.addEventListener('wheel', onWheel, { passive: false });
    return () => current.removeEventListener('wheel', onWheel);
  }, [onZoom]);
  // Scrolls to the step again after the graph was fitted into the width.
  const [isFitted, setFitted] = useState(false);
  useEffect(() => {
    if (zoom !== 1) setFitted(true);
  }, [zoom]);
  useEffect(() => {
    const place = selected === undefined ? undefined : layout.stepBoxes.get(selected);
    if (place !== undefined && pane.current !== null) scrollToStep(pane.current, place, shift, zoom);
  }, [selected, layout, isFitted]);

  const isOverview = zoom < OVERVIEW_ZOOM;
  const isInView = (left: number, top: number, right: number, bottom: number): boolean => {
    const x = MARGIN + shift;
    return (
      left + x < view.left + view.width + OVERSCAN_PX &&
      right + x > view.left - OVERSCAN_PX &&
      top + MARGIN < view.top + view.height + OVERSCAN_PX &&
      bottom + MARGIN > view.top - OVERSCAN_PX
    );
  };
  const tabStop =
    [focused, selected, graph.start].find((id) => id !== undefined && layout.stepBoxes.has(id)) ?? firstStep(layout);
  const steps = [...layout.stepBoxes].filter(
    ([id, { x, y, w, h, isContainer }]) => id === tabStop || isInView(x, y, x + w, y + (isContainer ? HEAD_HEIGHT : h)),
  );
  const visibleLines = lines.filter(({ line: { box } }) => isInView(box.left, box.top, box.right, box.bottom));
  const onKeyDown = (event: KeyboardEvent): void => {
    const direction = DIRECTIONS[event.key];
    if (direction === undefined || tabStop === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = nextStep(layout, tabStop, direction);
    if (next === undefined) return;
    setFocused(next);
    onSelect(next);
    requestAnimationFrame(() => {
      pane.current?.querySelector<HTMLElement>(`[data-step="${CSS.escape(next)}"]`)?.focus({ preventScroll: true });
    });
  };
  return (
    <div class="pane" ref={pane}>
      <div class="sizer" style={pixels({ width: (width + shift) * zoom, height: height * zoom })}>
        {/* biome-ignore lint/a11y/useSemanticElements: steps of a graph are no fields. */}
        <div
          role="group"
          aria-label={label}
          class={isOverview ? 'canvas far' : 'canvas'}
          style={{ transform: `scale(${zoom})`, ...pixels({ width: width + shift, height }) }}
          onKeyDown={onKeyDown}
        >
          <div class="origin" style={pixels({ left: MARGIN + shift, top: MARGIN })}>
            <Boxes {...props} isInView={isInView} />
            <Lines lines={visibleLines} layout={layout} sums={props.sums} />
            {isOverview ? null : <Labels lines={visibleLines} sums={props.sums} />}
            {steps.map(([id, place]) => (
              <StepButton
                key={id}
                step={layout.stepGraph.steps.get(id)!}
                place={place}
                sum={props.sums?.get(id)}
                isReached={props.sums === undefined || props.sums.has(id)}
                isSelected={id === selected}
                isTabStop={id === tabStop}
                mark={props.marks?.get(id)}
                onSelect={() => {
                  setFocused(id);
                  onSelect(id);
                }}
              />
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

const firstStep = ({ stepBoxes }: Layout): string | undefined => stepBoxes.keys().next().value;

const isSmallScroll = (was: Viewport, next: Viewport): boolean =>
  was.width === next.width &&
  was.height === next.height &&
  Math.abs(was.top - next.top) < REDRAW_SCROLL_PX &&
  Math.abs(was.left - next.left) < REDRAW_SCROLL_PX;

/** Scrolls as little as it takes to show the step. */
function scrollToStep(pane: HTMLElement, { x, y, h, isContainer }: StepBox, shift: number, zoom: number): void {
  const top = (y + MARGIN) * zoom;
  const bottom = top + (isContainer ? HEAD_HEIGHT : h) * zoom;
  const left = (x + MARGIN + shift) * zoom;
  const right = left + HEAD_BUTTON.w * zoom;
  const { scrollTop, scrollLeft, clientHeight, clientWidth } = pane;
  if (top < scrollTop + 20 || bottom > scrollTop + clientHeight - 20) pane.scrollTop = top - clientHeight / 3;
  if (left < scrollLeft + 8 || right > scrollLeft + clientWidth - 8) pane.scrollLeft = left - clientWidth / 3;
}

const DIRECTIONS: { readonly [key: string]: readonly [number, number] } = {
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};

/** The nearest step in a direction. Distance across the direction counts more than distance along it. */
function nextStep({ stepBoxes }: Layout, from: string, [dx, dy]: readonly [number, number]): string | undefined {
  const centre = ({ x, y, w, h, isContainer }: StepBox) => ({
    x: x + w / 2,
    y: y + (isContainer ? HEAD_HEIGHT : h) / 2,
  });
  const start = centre(stepBoxes.get(from)!);
  let best: string | undefined;
  let lowestCost = Number.POSITIVE_INFINITY;
  for (const [id, place] of stepBoxes) {
    const to = centre(place);
    const along = (to.x - start.x) * dx + (to.y - start.y) * dy;
    const across = Math.abs((to.x - start.x) * dy + (to.y - start.y) * dx);
    const cost = along + across * 2.5;
    if (id !== from && along > 4 && cost < lowestCost) {
      lowestCost = cost;
      best = id;
    }
  }
  return best;
}

type InViewProps = { readonly isInView: (left: number, top: number, right: number, bottom: number) => boolean };

function Boxes({
  drawing,
  sums,
  strips,
  chosen,
  onChoose,
  isInView,
}: GraphProps & { readonly drawing: Drawing } & InViewProps) {
  const { stepBoxes, bodies, stepGraph } = drawing.layout;
  const shown = [...stepBoxes].filter(([, { x, y, w, h, isContainer }]) => isContainer && isInView(x, y, x + w, y + h));
  const ids = new Set(shown.map(([id]) => id));
  return (
    <>
      {shown.map(([id, { x, y, w, h }]) => {
        const { name, kind } = stepGraph.steps.get(id)!;
        const strip = strips?.get(id);
        const isLoop = kind === 'loop';
        const isUnreached = sums !== undefined && !sums.has(id);
        return (
          <div
            key={id}
            class={isUnreached ? 'box none' : 'box'}
            style={pixels({ left: x, top: y, width: w, height: h })}
          >
            {strip === undefined || !stepGraph.isRepeating(id) || onChoose === undefined ? null : (
              <IterationStrip
                name={name}
                isLoop={isLoop}
                strip={strip}
                chosen={chosen?.get(id)}
                onChoose={(frame) => onChoose(id, frame)}
              />
            )}
            {stepGraph.isRepeating(id) ? <span class="foot">{isLoop ? '↺ next tick' : 'iteration ends'}</span> : null}
          </div>
        );
      })}
      {bodies
        .filter(({ container, branch }) => branch !== undefined && ids.has(container))
        .map(({ container, branch, x, y, w, h }) => (
          <div key={`${container}/${branch}`} class="lane" style={pixels({ left: x, top: y, width: w, height: h })}>
            <span class="branch" title={branch}>
              {branch}
            </span>
          </div>
        ))}
    </>
  );
}

interface LinesProps {
  readonly lines: Drawing['lines'];
  readonly sums: GraphProps['sums'];
}

/** How often a line was taken. */
function timesTaken({ edge }: Line, sums: GraphProps['sums']): number {
  const from = sums?.get(edge.from);
  if (from === undefined || sums === undefined) return 0;
  if (edge.kind === 'entry' || edge.ports.length === 0) return sums.get(edge.to)?.visits ?? 0;
  return edge.ports.reduce((sum, port) => sum + (from.ports.get(port) ?? 0), 0);
}

const isErrorLine = ({ edge }: Line): boolean => edge.ports.length > 0 && edge.ports.every((port) => port === 'error');

function Lines({ lines, layout, sums }: LinesProps & { readonly layout: Layout }) {
  const drawn = lines.map(({ line, path }) => ({ line, path, isTaken: timesTaken(line, sums) > 0 }));
  // Taken lines are drawn above the others.
  drawn.sort((a, b) => Number(a.isTaken) - Number(b.isTaken));
  return (
    <svg class="edges" width={layout.width} height={layout.height} aria-hidden="true">
      <defs>
        {['plain', 'taken'].map((kind) => (
          <marker
            key={kind}
            id={`arrow-${kind}`}
            class={`arrow ${kind}`}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerUnits="userSpaceOnUse"
            markerWidth="10"
            markerHeight="10"
            orient="auto"
          >
            <path d="M0 0L8 4L0 8z" />
          </marker>
        ))}
      </defs>
      {drawn.map(({ line, path, isTaken }) => (
        <path
          key={line.id}
          d={path}
          class={`edge ${isTaken ? 'taken' : 'plain'}${isErrorLine(line) ? ' error' : ''}`}
          marker-end={
            line.edge.kind === 'line' || line.edge.kind === 'entry'
              ? `url(#arrow-${isTaken ? 'taken' : 'plain'})`
              : undefined
          }
        />
      ))}
    </svg>
  );
}

const Labels = ({ lines, sums }: LinesProps) => (
  <>
    {lines.map(({ line }) => {
      const { label, edge } = line;
      if (label === undefined) return null;
      const taken = timesTaken(line, sums);
      const text = edge.isRepeated && taken > 1 ? `${label.text} ×${shortNumber(taken)}`.trim() : label.text;
      if (text === '') return null;
      return (
        <span
          key={line.id}
          class={`port${taken > 0 ? ' taken' : ''}${edge.kind === 'stub' ? ' stub' : ''}`}
          style={pixels({ left: label.x + label.w / 2, top: label.y })}
          title={edge.ports.join(', ')}
        >
          {text}
        </span>
      );
    })}
  </>
);

/** At most four characters: they fit COUNT_WIDTH. */
const shortNumber = (count: number): string =>
  count < 10_000 ? String(count) : count < 1_000_000 ? `${Math.floor(count / 1_000)}k` : `${Math.floor(count / 1e6)}M`;

interface StepButtonProps {
  readonly step: GraphStep;
  readonly place: StepBox;
  readonly sum: StepSum | undefined;
  readonly isReached: boolean;
  readonly isSelected: boolean;
  readonly isTabStop: boolean;
  readonly mark: string | undefined;
  readonly onSelect: () => void;
}

function StepButton({ step, place, sum, isReached, isSelected, isTabStop, mark, onSelect }: StepButtonProps) {
  const { x, y, w, h, isContainer } = place;
  const status = sum?.status ?? (isReached ? 'unknown' : 'none');
  const headClass = isContainer ? 'head' : '';
  const stripWidth = step.kind === 'loop' || step.kind === 'forEach' ? STRIP_WIDTH : 0;
  const box = isContainer
    ? {
        left: x + HEAD_BUTTON.x,
        top: y + HEAD_BUTTON.y,
        width: Math.min(w - 16 - stripWidth, HEAD_BUTTON.w),
        height: HEAD_BUTTON.h,
      }
    : { left: x, top: y, width: w, height: h };
  return (
    <button
      type="button"
      data-step={step.id}
      class={`step ${step.class} ${step.kind} is-${status} ${isSelected ? 'selected' : ''} ${headClass} ${mark ?? ''}`}
      style={pixels(box)}
      tabIndex={isTabStop ? 0 : -1}
      aria-pressed={isSelected}
      title={step.name}
      onClick={onSelect}
    >
      <span class="kind">
        <KindIcon kind={step.kind} />
      </span>
      <span class="words">
        <b>{step.name}</b>
        <small>{detailOf(step, sum)}</small>
      </span>
      {sum === undefined ? null : (
        <span class="state">
          {sum.failed > 0 && sum.visits > 1 ? <em class="bad">{shortNumber(sum.failed)} failed</em> : null}
          {sum.visits > 1 ? <em>×{shortNumber(sum.visits)}</em> : null}
          <StatusIcon status={sum.status} />
        </span>
      )}
      <span class="hidden">, {spokenStatus(sum, isReached)}</span>
    </button>
  );
}

/** `http · 1.5 s · 2 retries`. */
function detailOf({ stepType, class: kindClass }: GraphStep, sum: StepSum | undefined): string {
  if (sum === undefined) return stepType;
  const parts = [stepType];
  if (sum.open > 0) parts.push(sum.status === 'waiting' ? 'waits' : 'runs');
  else if (kindClass !== 'pure' && kindClass !== 'end') parts.push(durationText(sum.durationMs));
  if (sum.retries > 0) parts.push(`${sum.retries} ${sum.retries === 1 ? 'retry' : 'retries'}`);
  return parts.join(' · ');
}

/** `completed, 12 visits, 1 failed`. */
function spokenStatus(sum: StepSum | undefined, isReached: boolean): string {
  if (sum === undefined) return isReached ? 'step' : 'not reached';
  if (sum.visits === 1) return sum.status;
  return `${sum.status}, ${sum.visits} visits${sum.failed > 0 ? `, ${sum.failed} failed` : ''}`;
}

/** The width of a label's text, as the browser draws it (.port in style/graph.css). */
const FONT = '600 11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

let context: CanvasRenderingContext2D | null | undefined;
const labelWidths = new Map<string, number>();

function measureLabel(text: string): number {
  const width = labelWidths.get(text);
  if (width !== undefined) return width;
  context ??= document.createElement('canvas').getContext('2d');
  if (context !== null) context.font = FONT;
  const measured = context?.measureText(text).width ?? text.length * 7;
  labelWidths.set(text, measured);
  return measured;
}
