/** The part of a long list that is near the window of its scroll container. All rows have one height. */
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useWatched } from '../parts/watched.ts';

const AHEAD = 8;

interface Rows {
  readonly count: number;
  /** The row that is scrolled to whenever it changes; -1 without one. */
  readonly shown: number;
  readonly rowHeight: number;
  /** Pixels above the first row. */
  readonly head?: number;
}

/** The rows to draw: from the first of them to before the last. */
export function useVirtual(
  pane: RefObject<HTMLElement | null>,
  { count, shown, rowHeight, head = 0 }: Rows,
): { readonly from: number; readonly to: number } {
  const [view, setView] = useState({ first: 0, rows: 40 });
  useWatched(pane, ({ scrollTop, clientHeight }) => {
    const first = Math.max(0, Math.floor((scrollTop - head) / rowHeight));
    const rows = Math.ceil(clientHeight / rowHeight) + 1;
    setView((was) => (was.first === first && was.rows === rows ? was : { first, rows }));
  });
  useEffect(() => {
    if (shown >= 0) showRow(pane.current, shown, rowHeight, head);
  }, [shown]);
  const from = Math.max(0, Math.min(view.first - AHEAD, count - 1));
  return { from, to: Math.min(count, view.first + view.rows + AHEAD) };
}

/** Scrolls a list as little as it takes to show a row. */
export function showRow(pane: HTMLElement | null, row: number, rowHeight: number, head = 0): void {
  if (pane === null) return;
  const top = row * rowHeight;
  if (top < pane.scrollTop) pane.scrollTop = top;
  else if (top + rowHeight + head > pane.scrollTop + pane.clientHeight)
    pane.scrollTop = top + rowHeight + head - pane.clientHeight;
}
