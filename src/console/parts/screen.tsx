import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { isAfterNavigation } from '../navigation.ts';

interface ScreenProps {
  /** Heading and title of the page. */
  readonly title: string;
  /** Beside the heading: a status, a version. */
  readonly headingExtra?: ComponentChildren;
  /** At the right: buttons. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  /** Without a margin, for screens that divide the whole page themselves. */
  readonly isFull?: boolean;
}

/** A screen: its heading, and what it shows. A new screen takes the focus to its heading. */
export const Screen = ({ title, headingExtra, actions, children, isFull = false }: ScreenProps) => (
  <div class={isFull ? 'screen full' : 'screen'}>
    <div class="screen-head">
      <Heading>{title}</Heading>
      {headingExtra}
      <span class="grow" />
      {actions}
    </div>
    {children}
  </div>
);

/** The heading of a screen, for screens that make their head themselves. */
export function Heading({ children }: { readonly children: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (isAfterNavigation()) heading.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    document.title = `${children} · Signalbox`;
  }, [children]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
