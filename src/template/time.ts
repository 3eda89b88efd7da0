/** Points in time: ISO 8601 texts and numbers since 1970, always UTC. No function here reads a clock. */
import { EPOCH_SECONDS_LIMIT } from './limits.ts';

const ISO =
  /^([+-]\d{6}|\d{4})-(\d{2})(?:-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(?:([Zz])|([+-])(\d{2}):?(\d{2})?)?)?)?$/;
const ISO_BASIC = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(?:(\d{2})([.,]\d{1,9})?)?(Z|[+-]\d{2}(?:\d{2})?)?$/i;
const MAX_TIME_MS = 8_640_000_000_000_000;

/** Adds hyphens and colons to ISO 8601's basic form (`20260115T103000Z`); undefined for other texts. */
export function toExtendedIso(text: string): string | undefined {
  const match = ISO_BASIC.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', zone = ''] = match;
  return `${year}-${month}-${day}T${hour}:${minute}${second === undefined ? '' : `:${second}${fraction}`}${zone}`;
}

/** `2026-01-15T10:30:00.000Z`; undefined for a time beyond the range of the calendar. */
export function isoTime(epochMs: number): string | undefined {
  return Math.abs(epochMs) <= MAX_TIME_MS ? new Date(epochMs).toISOString() : undefined;
}

/**
 * Milliseconds since 1970 of an ISO 8601 text (UTC if it has no zone) or of a number (seconds if it is small).
 * Undefined for other values.
 */
export function epochMs(value: unknown): number | undefined {
  if (typeof value === 'number') {
    const ms = Math.abs(value) < EPOCH_SECONDS_LIMIT ? value * 1000 : value;
    return Math.abs(ms) <= MAX_TIME_MS ? ms : undefined;
  }
  if (typeof value !== 'string' || value.length > 64) return undefined;
  const text = value.trim();
  const match = ISO.exec(toExtendedIso(text) ?? text);
  if (match === null) return undefined;
  const field = (index: number, absent: number) => (match[index] === undefined ? absent : Number(match[index]));
  const [year, month, day] = [field(1, 0), field(2, 1), field(3, 1)];
  const [hour, minute, second] = [field(4, 0), field(5, 0), field(6, 0)];
  const isEndOfDay = hour === 24 && minute === 0 && second === 0;
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if ((hour > 23 && !isEndOfDay) || minute > 59 || second > 59) return undefined;
  const fraction = Math.floor(Number(`0.${match[7] ?? '0'}`) * 1000);
  const offsetMinutes = (match[9] === '-' ? -1 : 1) * (field(10, 0) * 60 + field(11, 0));
  const ms = utcMidnight(year, month - 1, day) + ((hour * 60 + minute - offsetMinutes) * 60 + second) * 1000 + fraction;
  return Math.abs(ms) <= MAX_TIME_MS ? ms : undefined;
}

/** Midnight of a day, also in the years 0 to 99. `month` is 0-based; month and day may exceed their ranges. */
export function utcMidnight(year: number, month: number, day: number): number {
  const date = new Date(0);
  return date.setUTCFullYear(year, month, day);
}

/** The number of days of a month, which is 1-based. */
export function daysInMonth(year: number, month: number): number {
  return new Date(utcMidnight(year, month, 0)).getUTCDate();
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** A point in time for people: `28 November 2026, 22:53 UTC`. The text itself where it is no point in time. */
export function readableTime(time: number | string): string {
  const ms = epochMs(time);
  if (ms === undefined) return String(time);
  const date = new Date(ms);
  const twoDigits = (part: number): string => String(part).padStart(2, '0');
  return (
    `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}, ` +
    `${twoDigits(date.getUTCHours())}:${twoDigits(date.getUTCMinutes())} UTC`
  );
}
