/** The trace of a run as a table: a row for each visit in the scope, of which only those near the window are drawn. */
import { useRef, useState } from 'preact/hooks';
import { absoluteTimeText, durationText } from '../data/format-text.ts';
import { type Frame, frameText, type Sums, type Visit } from '../graph/scope.ts';
import type { GraphStep } from '../graph/step-graph.ts';
import { KindIcon, StatusIcon } from '../parts/icons.tsx';
import { pixels } from '../parts/pixels.ts';
import { scrollToRow, useVirtualRows } from './virtual-rows.ts';

interface TraceTableProps {
  readonly sums: Sums;
  readonly steps: ReadonlyMap<string, GraphStep>;
  /** When the run began. Epoch milliseconds. */
  readonly startedAt: number;
  /** Until when open visits have lasted. */
  readonly now: number;
  readonly selected: Visit | undefined;
  readonly onSelect: (visit: Visit) => void;
}

const ROW_HEIGHT = 32;
const HEAD_HEIGHT = 31;
const COLUMN_COUNT = 6;
const KEY_MOVES: { readonly [key: string]: (at: number, count: number) => number } = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + 15,
  PageUp: (at) => at - 15,
  Home: () => 0,
  End: (_, count) => count - 1,
};

export function TraceTable({ sums, steps, startedAt, now, selected, onSelect }: TraceTableProps) {
  const { visits, frames } = sums;
  const pane = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<number>();
  const chosen = selected === undefined ? -1 : visits.indexOf(selected);
  const { from, to } = useVirtualRows(pane, {
    count: visits.length,
    shownRow: chosen,
    rowHeight: ROW_HEIGHT,
    headHeight: HEAD_HEIGHT,
  });
  const tabStop = Math.min(focused ?? Math.max(0, chosen), visits.length - 1);
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = KEY_MOVES[event.key];
    if (move === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(visits.length - 1, move(tabStop, visits.length)));
    setFocused(next);
    scrollToRow(pane.current, next, ROW_HEIGHT, HEAD_HEIGHT);
    requestAnimationFrame(() =>
      requestAnimationFrame(() => pane.current?.querySelector<HTMLElement>(`[data-row="${next}"] button`)?.focus()),
    );
  };
  const shown = Array.from({ length: Math.max(0, to - from) }, (_, n) => from + n);
  if (tabStop >= 0 && (tabStop < from || tabStop >= to)) shown.push(tabStop);
  return (
    <div class="trace" ref={pane}>
      <table aria-rowcount={visits.length + 1} aria-label="Trace" onKeyDown={onKeyDown}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Step</th>
            <th scope="col" class="extra">
              Where
            </th>
            <th scope="col">Status</th>
            <th scope="col" class="extra">
              Port
            </th>
            <th scope="col" class="extra number">
              Began
            </th>
            <th scope="col" class="number">
              Took
            </th>
          </tr>
        </thead>
        <tbody>
          <SpacerRow rows={from} />
          {shown.map((number) => {
            const visit = visits[number]!;
            const isOffscreen = number < from || number >= to;
            return (
              <TraceRow
                key={visit.number}
                number={number}
                visit={visit}
                frame={frames.frameOf(visit)}
                step={steps.get(visit.stepSlug)}
                startedAt={startedAt}
                now={visit.completedAt ?? now}
                isSelected={number === chosen}
                isTabStop={number === tabStop}
                isOffscreen={isOffscreen}
                onSelect={() => {
                  setFocused(number);
                  onSelect(visit);
                }}
              />
            );
          })}
          <SpacerRow rows={visits.length - to} />
        </tbody>
      </table>
      {visits.length === 0 ? <p class="dim nothing">Nothing has run here.</p> : null}
    </div>
  );
}

const SpacerRow = ({ rows }: { readonly rows: number }) =>
  rows <= 0 ? null : (
    <tr class="space">
      <td colSpan={COLUMN_COUNT} style={pixels({ height: rows * ROW_HEIGHT })} />
    </tr>
  );

interface RowProps {
  readonly number: number;
  readonly visit: Visit;
  readonly frame: Frame | undefined;
  readonly step: GraphStep | undefined;
  readonly startedAt: number;
  readonly now: number;
  readonly isSelected: boolean;
  readonly isTabStop: boolean;
  /** Outside of the rendered rows, but kept since it is the tab stop. */
  readonly isOffscreen: boolean;
  readonly onSelect: () => void;
}

function TraceRow(props: RowProps) {
  const { number, visit, frame, step, startedAt, now, isSelected, isTabStop, isOffscreen, onSelect } = props;
  const { status, stepType, stepSlug, port, attempts, error, inner } = visit;
  const where = frameText(frame);
  const name = inner === true ? `${stepType} in ${step?.name ?? stepSlug}` : (step?.name ?? stepSlug);
  return (
    <tr
      aria-rowindex={number + 2}
      aria-selected={isSelected}
      data-row={number}
      data-path={visit.path}
      class={`${isSelected ? 'selected' : ''} ${isOffscreen ? 'aside' : ''} is-${status}`}
      onClick={onSelect}
    >
      <td>
        <span class="indent" style={pixels({ paddingLeft: depthOf(frame, inner === true) * 12 })}>
          <KindIcon kind={step?.kind ?? stepType} size={13} />
          <button
            type="button"
            tabIndex={isTabStop ? 0 : -1}
            aria-pressed={isSelected}
            title={visit.path}
            onClick={(event) => {
              event.stopPropagation();
              onSelect();
            }}
          >
            {name}
          </button>
        </span>
      </td>
      <td class="extra dim">{where}</td>
      <td>
        <span class={`status ${status}`}>
          <StatusIcon status={status} /> {status}
          {attempts > 1 ? <span class="dim"> {attempts} attempts</span> : null}
          {error === undefined ? null : <code class="extra">{error.code}</code>}
        </span>
      </td>
      <td class="extra">{port ?? ''}</td>
      <td class="extra number" title={absoluteTimeText(visit.startedAt)}>
        +{durationText(visit.startedAt - startedAt)}
      </td>
      <td class="number">{durationText(now - visit.startedAt)}</td>
    </tr>
  );
}

function depthOf(frame: Frame | undefined, isInner: boolean): number {
  let depth = isInner ? 1 : 0;
  for (let at = frame; at !== undefined; at = at.parent) depth++;
  return Math.min(depth, 8);
}
