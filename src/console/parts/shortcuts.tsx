/** Keyboard shortcuts of screens. They are inactive while a field has the focus or a dialog is open. */
import { useEffect, useRef } from 'preact/hooks';
import { createStore, useStore } from '../data/store.ts';
import { Dialog } from './dialog.tsx';

interface Shortcut {
  /** As in KeyboardEvent.key: `j`, `Enter`, `[`. */
  readonly key: string;
  readonly label: string;
  readonly run: () => void;
}

const shortcutSets = createStore<readonly { readonly current: readonly Shortcut[] }[]>([]);
const isHelpOpen = createStore(false);

/** Shortcuts that are active while the component is mounted. Of two for one key the one mounted later wins. */
export function useShortcuts(keys: readonly Shortcut[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    shortcutSets.set([...shortcutSets.get(), latest]);
    return () => shortcutSets.set(shortcutSets.get().filter((set) => set !== latest));
  }, []);
}

/** Listens to the keyboard. Call it once. */
export function startShortcuts(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector('dialog[open]') !== null || isTyping(event.target)) return;
    if (event.key === '?') {
      isHelpOpen.set(true);
      return;
    }
    const found = shortcutSets
      .get()
      .flatMap((set) => set.current)
      .findLast(({ key }) => key === event.key);
    if (found === undefined || (isActivatable(event.target) && (event.key === 'Enter' || event.key === ' '))) return;
    event.preventDefault();
    found.run();
  });
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && target.type !== 'checkbox' && target.type !== 'radio'));

/** Enter and space belong to the link or button that has the focus. */
const isActivatable = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('a, button, summary, input') !== null;

/** The help on `?`: all active shortcuts. */
export function ShortcutsHelp() {
  const isOpen = useStore(isHelpOpen);
  const activeSets = useStore(shortcutSets);
  if (!isOpen) return null;
  return (
    <Dialog title="Keys" onClose={() => isHelpOpen.set(false)}>
      <dl class="keys">
        {activeSets
          .flatMap((set) => set.current)
          .map(({ key, label }) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{label}</dd>
            </div>
          ))}
        <div>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>These keys</dd>
        </div>
      </dl>
    </Dialog>
  );
}
