import type { ComponentChildren } from 'preact';
import { shortId } from '../data/run-text.ts';
import { hasScreen } from '../navigation.ts';
import { addressOf, type ParamsOf, type Query, type RouteName } from '../routes.ts';

type ScreenLinkProps<Name extends RouteName> = {
  readonly to: Name;
  readonly query?: Query | undefined;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly isCurrent?: boolean;
} & (Record<string, never> extends ParamsOf<Name> ? { params?: undefined } : { readonly params: ParamsOf<Name> });

/** A link to a screen. Only its text where the console has no such screen. */
export function ScreenLink<Name extends RouteName>({
  to,
  params,
  query,
  children,
  isCurrent,
  ...more
}: ScreenLinkProps<Name>) {
  if (!hasScreen(to)) return <span class={more.class ?? ''}>{children}</span>;
  const address = (addressOf as (name: RouteName, params?: object, query?: Query) => string)(to, params, query);
  return (
    <a href={address} class={more.class ?? ''} aria-current={isCurrent === true ? 'page' : undefined}>
      {children}
    </a>
  );
}

interface RunLinkProps {
  readonly id: string;
  /** Default: the end of the run's id. */
  readonly children?: ComponentChildren;
}

export const RunLink = ({ id, children = shortId(id) }: RunLinkProps) => (
  <ScreenLink to="run" params={{ id }}>
    {children}
  </ScreenLink>
);

interface WorkflowLinkProps {
  readonly slug: string;
  /** Default: the slug. */
  readonly children?: ComponentChildren;
}

export const WorkflowLink = ({ slug, children = slug }: WorkflowLinkProps) => (
  <ScreenLink to="workflow" params={{ slug }}>
    {children}
  </ScreenLink>
);

/** A link out of the console, for untrusted addresses: only http and https. */
export function ExternalLink({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
  if (!/^https?:\/\//i.test(href)) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}
