/** When each step ran: a row for each, in the graph's order. */
import { useMemo, useRef, useState } from 'preact/hooks';
import { counted, durationText } from '../data/labels.ts';
import type { Layout } from '../graph/layout.ts';
import type { Sums } from '../graph/scope.ts';
import { KindIcon } from '../parts/icons.tsx';
import { pixels } from '../parts/pixels.ts';
import { useWatched } from '../parts/watched.ts';
import { barsOf, timeRows } from './bars.ts';
import { RowList } from './row-list.tsx';

interface TimelineProps {
  readonly sums: Sums;
  readonly layout: Layout;
  readonly startedAt: number;
  /** The end of the run, or now. */
  readonly endedAt: number;
  readonly selected: string | undefined;
  readonly onSelect: (slug: string) => void;
}

const ROW = 24;
const NAMES = 220;
const TOTAL = 76;
const TICKS = 5;

export function Timeline({ sums, layout, startedAt, endedAt, selected, onSelect }: TimelineProps) {
  const pane = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(800);
  useWatched(pane, ({ clientWidth }) => setWidth(clientWidth));
  const rows = useMemo(() => timeRows(sums, layout, endedAt), [sums, layout, endedAt]);
  const span = Math.max(50, width - NAMES - TOTAL);
  const length = Math.max(1, endedAt - startedAt);
  const place = (time: number): number => Math.max(0, Math.min(1, (time - startedAt) / length)) * span;
  return (
    <section class="timeline" aria-label="Time line">
      <div class="axis" aria-hidden="true">
        <b>Time line</b>
        <span class="ticks" style={pixels({ left: NAMES, width: span })}>
          {Array.from({ length: TICKS }, (_, n) => (
            <i key={n} style={{ left: `${(n / (TICKS - 1)) * 100}%` }}>
              {n === 0 ? '0' : durationText((length * n) / (TICKS - 1))}
            </i>
          ))}
        </span>
      </div>
      <RowList
        class="times"
        label="Steps by time"
        pane={pane}
        rows={rows}
        rowHeight={ROW}
        keyOf={({ slug }) => slug}
        at={rows.findIndex(({ slug }) => slug === selected)}
        onSelect={({ slug }) => onSelect(slug)}
      >
        {({ slug, depth, visits, took }) => {
          const step = layout.ways.steps.get(slug)!;
          return (
            <>
              <span class="time-name" style={pixels({ width: NAMES, paddingLeft: 12 + Math.min(depth, 6) * 14 })}>
                <KindIcon kind={step.kind} size={13} />
                <span>{step.name}</span>
                {visits.length > 1 ? <em>×{visits.length}</em> : null}
              </span>
              <span class="bars">
                {barsOf(visits, place, endedAt).map((bar) => (
                  <i
                    key={bar.left}
                    class={bar.status}
                    style={pixels({ left: bar.left, width: bar.right - bar.left })}
                    title={bar.count > 1 ? counted(bar.count, 'visit') : bar.status}
                  />
                ))}
              </span>
              <span class="took">{durationText(took)}</span>
            </>
          );
        }}
      </RowList>
    </section>
  );
}
