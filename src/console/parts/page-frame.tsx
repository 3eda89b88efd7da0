/** The frame around every screen: navigation, the user, and whether the gateway is reachable. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { isGatewayUnreachable } from '../data/connection.ts';
import { countDrafts, removeDrafts } from '../data/draft-keys.ts';
import { countText } from '../data/format-text.ts';
import { logOut, useMe } from '../data/session.ts';
import { useStore } from '../data/store.ts';
import { navigate, useRouteMatch } from '../navigation.ts';
import { addressOf, type RouteName } from '../routes.ts';
import { Announcer } from './announcer.tsx';
import { Button } from './button.tsx';
import { Actions, Dialog } from './dialog.tsx';
import { Icon, Logo } from './icons.tsx';
import { ScreenLink } from './link.tsx';
import { ShortcutsHelp } from './shortcuts.tsx';

export interface NavigationLink {
  readonly to: RouteName;
  readonly text: string;
  readonly params?: { readonly [name: string]: string };
  /** The routes for which the link is shown as current. */
  readonly childRoutes: readonly RouteName[];
  readonly badge?: ComponentChildren;
}

interface PageFrameProps {
  readonly links: readonly NavigationLink[];
  readonly children: ComponentChildren;
}

export function PageFrame({ links, children }: PageFrameProps) {
  const route = useRouteMatch();
  const isUnreachable = useStore(isGatewayUnreachable);
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header>
        <nav aria-label="Main">
          <ScreenLink to="home" class="logo" isCurrent={route?.name === 'home'}>
            <Logo /> <span>Signalbox</span>
          </ScreenLink>
          {links.map(({ to, text, params, childRoutes, badge }) => (
            <ScreenLink
              key={to}
              to={to}
              params={(params ?? {}) as never}
              isCurrent={route !== undefined && childRoutes.includes(route.name)}
            >
              {text}
              {badge}
            </ScreenLink>
          ))}
          <span class="grow" />
          <UserMenu />
        </nav>
        {isUnreachable ? (
          <p class="lost" role="status">
            <Icon name="warning" /> The gateway cannot be reached. Reconnecting…
          </p>
        ) : null}
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Announcer />
      <ShortcutsHelp />
    </div>
  );
}

function UserMenu() {
  const me = useMe();
  const [isConfirming, setConfirming] = useState(false);
  if (me === undefined || !me.hasKeys) return <a href="/docs">Manual</a>;
  const drafts = countDrafts(me, localStorage);
  const endSession = async (): Promise<void> => {
    setConfirming(false);
    await logOut().catch(() => undefined);
    navigate(addressOf('login'));
  };
  return (
    <>
      <a href="/docs">Manual</a>
      <span class="person">
        <Icon name="person" /> {me.id ?? me.role} <span class="dim">{me.role}</span>
      </span>
      {me.session === undefined ? null : (
        <Button
          kind="quiet"
          onClick={() => (countDrafts(me, localStorage) > 0 ? setConfirming(true) : void endSession())}
        >
          Log out
        </Button>
      )}
      {isConfirming ? (
        <Dialog title="Log out" onClose={() => setConfirming(false)}>
          <p>
            This browser keeps {countText(drafts, 'draft')} of yours. Others who use this browser could read what it
            keeps.
          </p>
          <Actions>
            <Button onClick={() => void endSession()}>Keep and log out</Button>
            <Button
              kind="primary"
              onClick={() => {
                removeDrafts(me, localStorage);
                void endSession();
              }}
            >
              Remove and log out
            </Button>
          </Actions>
        </Dialog>
      ) : null}
    </>
  );
}
