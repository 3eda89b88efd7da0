/** Canonical JSON (RFC 8785), for hashing, comparing and deduplicating values. */
import { isObject, type Json } from './json.ts';

/**
 * The value as RFC 8785 writes it: keys sorted by UTF-16 code units, numbers and strings as ECMAScript prints them, no
 * white space. Undefined members are left out.
 */
export function canonicalText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalText(member)}`);
  }
  return `{${members.join(',')}}`;
}
