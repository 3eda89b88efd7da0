/** Moves between screens: by links, by the browser's history, and from code. */
import { storeOf, useStore } from './data/store.ts';
import { type Place, placeOf, type Query, queryText, ROOT, type RouteName } from './routes.ts';

const here = (): Place | undefined => placeOf(location.pathname, location.search);

const place = storeOf<Place | undefined>(undefined);
const screens = new Set<RouteName>();
let hasMoved = false;
let before: string | undefined;

/** The present address; undefined where the console has no such screen. */
export const usePlace = (): Place | undefined => useStore(place);

/** Whether the console has that screen. Links to others are not made. */
export const hasScreen = (name: RouteName): boolean => screens.has(name);

/** Whether a screen took the place of another: then its heading gets the focus. False for the page as it was loaded. */
export const isNextScreen = (): boolean => hasMoved;

/** The path of the screen before, to mark in a list what the user comes back from. */
export const screenBefore = (): string | undefined => before;

/**
 * Goes to an address of the console. `replace`: without an entry in the history, for what is no new screen.
 */
export function navigate(address: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  arrive();
}

/** Changes members of the query and keeps the others. Undefined and '' remove a member. */
export function changeQuery(change: Query, { replace = true }: { readonly replace?: boolean } = {}): void {
  const query = { ...(place.get()?.query ?? {}), ...change };
  const address = `${location.pathname}${queryText(query)}`;
  if (address !== `${location.pathname}${location.search}`) navigate(address, { replace });
}

/** Listens to links and to the browser's buttons. Call it once, with the names of all screens. */
export function startNavigation(names: readonly RouteName[]): void {
  for (const name of names) screens.add(name);
  place.set(here());
  addEventListener('popstate', arrive);
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || !isOurs(event, link)) return;
    event.preventDefault();
    navigate(`${link.pathname}${link.search}`);
  });
}

function arrive(): void {
  const last = place.get();
  const next = here();
  if (last?.path !== next?.path) {
    hasMoved = true;
    before = last?.path;
    scrollTo(0, 0);
  }
  place.set(next);
}

/** A plain click on a link to a screen. Others are the browser's: new tabs, downloads, other origins, other pages. */
function isOurs(event: MouseEvent, link: HTMLAnchorElement): boolean {
  if (event.defaultPrevented || event.button !== 0) return false;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return false;
  if (link.origin !== location.origin || link.hasAttribute('download')) return false;
  if (link.target !== '' && link.target !== '_self') return false;
  if (link.hash !== '' && link.pathname === location.pathname) return false;
  return link.pathname === ROOT || link.pathname.startsWith(`${ROOT}/`);
}
