/** Keys of screens. None acts while a field has the focus or a dialog is open. */
import { useEffect, useRef } from 'preact/hooks';
import { storeOf, useStore } from '../data/store.ts';
import { Dialog } from './dialog.tsx';

export interface Key {
  /** As in KeyboardEvent.key: `j`, `Enter`, `[`. */
  readonly key: string;
  readonly label: string;
  readonly run: () => void;
}

const sets = storeOf<readonly { readonly current: readonly Key[] }[]>([]);
const isHelpOpen = storeOf(false);

/** Keys that act while the component is drawn. Of two with the same key the later drawn acts. */
export function useKeys(keys: readonly Key[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    sets.set([...sets.get(), latest]);
    return () => sets.set(sets.get().filter((set) => set !== latest));
  }, []);
}

/** Listens to the keyboard. Call it once. */
export function startKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector('dialog[open]') !== null || isTyping(event.target)) return;
    if (event.key === '?') {
      isHelpOpen.set(true);
      return;
    }
    const found = sets
      .get()
      .flatMap((set) => set.current)
      .findLast(({ key }) => key === event.key);
    if (found === undefined || (isPressing(event.target) && (event.key === 'Enter' || event.key === ' '))) return;
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
const isPressing = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('a, button, summary, input') !== null;

/** All keys that act now, on `?`. */
export function KeysHelp() {
  const isOpen = useStore(isHelpOpen);
  const present = useStore(sets);
  if (!isOpen) return null;
  return (
    <Dialog title="Keys" onClose={() => isHelpOpen.set(false)}>
      <dl class="keys">
        {present
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
