/** Drafts that the browser keeps: by the slug, and by the version that they began from. */
import { extractSecrets } from '../../definition/document/extract-secrets.ts';
import { isObject } from '../../json/json.ts';
import { parsedOf, valueIn } from './places.ts';

export interface Draft {
  /** The tag of the version that it began from; '' for a new workflow. */
  readonly tag: string;
  readonly text: string;
  /** ISO 8601. */
  readonly at: string;
}

/** What keeps them: a browser's localStorage. */
export interface Store {
  readonly length: number;
  key(index: number): string | null;
  getItem(key: string): string | null;
  setItem(key: string, text: string): void;
  removeItem(key: string): void;
}

const PREFIX = 'signalbox.draft.';
const keyOf = (slug: string, tag: string): string => `${PREFIX}${slug} ${tag}`;

/** All drafts of a workflow, the newest first. */
export function draftsOf(slug: string, store: Store): Draft[] {
  const begin = keyOf(slug, '');
  const drafts: Draft[] = [];
  for (let index = 0; index < store.length; index++) {
    const key = store.key(index) ?? '';
    const draft = key.startsWith(begin) ? draftIn(store.getItem(key), key.slice(begin.length)) : undefined;
    if (draft !== undefined) drafts.push(draft);
  }
  return drafts.sort((a, b) => b.at.localeCompare(a.at));
}

function draftIn(kept: string | null, tag: string): Draft | undefined {
  try {
    const { text, at } = JSON.parse(kept ?? '') as { text?: unknown; at?: unknown };
    return typeof text === 'string' && typeof at === 'string' ? { tag, text, at } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Keeps a draft. Returns false where it is not kept: it holds a secret in clear, which a browser must not keep, or the
 * browser has no room.
 */
export function keepDraft(slug: string, draft: Draft, store: Store): boolean {
  const value = valueIn(parsedOf(draft.text));
  const isSecret = value !== undefined && isObject(value) && extractSecrets(value).secrets.length > 0;
  try {
    if (isSecret) store.removeItem(keyOf(slug, draft.tag));
    else store.setItem(keyOf(slug, draft.tag), JSON.stringify({ text: draft.text, at: draft.at }));
    return !isSecret;
  } catch {
    return false;
  }
}

export const forgetDraft = (slug: string, tag: string, store: Store): void => store.removeItem(keyOf(slug, tag));
