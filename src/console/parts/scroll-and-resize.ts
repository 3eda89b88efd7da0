import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Calls `onChange` once the element exists, and in the frame after it was scrolled or resized. */
export function useScrollAndResize(
  target: RefObject<HTMLElement | null>,
  onChange: (element: HTMLElement) => void,
): void {
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    const { current } = target;
    if (current === null) return undefined;
    let frame = 0;
    const scheduleUpdate = (): void => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => latest.current(current));
    };
    latest.current(current);
    const observer = new ResizeObserver(scheduleUpdate);
    observer.observe(current);
    current.addEventListener('scroll', scheduleUpdate, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      current.removeEventListener('scroll', scheduleUpdate);
    };
  }, [target]);
}
