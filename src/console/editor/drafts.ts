/** Drafts in localStorage: by owner, slug, and the version that they are based on. */
import { extractSecrets } from '../../definition/document/extract-secrets.ts';
import { isObject } from '../../json/json.ts';
import { type DraftOwner, type DraftStorage, draftKey, keysWithPrefix } from '../data/draft-keys.ts';
import { parseJsonInput } from '../data/parse-json-input.ts';
import { parsedValue, parseText } from './text-ranges.ts';

export interface Draft {
  /** The ETag of the version that it is based on; '' for a new workflow. */
  readonly tag: string;
  readonly text: string;
  /** ISO 8601. */
  readonly at: string;
}

/** All drafts of a workflow, the newest first. */
export function draftsOf(owner: DraftOwner, slug: string, store: DraftStorage): Draft[] {
  const prefix = draftKey(owner, slug, '');
  return keysWithPrefix(store, prefix)
    .flatMap((key) => parseDraft(store.getItem(key), key.slice(prefix.length)) ?? [])
    .sort((a, b) => b.at.localeCompare(a.at));
}

function parseDraft(stored: string | null, tag: string): Draft | undefined {
  const { value } = parseJsonInput(stored ?? '');
  const { text, at } = isObject(value) ? value : {};
  return typeof text === 'string' && typeof at === 'string' ? { tag, text, at } : undefined;
}

/**
 * Stores a draft. Returns false if it is not stored: it holds a secret in clear, or the storage is full.
 */
export function saveDraft(owner: DraftOwner, slug: string, draft: Draft, store: DraftStorage): boolean {
  const value = parsedValue(parseText(draft.text));
  const isSecret = isObject(value) && extractSecrets(value).secrets.length > 0;
  try {
    if (isSecret) store.removeItem(draftKey(owner, slug, draft.tag));
    else store.setItem(draftKey(owner, slug, draft.tag), JSON.stringify({ text: draft.text, at: draft.at }));
    return !isSecret;
  } catch {
    return false;
  }
}

export const removeDraft = (owner: DraftOwner, slug: string, tag: string, store: DraftStorage): void =>
  store.removeItem(draftKey(owner, slug, tag));
