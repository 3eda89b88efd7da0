/** Under which keys a browser keeps drafts: what the logout needs of ../editor/drafts.ts, without its parser. */

/** What keeps them: a browser's localStorage. */
export interface Store {
  readonly length: number;
  key(index: number): string | null;
  getItem(key: string): string | null;
  setItem(key: string, text: string): void;
  removeItem(key: string): void;
}

/** Whose drafts: another person at the same browser, perhaps of another organization, is not shown them. */
export interface Owner {
  readonly organization: string;
  /** Undefined while the gateway has no keys. */
  readonly id?: string | undefined;
}

const PREFIX = 'signalbox.draft.';
const prefixOf = ({ organization, id = '' }: Owner): string =>
  `${PREFIX}${[organization, id].map(encodeURIComponent).join(' ')} `;
export const draftKey = (owner: Owner, slug: string, tag: string): string => `${prefixOf(owner)}${slug} ${tag}`;

/** The keys that begin so. */
export function keysIn(store: Store, begin: string): string[] {
  const keys = Array.from({ length: store.length }, (_, index) => store.key(index) ?? '');
  return keys.filter((key) => key.startsWith(begin));
}

/** The number of drafts of a person, of all workflows. */
export const countDrafts = (owner: Owner, store: Store): number => keysIn(store, prefixOf(owner)).length;

export function forgetDrafts(owner: Owner, store: Store): void {
  for (const key of keysIn(store, prefixOf(owner))) store.removeItem(key);
}
