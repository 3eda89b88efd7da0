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
export type ListAttributeFilters = readonly (readonly [
  list: 'tags' | 'state' | 'waiting',
  value: string,
  model?: string,
])[];

/**
 * The form of a model in the searchable state, whose values all contain a `=`: a run may have called several models.
 */
export const modelValue = (model: string): string => `model:${encodeURIComponent(model.replace(/\p{Cs}/gu, '\uFFFD'))}`;

/** The values of the searchable state for decisions of approvals. None of them contains a `=` either. */
export const verdictValue = (decision: 'approved' | 'rejected'): string => `decided:${decision}`;
export const deciderValue = (person: string): string => `approval:${withoutEquals(person)}`;
export const decidedResource = (type: string, id: string | undefined): string =>
  `resource:${withoutEquals(id === undefined ? type : `${type}/${id}`)}`;
/** Of a run with more persons and resources than its list has room for. */
export const DECIDED_MORE = 'decided:more';

const withoutEquals = (text: string): string => text.replace(/[%=]/g, encodeURIComponent);

/** The longest keyword, in bytes. A longer text is cut, and its hash makes it findable. */
export const MAX_ATTRIBUTE_BYTES = 200;
/** The most values of one list. Further values are omitted. */
export const MAX_ATTRIBUTE_VALUES = 50;

const HASH_LENGTH = 16;

/**
 * Characters that no keyword holds (TEMPORAL.md §7): with a control character, a backslash or a double quote it is
 * never found, nor with a quote at its end, and PostgreSQL takes neither NUL nor half of a surrogate pair (`\p{Cs}`).
 */
const INVALID_CHARACTERS = /[\p{Cc}\p{Cs}"\\]/gu;
/** The index of SQLite, by which Temporal searches lists, takes `♡` for the end of a value. */
const INVALID_LIST_CHARACTERS = /[\p{Cc}\p{Cs}"\\♡]/gu;
const REPLACEMENTS: { readonly [unfit: string]: string } = { '"': "'", '\\': '/', '♡': '♥' };

/**
 * The text as a keyword. Up to 200 bytes of UTF-8 stay as they are. A longer text becomes its beginning, `~`, and 16
 * hex digits of the SHA-256 of the whole, together at most 200 bytes. So does a text with characters that no keyword
 * can hold, which are replaced. The run's data keeps the text itself. Filters pass their values through here too.
 */
export const attributeValue = (text: string): string => keyword(text, INVALID_CHARACTERS);

/** As attributeValue, for the values of lists. */
export const listValue = (text: string): string => keyword(text, INVALID_LIST_CHARACTERS);

function keyword(text: string, unfit: RegExp): string {
  const fit = text
    .replace(unfit, (character) => REPLACEMENTS[character] ?? (LONE_SURROGATE.test(character) ? '\uFFFD' : ' '))
    .replace(/^'|'$/g, '’');
  if (fit !== text) return truncated(fit, hashInputOf(text));
  const bytes = utf8ToBytes(text);
  return bytes.length <= MAX_ATTRIBUTE_BYTES ? text : truncated(text, bytes);
}

const LONE_SURROGATE = /\p{Cs}/u;

/** What a hash is made of. UTF-8 has no half of a surrogate pair; JSON writes it. */
const hashInputOf = (text: string): Uint8Array => utf8ToBytes(LONE_SURROGATE.test(text) ? JSON.stringify(text) : text);

/** The beginning of the text, and the hash of the whole text. */
function truncated(text: string, whole: Uint8Array): string {
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

/** Adds decisions to a list. Verdicts come first: a list without room for a person or a resource says so. */
export function withDecisions(values: readonly string[], decisions: readonly string[]): string[] {
  const verdicts = decisions.filter(isVerdict);
  const others = decisions.filter((value) => !isVerdict(value));
  const isWhole = new Set([...decisions, ...values].map(listValue)).size <= MAX_ATTRIBUTE_VALUES;
  return attributeValues([...verdicts, ...(isWhole ? [] : [DECIDED_MORE]), ...values, ...others]);
}

/** Adds the values of a decision to those of others, as many as a list takes. */
export function addDecision(before: readonly string[], values: readonly string[]): readonly string[] {
  const all = new Set(before);
  for (const value of values.map(listValue))
    all.add(all.has(value) || isVerdict(value) || all.size < MAX_ATTRIBUTE_VALUES ? value : DECIDED_MORE);
  return all.size === before.length ? before : [...all];
}

const isVerdict = (value: string): boolean => value.startsWith('decided:');
