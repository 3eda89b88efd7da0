/** A value that several components show: they are drawn again when it changes. */
import { useEffect, useState } from 'preact/hooks';

export interface Store<T> {
  get(): T;
  set(value: T): void;
  /** Calls the listener after each change, until the returned function is called. */
  subscribe(listener: () => void): () => void;
}

export function storeOf<T>(first: T): Store<T> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The present value of the store. The component is drawn again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, again] = useState<object>();
  const shown = store.get();
  useEffect(() => {
    const listener = (): void => again({});
    // It may have changed between drawing and this effect.
    if (!Object.is(shown, store.get())) listener();
    return store.subscribe(listener);
  }, [store]);
  return shown;
}
