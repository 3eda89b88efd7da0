import type { ComponentChildren } from 'preact';
import { hasScreen } from '../navigation.ts';
import { addressOf, type ParamsOf, type Query, type RouteName } from '../routes.ts';

interface ToProps<Name extends RouteName> {
  readonly to: Name;
  readonly params: ParamsOf<Name>;
  readonly query?: Query | undefined;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly isCurrent?: boolean;
}

/** A link to a screen. Only its text where the console has no such screen. */
export function To<Name extends RouteName>({ to, params, query, children, isCurrent, ...more }: ToProps<Name>) {
  if (!hasScreen(to)) return <span class={more.class ?? ''}>{children}</span>;
  const address = (addressOf as (name: RouteName, params: object, query?: Query) => string)(to, params, query);
  return (
    <a href={address} class={more.class ?? ''} aria-current={isCurrent === true ? 'page' : undefined}>
      {children}
    </a>
  );
}

/** A link out of the console, for addresses that others have written: only http and https. */
export function Outward({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
  if (!/^https?:\/\//i.test(href)) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}
