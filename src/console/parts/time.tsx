import { absoluteText, durationText, relativeText } from '../data/labels.ts';
import { useTicks } from '../data/resource.ts';

interface TimeProps {
  /** ISO 8601. */
  readonly at: string;
  /** A stop of the Tab key shows the absolute time. Leave it out where a focus on the row does: in tables. */
  readonly isStop?: boolean;
}

const TICK_MS = 15_000;

/** A time relative to now, with the absolute one beside it on focus and hover. */
export function Time({ at, isStop = false }: TimeProps) {
  const now = useTicks(TICK_MS);
  const ms = Date.parse(at);
  const absolute = absoluteText(ms);
  return (
    <time dateTime={at} class="time" data-absolute={absolute} title={absolute} tabIndex={isStop ? 0 : undefined}>
      {relativeText(ms, Math.max(now, 0))}
    </time>
  );
}

/** How long something took; while it has not ended, until now. */
export function Duration({ from, to }: { readonly from: string; readonly to?: string | undefined }) {
  const now = useTicks(to === undefined ? 1_000 : 3_600_000);
  const ms = (to === undefined ? now : Date.parse(to)) - Date.parse(from);
  return <span class="number">{durationText(ms)}</span>;
}
