/** Drafts that the browser keeps: by the person, the slug, and the version that they began from. */
import { extractSecrets } from '../../definition/document/extract-secrets.ts';
import { isObject } from '../../json/json.ts';
import { draftKey, keysIn, type Owner, type Store } from '../data/draft-keys.ts';
import { parsed } from '../data/parsed.ts';
import { parsedOf, valueIn } from './places.ts';

export interface Draft {
  /** The tag of the version that it began from; '' for a new workflow. */
  readonly tag: string;
  readonly text: string;
  /** ISO 8601. */
  readonly at: string;
}

/** All drafts of a workflow, the newest first. */
export function draftsOf(owner: Owner, slug: string, store: Store): Draft[] {
  const begin = draftKey(owner, slug, '');
  return keysIn(store, begin)
    .flatMap((key) => draftIn(store.getItem(key), key.slice(begin.length)) ?? [])
    .sort((a, b) => b.at.localeCompare(a.at));
}

function draftIn(kept: string | null, tag: string): Draft | undefined {
  const { value } = parsed(kept ?? '');
  const { text, at } = isObject(value) ? value : {};
  return typeof text === 'string' && typeof at === 'string' ? { tag, text, at } : undefined;
}

/**
 * Keeps a draft. Returns false where it is not kept: it holds a secret in clear, which a browser must not keep, or the
 * browser has no room.
 */
export function keepDraft(owner: Owner, slug: string, draft: Draft, store: Store): boolean {
  const value = valueIn(parsedOf(draft.text));
  const isSecret = isObject(value) && extractSecrets(value).secrets.length > 0;
  try {
    if (isSecret) store.removeItem(draftKey(owner, slug, draft.tag));
    else store.setItem(draftKey(owner, slug, draft.tag), JSON.stringify({ text: draft.text, at: draft.at }));
    return !isSecret;
  } catch {
    return false;
  }
}

export const forgetDraft = (owner: Owner, slug: string, tag: string, store: Store): void =>
  store.removeItem(draftKey(owner, slug, tag));
