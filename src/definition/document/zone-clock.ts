/** The clock on the wall in a time zone: what it shows, and when it is changed. All times are in milliseconds. */

const MINUTE_MS = 60_000;
/** Shorter than the time between any two changes of a clock. */
const SEARCH_STEP_MS = 7 * 24 * 60 * MINUTE_MS;

/** Undefined for a zone that Intl does not know. */
const formatCache = new Map<string, Intl.DateTimeFormat | undefined>();

export const isKnownZone = (timezone: string): boolean => formatOf(timezone) !== undefined;

/** What the clock shows at that time, to the second, as if it were a time of UTC. @throws RangeError: unknown zone. */
export function wallClock(timezone: string, time: number): number {
  const format = formatOf(timezone);
  if (format === undefined) throw new RangeError(`There is no time zone ${timezone}.`);
  return Date.parse(`${format.format(time).replace(' ', 'T')}Z`);
}

/** How far the clock is ahead of UTC. @throws RangeError: unknown zone. */
export const offsetAt = (timezone: string, time: number): number =>
  wallClock(timezone, time) - Math.floor(time / 1_000) * 1_000;

export interface ClockChange {
  /** The first moment of the changed clock. */
  readonly at: number;
  /** How far the clock is ahead of UTC before the change, and after it. */
  readonly before: number;
  readonly after: number;
}

/** The changes between two whole minutes, in their order. @throws RangeError: unknown zone. */
export function clockChanges(timezone: string, from: number, until: number): ClockChange[] {
  const changes: ClockChange[] = [];
  let at = from;
  let before = offsetAt(timezone, at);
  while (at < until) {
    let later = Math.min(at + SEARCH_STEP_MS, until);
    if (offsetAt(timezone, later) !== before) {
      while (later - at > MINUTE_MS) {
        const middle = Math.floor((at + later) / 2 / MINUTE_MS) * MINUTE_MS;
        if (offsetAt(timezone, middle) === before) at = middle;
        else later = middle;
      }
      const after = offsetAt(timezone, later);
      changes.push({ at: later, before, after });
      before = after;
    }
    at = later;
  }
  return changes;
}

function formatOf(timezone: string): Intl.DateTimeFormat | undefined {
  if (!formatCache.has(timezone)) formatCache.set(timezone, makeFormat(timezone));
  return formatCache.get(timezone);
}

function makeFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    // The locale writes dates as ISO 8601 does.
    return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  } catch {
    return undefined;
  }
}
