/** The string formats of JSON Schema. Each check takes time linear in the text. */
import { daysInMonth, toExtendedIso } from '../../template/time.ts';

/** YYYY-MM-DD, an existing day. */
export function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}

/** A datetime, ISO 8601: `2026-01-31T10:30Z`, or in its basic form `20260131T1030Z`. */
export function isIsoDatetime(text: string): boolean {
  return /^[^ ]*$/.test(text) && isDatetime(toExtendedIso(text) ?? text);
}

/**
 * JSON Schema's date-time: date and time with optional seconds, fraction and offset. RFC 3339 allows a blank as
 * separator.
 */
function isDatetime(text: string): boolean {
  return isDate(text.slice(0, 10)) && /^[Tt ]/.test(text.slice(10)) && isTime(text.slice(11));
}

/** `10:30`, with optional seconds, fraction and offset. */
function isTime(text: string): boolean {
  const match = /^(\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(?:[Zz]|[+-]\d{2}(?::?\d{2})?)?$/.exec(text);
  return match !== null && Number(match[1]) <= 23 && Number(match[2]) <= 59 && Number(match[3] ?? 0) <= 60;
}

function isEmail(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>"]{1,64}@[^\s@<>".]+(\.[^\s@<>".]+)*$/.test(text);
}

function isUri(text: string): boolean {
  return text.length <= 10_000 && /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(text);
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}

/** Four numbers from 0 to 255, without zeros in front. */
const isIpv4 = (text: string): boolean => /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text);

/** Eight groups, of which `::` stands for one or more, and the last two may be an IPv4 address. No zone. */
function isIpv6(text: string): boolean {
  if (text.length > 45 || text.includes(':::')) return false;
  const tail = /^(.*:)([^:]*\.[^:]*)$/.exec(text);
  if (tail !== null && !isIpv4(tail[2] ?? '')) return false;
  const halves = (tail === null ? text : `${tail[1]}0:0`).split('::');
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const isWhole = halves.length === 1 ? groups.length === 8 : halves.length === 2 && groups.length <= 7;
  return isWhole && groups.every((group) => /^[\da-f]{1,4}$/i.test(group));
}

/** Labels of letters, digits and inner hyphens (RFC 1123). */
const isHostname = (text: string): boolean =>
  text.length <= 253 && text.split('.').every((label) => /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i.test(label));

/** A URI or a reference relative to one (RFC 3986). */
function isUriReference(text: string): boolean {
  if (text.length > 10_000 || !/^(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[\da-f]{2})*$/i.test(text)) return false;
  const [path = ''] = text.split(/[/?#]/, 1);
  return text.split('#').length <= 2 && (!path.includes(':') || /^[a-z][a-z\d+.-]*:/i.test(path));
}

/** ISO 8601 as RFC 3339 writes it: units without gaps, weeks alone. */
const isDuration = (text: string): boolean => {
  const time = '(?:T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S))';
  const day = '(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)';
  return text.length <= 200 && new RegExp(`^P(?:\\d+W|${day}${time}?|${time})$`).test(text);
};

const isJsonPointer = (text: string): boolean => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text);

/** The formats of JSON Schema that are checked. */
export const STRING_FORMATS: { readonly [name: string]: (text: string) => boolean } = {
  date: isDate,
  'date-time': isDatetime,
  datetime: isDatetime,
  time: isTime,
  email: isEmail,
  uri: isUri,
  url: isUri,
  uuid: isUuid,
  ipv4: isIpv4,
  ipv6: isIpv6,
  hostname: isHostname,
  'uri-reference': isUriReference,
  duration: isDuration,
  'json-pointer': isJsonPointer,
};

/** Those that versions before 0.4 checked. */
export const STRING_FORMATS_BEFORE_0_4: ReadonlySet<string> = new Set([
  ...['date', 'date-time', 'datetime', 'time', 'email', 'uri', 'url', 'uuid'],
]);
