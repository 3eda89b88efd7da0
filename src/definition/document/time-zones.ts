/**
 * The time zones of schedules (LANGUAGE.md §10): names and links of tzdata, in any case. Temporal looks for the exact
 * name, so a document and its trigger keep the spelling of tzdata. Intl knows more names, such as CST, and reads some
 * of them as a zone that nobody means.
 */

import { isObject, type Json } from '../../json/json.ts';
import { didYouMean } from './names.ts';
import { TZDATA_VERSION, ZONE_NAMES } from './zone-names.ts';

let zonesByLowerCase: ReadonlyMap<string, string> | undefined;

/** The name in the spelling of tzdata, such as Europe/Berlin for europe/berlin; undefined for other names. */
export function canonicalTimezone(name: string): string | undefined {
  zonesByLowerCase ??= new Map(ZONE_NAMES.map((one) => [one.toLowerCase(), one]));
  return zonesByLowerCase.get(name.toLowerCase());
}

/** What is wrong with the name of a time zone, without a full stop; undefined for a known one. */
export function timezoneProblem(name: string): string | undefined {
  const known = canonicalTimezone(name);
  if (known === undefined) return `expected the name of a time zone, such as Europe/Berlin.${hintOf(name)}`;
  try {
    new Intl.DateTimeFormat('en', { timeZone: known });
    return undefined;
  } catch {
    return `this host has an older time zone database than ${TZDATA_VERSION}, without ${known}: expected another zone`;
  }
}

/** A document's trigger with its zone in the spelling of tzdata. */
export function withCanonicalTimezone(trigger: Json): Json {
  if (!isObject(trigger) || trigger['type'] !== 'schedule' || !isObject(trigger['config'])) return trigger;
  const { timezone } = trigger['config'];
  const name = typeof timezone === 'string' ? canonicalTimezone(timezone) : undefined;
  if (name === undefined || name === timezone) return trigger;
  return { ...trigger, config: { ...trigger['config'], timezone: name } };
}

function hintOf(name: string): string {
  const city = name.trim().toLowerCase().replaceAll(' ', '_');
  const zone = ZONE_NAMES.find((one) => one.toLowerCase().endsWith(`/${city}`));
  if (city !== '' && zone !== undefined) return ` Did you mean "${zone}"?`;
  if (name.includes('/')) return ` ${didYouMean(name, ZONE_NAMES) ?? ''}`.trimEnd();
  // The nearest name of an abbreviation is another abbreviation.
  return /^[A-Za-z]{2,5}$/.test(name) ? ' An abbreviation can mean several zones' : '';
}
