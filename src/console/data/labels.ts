/** Times and sizes in words. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A length of time: `410 ms`, `1.5 s`, `2 min 5 s`, `3 h 2 min`, `4 d 1 h`. */
export function durationText(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < SECOND) return `${Math.round(whole)} ms`;
  if (whole < MINUTE) return `${(Math.floor(whole / 100) / 10).toFixed(1)} s`;
  if (whole < HOUR) return pair(whole, MINUTE, 'min', SECOND, 's');
  if (whole < DAY) return pair(whole, HOUR, 'h', MINUTE, 'min');
  return pair(whole, DAY, 'd', HOUR, 'h');
}

function pair(ms: number, big: number, bigName: string, small: number, smallName: string): string {
  const total = Math.floor(ms / small);
  const rest = total % (big / small);
  const whole = Math.floor(total / (big / small));
  return rest === 0 ? `${whole} ${bigName}` : `${whole} ${bigName} ${rest} ${smallName}`;
}

/** A time as seen from now: `just now`, `5 min ago`, `in 3 h`, `2 d ago`. Times in milliseconds. */
export function relativeText(at: number, now: number): string {
  const apart = Math.abs(now - at);
  if (apart < 5 * SECOND) return at > now ? 'in a moment' : 'just now';
  const text = rounded(apart);
  return at > now ? `in ${text}` : `${text} ago`;
}

function rounded(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

/** A time in the viewer's zone, to the second: `22 Nov 2026, 20:04:04`. */
export const absoluteText = (at: number): string =>
  new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** `1 run`, `2 runs`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-GB')} ${count === 1 ? one : many}`;

/** A number of bytes: `812 B`, `12.3 kB`, `4.1 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
