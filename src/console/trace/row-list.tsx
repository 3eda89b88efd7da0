import type { ComponentChildren, RefObject } from 'preact';
import { pixels } from '../parts/pixels.ts';
import { useVirtualRows } from './virtual-rows.ts';

interface RowListProps<Row> {
  readonly class: string;
  readonly label: string;
  /** What scrolls. */
  readonly pane: RefObject<HTMLDivElement | null>;
  readonly rows: readonly Row[];
  readonly rowHeight: number;
  readonly keyOf: (row: Row) => string | number;
  /** The index of the selected row; -1 without one. */
  readonly selectedIndex: number;
  readonly onSelect: (row: Row) => void;
  readonly children: (row: Row) => ComponentChildren;
}

/** Rows of which one is selected. It is one stop of the Tab key, and arrow keys move in it. */
export function RowList<Row>(props: RowListProps<Row>) {
  const { class: name, label, pane, rows, rowHeight, keyOf, selectedIndex, onSelect, children } = props;
  const { from, to } = useVirtualRows(pane, { count: rows.length, shownRow: selectedIndex, rowHeight });
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const next = rows[Math.max(0, selectedIndex + step)];
    if (step === 0 || next === undefined) return;
    event.preventDefault();
    onSelect(next);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: the rows are no fields.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and arrow keys move in it.
    <div class={`row-list ${name}`} ref={pane} role="group" aria-label={label} tabIndex={0} onKeyDown={onKeyDown}>
      <div style={pixels({ height: rows.length * rowHeight })}>
        {rows.slice(from, to).map((row, n) => (
          <button
            type="button"
            tabIndex={-1}
            key={keyOf(row)}
            class={from + n === selectedIndex ? 'list-row selected' : 'list-row'}
            aria-pressed={from + n === selectedIndex}
            style={pixels({ top: (from + n) * rowHeight, height: rowHeight })}
            onClick={() => onSelect(row)}
          >
            {children(row)}
          </button>
        ))}
      </div>
    </div>
  );
}
