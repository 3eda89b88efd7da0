/** The part of a long list that is near the window of its scroll container. All rows have one height. */
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useScrollAndResize } from '../parts/scroll-and-resize.ts';

const OVERSCAN_ROWS = 8;

interface VirtualRows {
  readonly count: number;
  /** The row that is scrolled to whenever it changes; -1 without one. */
  readonly shownRow: number;
  readonly rowHeight: number;
  /** Pixels above the first row. */
  readonly headHeight?: number;
}

/** The rows to draw: from the first of them to before the last. */
export function useVirtualRows(
  pane: RefObject<HTMLElement | null>,
  { count, shownRow, rowHeight, headHeight = 0 }: VirtualRows,
): { readonly from: number; readonly to: number } {
  const [view, setView] = useState({ first: 0, rows: 40 });
  useScrollAndResize(pane, ({ scrollTop, clientHeight }) => {
    const first = Math.max(0, Math.floor((scrollTop - headHeight) / rowHeight));
    const rows = Math.ceil(clientHeight / rowHeight) + 1;
    setView((was) => (was.first === first && was.rows === rows ? was : { first, rows }));
  });
  useEffect(() => {
    if (shownRow >= 0) scrollToRow(pane.current, shownRow, rowHeight, headHeight);
  }, [shownRow]);
  const from = Math.max(0, Math.min(view.first - OVERSCAN_ROWS, count - 1));
  return { from, to: Math.min(count, view.first + view.rows + OVERSCAN_ROWS) };
}

/** Scrolls a list as little as it takes to show a row. */
export function scrollToRow(pane: HTMLElement | null, row: number, rowHeight: number, headHeight = 0): void {
  if (pane === null) return;
  const top = row * rowHeight;
  if (top < pane.scrollTop) pane.scrollTop = top;
  else if (top + rowHeight + headHeight > pane.scrollTop + pane.clientHeight)
    pane.scrollTop = top + rowHeight + headHeight - pane.clientHeight;
}
