/** Formats times, durations, counts and sizes. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A duration: `410 ms`, `1.5 s`, `2 min 5 s`, `3 h 2 min`, `4 d 1 h`. */
export function durationText(ms: number): string {
  const duration = Math.max(0, ms);
  if (duration < SECOND) return `${Math.round(duration)} ms`;
  if (duration < MINUTE) return `${(Math.floor(duration / 100) / 10).toFixed(1)} s`;
  if (duration < HOUR) return twoUnitText(duration, MINUTE, 'min', SECOND, 's');
  if (duration < DAY) return twoUnitText(duration, HOUR, 'h', MINUTE, 'min');
  return twoUnitText(duration, DAY, 'd', HOUR, 'h');
}

function twoUnitText(ms: number, big: number, bigName: string, small: number, smallName: string): string {
  const total = Math.floor(ms / small);
  const rest = total % (big / small);
  const bigCount = Math.floor(total / (big / small));
  return rest === 0 ? `${bigCount} ${bigName}` : `${bigCount} ${bigName} ${rest} ${smallName}`;
}

/** A time relative to now: `just now`, `5 min ago`, `in 3 h`, `2 d ago`. Times in milliseconds. */
export function relativeTimeText(at: number, now: number): string {
  const distanceMs = Math.abs(now - at);
  if (distanceMs < 5 * SECOND) return at > now ? 'in a moment' : 'just now';
  const text = roundedDuration(distanceMs);
  return at > now ? `in ${text}` : `${text} ago`;
}

function roundedDuration(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

/** A time in the viewer's zone, to the second: `22 Nov 2026, 20:04:04`. */
export const absoluteTimeText = (at: number): string =>
  new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** `1 run`, `2 runs`. */
export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-GB')} ${count === 1 ? one : many}`;

/** A number of bytes: `812 B`, `12.3 kB`, `4.1 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
