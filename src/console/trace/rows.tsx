/** The trace of a run as a table: a row for each visit in the scope, of which only those near the window are drawn. */
import { useRef, useState } from 'preact/hooks';
import { absoluteText, durationText } from '../data/labels.ts';
import { type Frame, type Sums, type Visit, whereText } from '../graph/scope.ts';
import type { GraphStep } from '../graph/ways.ts';
import { KindIcon, StatusMark } from '../parts/icons.tsx';
import { pixels } from '../parts/pixels.ts';
import { showRow, useVirtual } from './virtual.ts';

interface TraceProps {
  readonly sums: Sums;
  readonly steps: ReadonlyMap<string, GraphStep>;
  /** When the run began. Epoch milliseconds. */
  readonly startedAt: number;
  /** Until when open visits have lasted. */
  readonly now: number;
  readonly selected: Visit | undefined;
  readonly onSelect: (visit: Visit) => void;
}

const ROW = 32;
const HEAD = 31;
const COLUMNS = 6;
const MOVES: { readonly [key: string]: (at: number, count: number) => number } = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + 15,
  PageUp: (at) => at - 15,
  Home: () => 0,
  End: (_, count) => count - 1,
};

export function Trace({ sums, steps, startedAt, now, selected, onSelect }: TraceProps) {
  const { visits, frames } = sums;
  const pane = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<number>();
  const chosen = selected === undefined ? -1 : visits.indexOf(selected);
  const { from, to } = useVirtual(pane, { count: visits.length, shown: chosen, rowHeight: ROW, head: HEAD });
  const stop = Math.min(focused ?? Math.max(0, chosen), visits.length - 1);
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = MOVES[event.key];
    if (move === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(visits.length - 1, move(stop, visits.length)));
    setFocused(next);
    showRow(pane.current, next, ROW, HEAD);
    requestAnimationFrame(() =>
      requestAnimationFrame(() => pane.current?.querySelector<HTMLElement>(`[data-row="${next}"] button`)?.focus()),
    );
  };
  const shown = Array.from({ length: Math.max(0, to - from) }, (_, n) => from + n);
  if (stop >= 0 && (stop < from || stop >= to)) shown.push(stop);
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
          <Space rows={from} />
          {shown.map((number) => {
            const visit = visits[number]!;
            const isAside = number < from || number >= to;
            return (
              <TraceRow
                key={visit.number}
                number={number}
                visit={visit}
                frame={frames.of(visit)}
                step={steps.get(visit.stepSlug)}
                startedAt={startedAt}
                now={visit.completedAt ?? now}
                isSelected={number === chosen}
                isStop={number === stop}
                isAside={isAside}
                onSelect={() => {
                  setFocused(number);
                  onSelect(visit);
                }}
              />
            );
          })}
          <Space rows={visits.length - to} />
        </tbody>
      </table>
      {visits.length === 0 ? <p class="dim nothing">Nothing has run here.</p> : null}
    </div>
  );
}

const Space = ({ rows }: { readonly rows: number }) =>
  rows <= 0 ? null : (
    <tr class="space">
      <td colSpan={COLUMNS} style={pixels({ height: rows * ROW })} />
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
  readonly isStop: boolean;
  /** Kept for the focus, while its place is not near the window. */
  readonly isAside: boolean;
  readonly onSelect: () => void;
}

function TraceRow(props: RowProps) {
  const { number, visit, frame, step, startedAt, now, isSelected, isStop, isAside, onSelect } = props;
  const { status, stepType, stepSlug, port, attempts, error, inner } = visit;
  const where = whereText(frame);
  const name = inner === true ? `${stepType} in ${step?.name ?? stepSlug}` : (step?.name ?? stepSlug);
  return (
    <tr
      aria-rowindex={number + 2}
      aria-selected={isSelected}
      data-row={number}
      data-path={visit.path}
      class={`${isSelected ? 'selected' : ''} ${isAside ? 'aside' : ''} is-${status}`}
      onClick={onSelect}
    >
      <td>
        <span class="indent" style={pixels({ paddingLeft: depthOf(frame, inner === true) * 12 })}>
          <KindIcon kind={step?.kind ?? stepType} size={13} />
          <button
            type="button"
            tabIndex={isStop ? 0 : -1}
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
          <StatusMark status={status} /> {status}
          {attempts > 1 ? <span class="dim"> {attempts} attempts</span> : null}
          {error === undefined ? null : <code class="extra">{error.code}</code>}
        </span>
      </td>
      <td class="extra">{port ?? ''}</td>
      <td class="extra number" title={absoluteText(visit.startedAt)}>
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
