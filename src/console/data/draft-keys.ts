/** The localStorage keys of drafts. Separate from ../editor/drafts.ts, so that the logout does not load the parser. */

/** The part of `localStorage` that drafts use. */
export interface DraftStorage {
  readonly length: number;
  key(index: number): string | null;
  getItem(key: string): string | null;
  setItem(key: string, text: string): void;
  removeItem(key: string): void;
}

/** The owner of drafts. Other people who use the same browser are not shown them. */
export interface DraftOwner {
  readonly organization: string;
  /** Undefined while the gateway has no keys. */
  readonly id?: string | undefined;
}

const PREFIX = 'signalbox.draft.';
const prefixOf = ({ organization, id = '' }: DraftOwner): string =>
  `${PREFIX}${[organization, id].map(encodeURIComponent).join(' ')} `;
export const draftKey = (owner: DraftOwner, slug: string, tag: string): string => `${prefixOf(owner)}${slug} ${tag}`;

/** The keys of `store` that begin with `prefix`. */
export function keysWithPrefix(store: DraftStorage, prefix: string): string[] {
  const keys = Array.from({ length: store.length }, (_, index) => store.key(index) ?? '');
  return keys.filter((key) => key.startsWith(prefix));
}

/** The number of drafts of a person, of all workflows. */
export const countDrafts = (owner: DraftOwner, store: DraftStorage): number =>
  keysWithPrefix(store, prefixOf(owner)).length;

export function removeDrafts(owner: DraftOwner, store: DraftStorage): void {
  for (const key of keysWithPrefix(store, prefixOf(owner))) store.removeItem(key);
}
