/**
 * The names of the search attributes of runs and actors (ARCHITECTURE.md §4), for workflows, which write them and may
 * not import the client. Also shortens values, so that a long value terminates no run (TEMPORAL.md §4).
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

export const ATTRIBUTES = {
  org: 'SignalboxOrg',
  workflow: 'SignalboxWorkflow',
  status: 'SignalboxStatus',
  trigger: 'SignalboxTrigger',
  triggerType: 'SignalboxTriggerType',
  model: 'SignalboxModel',
  channel: 'SignalboxChannel',
  employee: 'SignalboxEmployee',
  conversation: 'SignalboxConversation',
  tags: 'SignalboxTags',
  state: 'SignalboxState',
  waiting: 'SignalboxWaiting',
  started: 'SignalboxStarted',
  durationMs: 'SignalboxDurationMs',
  tokens: 'SignalboxTokens',
} as const;

/** The exact values that each list must contain. `model`: the value of SignalboxModel that also matches. */
export type ListsWanted = readonly (readonly [list: 'tags' | 'state' | 'waiting', value: string, model?: string])[];

/**
 * The form of a model in the searchable state, whose values all contain a `=`: a run may have called several models.
 */
export const modelValue = (model: string): string => `model:${encodeURIComponent(model)}`;

/** The longest keyword, in bytes. A longer text is cut, and its hash makes it findable. */
export const MAX_ATTRIBUTE_BYTES = 200;
/** The most values of one list. Further values are omitted. */
export const MAX_ATTRIBUTE_VALUES = 50;

const HASH_LENGTH = 16;

/**
 * The text as a keyword. Up to 200 bytes of UTF-8 stay as they are. A longer text becomes its beginning, `~`, and 16
 * hex digits of the SHA-256 of the whole, together at most 200 bytes. Filters pass their values through here too.
 */
export function attributeValue(text: string): string {
  const bytes = utf8ToBytes(text);
  return bytes.length <= MAX_ATTRIBUTE_BYTES ? text : cut(text, bytes);
}

/**
 * As attributeValue, for the values of lists. The index of SQLite, by which Temporal searches them, takes a double
 * quote or `♡` for the end of a value, so that a value could match more than it should. These characters are replaced,
 * and the value is cut as a long one is.
 */
export function listValue(text: string): string {
  const value = attributeValue(text);
  return /["♡]/.test(value) ? cut(value.replaceAll('"', "'").replaceAll('♡', '♥'), utf8ToBytes(text)) : value;
}

/** The beginning of the text, and the hash of the whole text. */
function cut(text: string, whole: Uint8Array): string {
  const suffix = `~${bytesToHex(sha256(whole)).slice(0, HASH_LENGTH)}`;
  const room = MAX_ATTRIBUTE_BYTES - suffix.length;
  let kept = '';
  let used = 0;
  for (const character of text) {
    const size = utf8ToBytes(character).length;
    if (used + size > room) break;
    kept += character;
    used += size;
  }
  return kept + suffix;
}

/** The values of a list: shortened, without duplicates, at most 50, in the given order. */
export function attributeValues(texts: Iterable<string>): string[] {
  const values = new Set<string>();
  for (const text of texts) {
    if (values.size >= MAX_ATTRIBUTE_VALUES) break;
    if (text !== '') values.add(listValue(text));
  }
  return [...values];
}
