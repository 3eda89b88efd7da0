import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Looks at an element once it is there, and in the frame after it was scrolled or has got another size. */
export function useWatched(watched: RefObject<HTMLElement | null>, look: (element: HTMLElement) => void): void {
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    const { current } = watched;
    if (current === null) return undefined;
    let frame = 0;
    const soon = (): void => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => latest.current(current));
    };
    latest.current(current);
    const observer = new ResizeObserver(soon);
    observer.observe(current);
    current.addEventListener('scroll', soon, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      current.removeEventListener('scroll', soon);
    };
  }, [watched]);
}
