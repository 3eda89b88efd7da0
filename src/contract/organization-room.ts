/** What the entries of an organization may take together: asked by its actor, and before a write that needs several. */
import { exactJsonBytes } from '../json/bytes.ts';
import type { JsonObject } from '../json/json.ts';
import { ORGANIZATION_BYTES, ORGANIZATION_ENTRIES } from './actors.ts';

/** By `{collection}/{name}`. */
export type OrganizationEntries = ReadonlyMap<string, JsonObject>;

const bytesOf = (field: string, value: JsonObject): number => 3 * field.length + exactJsonBytes(value);

/** Why the organization has no room for the entry, in place of one with its name. */
export function noRoomFor(
  entries: OrganizationEntries,
  field: string,
  value: JsonObject,
): { readonly code: 'too_many' | 'too_large'; readonly message: string } | undefined {
  if (!entries.has(field) && entries.size >= ORGANIZATION_ENTRIES)
    return {
      code: 'too_many',
      message: `The organization holds ${ORGANIZATION_ENTRIES} entries, and no more fit. Delete some that are not used.`,
    };
  let bytes = bytesOf(field, value);
  for (const [other, held] of entries) if (other !== field) bytes += bytesOf(other, held);
  if (bytes <= ORGANIZATION_BYTES) return undefined;
  return {
    code: 'too_large',
    message:
      `With this entry the organization's settings take ${bytes} bytes; the limit is ${ORGANIZATION_BYTES}. ` +
      'Delete some, or shorten it.',
  };
}
