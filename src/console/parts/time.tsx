import { absoluteTimeText, durationText, relativeTimeText } from '../data/format-text.ts';
import { useNow } from '../data/resource.ts';

interface TimeProps {
  /** ISO 8601. */
  readonly at: string;
  /** Makes it a tab stop that shows the absolute time. Not needed in tables, where focusing the row shows it. */
  readonly isTabStop?: boolean;
}

const TICK_MS = 15_000;

/** A time relative to now, with the absolute one beside it on focus and hover. */
export function Time({ at, isTabStop = false }: TimeProps) {
  const now = useNow(TICK_MS);
  const ms = Date.parse(at);
  const absolute = absoluteTimeText(ms);
  return (
    <time dateTime={at} class="time" data-absolute={absolute} title={absolute} tabIndex={isTabStop ? 0 : undefined}>
      {relativeTimeText(ms, Math.max(now, 0))}
    </time>
  );
}

/** How long something took; while it has not ended, until now. */
export function Duration({ from, to }: { readonly from: string; readonly to?: string | undefined }) {
  const now = useNow(to === undefined ? 1_000 : 3_600_000);
  const ms = (to === undefined ? now : Date.parse(to)) - Date.parse(from);
  return <span class="number">{durationText(ms)}</span>;
}
