/** When each step ran: a row for each, in the graph's order. */
import { useMemo, useRef, useState } from 'preact/hooks';
import { countText, durationText } from '../data/format-text.ts';
import type { Layout } from '../graph/layout.ts';
import type { Sums } from '../graph/scope.ts';
import { KindIcon } from '../parts/icons.tsx';
import { pixels } from '../parts/pixels.ts';
import { useScrollAndResize } from '../parts/scroll-and-resize.ts';
import { RowList } from './row-list.tsx';
import { barsOf, timeRows } from './timeline-bars.ts';

interface TimelineProps {
  readonly sums: Sums;
  readonly layout: Layout;
  readonly startedAt: number;
  /** The end of the run, or now. */
  readonly endedAt: number;
  readonly selected: string | undefined;
  readonly onSelect: (slug: string) => void;
}

const ROW_HEIGHT = 24;
const NAME_WIDTH = 220;
const TOTAL_WIDTH = 76;
const TICK_COUNT = 5;

export function Timeline({ sums, layout, startedAt, endedAt, selected, onSelect }: TimelineProps) {
  const pane = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(800);
  useScrollAndResize(pane, ({ clientWidth }) => setWidth(clientWidth));
  const rows = useMemo(() => timeRows(sums, layout, endedAt), [sums, layout, endedAt]);
  const span = Math.max(50, width - NAME_WIDTH - TOTAL_WIDTH);
  const length = Math.max(1, endedAt - startedAt);
  const xOf = (time: number): number => Math.max(0, Math.min(1, (time - startedAt) / length)) * span;
  return (
    <section class="timeline" aria-label="Time line">
      <div class="axis" aria-hidden="true">
        <b>Time line</b>
        <span class="ticks" style={pixels({ left: NAME_WIDTH, width: span })}>
          {Array.from({ length: TICK_COUNT }, (_, n) => (
            <i key={n} style={{ left: `${(n / (TICK_COUNT - 1)) * 100}%` }}>
              {n === 0 ? '0' : durationText((length * n) / (TICK_COUNT - 1))}
            </i>
          ))}
        </span>
      </div>
      <RowList
        class="times"
        label="Steps by time"
        pane={pane}
        rows={rows}
        rowHeight={ROW_HEIGHT}
        keyOf={({ slug }) => slug}
        selectedIndex={rows.findIndex(({ slug }) => slug === selected)}
        onSelect={({ slug }) => onSelect(slug)}
      >
        {({ slug, depth, visits, totalMs }) => {
          const step = layout.stepGraph.steps.get(slug)!;
          return (
            <>
              <span class="time-name" style={pixels({ width: NAME_WIDTH, paddingLeft: 12 + Math.min(depth, 6) * 14 })}>
                <KindIcon kind={step.kind} size={13} />
                <span>{step.name}</span>
                {visits.length > 1 ? <em>×{visits.length}</em> : null}
              </span>
              <span class="bars">
                {barsOf(visits, xOf, endedAt).map((bar) => (
                  <i
                    key={bar.left}
                    class={bar.status}
                    style={pixels({ left: bar.left, width: bar.right - bar.left })}
                    title={bar.count > 1 ? countText(bar.count, 'visit') : bar.status}
                  />
                ))}
              </span>
              <span class="took">{durationText(totalMs)}</span>
            </>
          );
        }}
      </RowList>
    </section>
  );
}
