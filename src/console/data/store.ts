/** A value that several components show. They rerender when it changes. */
import { useEffect, useState } from 'preact/hooks';

export interface Store<T> {
  get(): T;
  set(value: T): void;
  /** Calls the listener after each change, until the returned function is called. */
  subscribe(listener: () => void): () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
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

/** The current value of the store. The component rerenders when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, rerender] = useState<object>();
  const shown = store.get();
  useEffect(() => {
    const listener = (): void => rerender({});
    // The value may have changed between the render and this effect.
    if (!Object.is(shown, store.get())) listener();
    return store.subscribe(listener);
  }, [store]);
  return shown;
}
