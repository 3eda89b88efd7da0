/** What is around every screen: the names of the places, who is logged in, and whether the gateway is there. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { isLost } from '../data/connection.ts';
import { countDrafts, forgetDrafts } from '../data/draft-keys.ts';
import { counted } from '../data/labels.ts';
import { logOut, useMe } from '../data/session.ts';
import { useStore } from '../data/store.ts';
import { navigate, usePlace } from '../navigation.ts';
import { addressOf, type RouteName } from '../routes.ts';
import { Announcer } from './announcer.tsx';
import { Button } from './button.tsx';
import { Actions, Dialog } from './dialog.tsx';
import { Icon, Logo } from './icons.tsx';
import { KeysHelp } from './keys.tsx';
import { To } from './link.tsx';

export interface FrameLink {
  readonly to: RouteName;
  readonly text: string;
  readonly params?: { readonly [name: string]: string };
  /** Routes that are below it. */
  readonly holds: readonly RouteName[];
  readonly beside?: ComponentChildren;
}

interface FrameProps {
  readonly links: readonly FrameLink[];
  readonly children: ComponentChildren;
}

export function Frame({ links, children }: FrameProps) {
  const place = usePlace();
  const lost = useStore(isLost);
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header>
        <nav aria-label="Main">
          <To to="home" class="logo" isCurrent={place?.name === 'home'}>
            <Logo /> <span>Signalbox</span>
          </To>
          {links.map(({ to, text, params, holds, beside }) => (
            <To
              key={to}
              to={to}
              params={(params ?? {}) as never}
              isCurrent={place !== undefined && holds.includes(place.name)}
            >
              {text}
              {beside}
            </To>
          ))}
          <span class="grow" />
          <Person />
        </nav>
        {lost ? (
          <p class="lost" role="status">
            <Icon name="warning" /> The gateway cannot be reached. Reconnecting…
          </p>
        ) : null}
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Announcer />
      <KeysHelp />
    </div>
  );
}

function Person() {
  const me = useMe();
  const [isAsking, setAsking] = useState(false);
  if (me === undefined || !me.hasKeys) return <a href="/docs">Manual</a>;
  const drafts = countDrafts(me, localStorage);
  const leave = async (): Promise<void> => {
    setAsking(false);
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
        <Button kind="quiet" onClick={() => (countDrafts(me, localStorage) > 0 ? setAsking(true) : void leave())}>
          Log out
        </Button>
      )}
      {isAsking ? (
        <Dialog title="Log out" onClose={() => setAsking(false)}>
          <p>
            This browser keeps {counted(drafts, 'draft')} of yours. Others who use this browser could read what it
            keeps.
          </p>
          <Actions>
            <Button onClick={() => void leave()}>Keep and log out</Button>
            <Button
              kind="primary"
              onClick={() => {
                forgetDrafts(me, localStorage);
                void leave();
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
