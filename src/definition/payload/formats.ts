/** The formats of texts. Each check takes time linear in the text. */
import { extendedForm } from '../../template/time.ts';

/** YYYY-MM-DD, an existing day. */
export function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

/** Document 004's datetime, ISO 8601: `2026-01-31T10:30Z`, or in its basic form `20260131T1030Z`. */
export function isIsoDatetime(text: string): boolean {
  return /^[^ ]*$/.test(text) && isDatetime(extendedForm(text) ?? text);
}

/**
 * JSON Schema's date-time: date and time with optional seconds, fraction and offset. RFC 3339 allows a blank as
 * separator.
 */
export function isDatetime(text: string): boolean {
  return isDate(text.slice(0, 10)) && /^[Tt ]/.test(text.slice(10)) && isTime(text.slice(11));
}

/** `10:30`, with optional seconds, fraction and offset. */
export function isTime(text: string): boolean {
  const match = /^(\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(?:[Zz]|[+-]\d{2}(?::?\d{2})?)?$/.exec(text);
  return match !== null && Number(match[1]) <= 23 && Number(match[2]) <= 59 && Number(match[3] ?? 0) <= 60;
}

export function isEmail(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>"]{1,64}@[^\s@<>".]+(\.[^\s@<>".]+)*$/.test(text);
}

export function isUri(text: string): boolean {
  return text.length <= 10_000 && /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(text);
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** The formats of JSON Schema that are checked. */
export const FORMATS: { readonly [name: string]: (text: string) => boolean } = {
  date: isDate,
  'date-time': isDatetime,
  datetime: isDatetime,
  time: isTime,
  email: isEmail,
  uri: isUri,
  url: isUri,
  uuid: isUuid,
};
