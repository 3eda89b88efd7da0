/** Durations (LANGUAGE.md §1): milliseconds, `2d` / `300ms` as the `ms` package reads them, or ISO 8601. */

export interface CalendarDuration {
  /** Years and months have no fixed length, and are added on the calendar. */
  readonly months: number;
  readonly ms: number;
}

const MS_NOTATION = /^(-?\d*\.?\d+)\s*([a-z]+)?$/i;
const ISO =
  /^([+-])?P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$/i;
const UNITS: ReadonlyMap<string, number> = new Map([
  ...unitNames(1, 'ms msec msecs millisecond milliseconds'),
  ...unitNames(1000, 's sec secs second seconds'),
  ...unitNames(60_000, 'm min mins minute minutes'),
  ...unitNames(3_600_000, 'h hr hrs hour hours'),
  ...unitNames(86_400_000, 'd day days'),
  ...unitNames(604_800_000, 'w week weeks'),
  ...unitNames(31_557_600_000, 'y yr yrs year years'),
]);

/** Undefined if the value is not a duration. */
export function parseDuration(value: unknown): CalendarDuration | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? { months: 0, ms: value } : undefined;
  if (typeof value !== 'string' || value.length > 100) return undefined;
  const text = value.trim();
  const word = MS_NOTATION.exec(text);
  if (word !== null) {
    const unit = UNITS.get((word[2] ?? 'ms').toLowerCase());
    return unit === undefined ? undefined : { months: 0, ms: Number(word[1]) * unit };
  }
  const iso = ISO.exec(text);
  if (iso === null || iso.slice(2).every((part) => part === undefined) || /T$/i.test(text)) return undefined;
  const sign = iso[1] === '-' ? -1 : 1;
  const field = (index: number) => Number((iso[index] ?? '0').replace(',', '.'));
  const seconds = field(4) * 604_800 + field(5) * 86_400 + field(6) * 3600 + field(7) * 60 + field(8);
  return { months: sign * (field(2) * 12 + field(3)), ms: sign * Math.round(seconds * 1000) };
}

function unitNames(ms: number, words: string): (readonly [string, number])[] {
  return words.split(' ').map((word) => [word, ms] as const);
}
