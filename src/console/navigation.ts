/** Moves between screens: by links, by the browser's history, and from code. */
import { createStore, useStore } from './data/store.ts';
import { matchRoute, type Query, queryText, ROOT, type RouteMatch, type RouteName } from './routes.ts';

const matchCurrentAddress = (): RouteMatch | undefined => matchRoute(location.pathname, location.search);

const currentMatch = createStore<RouteMatch | undefined>(undefined);
const screens = new Set<RouteName>();
let hasNavigated = false;
let previousPath: string | undefined;

/** The route of the current address; undefined for an unknown address. */
export const useRouteMatch = (): RouteMatch | undefined => useStore(currentMatch);

/** Whether the console has that screen. Links to others are not made. */
export const hasScreen = (name: RouteName): boolean => screens.has(name);

/** Whether the screen was opened by navigation: then its heading gets the focus. False for the first screen. */
export const isAfterNavigation = (): boolean => hasNavigated;

/** The path of the previous screen, to mark its row in a list. */
export const previousScreenPath = (): string | undefined => previousPath;

/**
 * Goes to an address of the console. `replace`: without an entry in the history, for what is no new screen.
 */
export function navigate(address: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  onAddressChange();
}

/** Changes members of the query and keeps the others. Undefined and '' remove a member. */
export function changeQuery(change: Query, { replace = true }: { readonly replace?: boolean } = {}): void {
  const query = { ...(currentMatch.get()?.query ?? {}), ...change };
  const address = `${location.pathname}${queryText(query)}`;
  if (address !== `${location.pathname}${location.search}`) navigate(address, { replace });
}

/** Listens to links and to the browser's buttons. Call it once, with the names of all screens. */
export function startNavigation(names: readonly RouteName[]): void {
  for (const name of names) screens.add(name);
  currentMatch.set(matchCurrentAddress());
  addEventListener('popstate', onAddressChange);
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || !isConsoleLink(event, link)) return;
    event.preventDefault();
    navigate(`${link.pathname}${link.search}`);
  });
}

function onAddressChange(): void {
  const last = currentMatch.get();
  const next = matchCurrentAddress();
  if (last?.path !== next?.path) {
    hasNavigated = true;
    previousPath = last?.path;
    scrollTo(0, 0);
  }
  currentMatch.set(next);
}

/** A plain click on a link to a screen. Others are the browser's: new tabs, downloads, other origins, other pages. */
function isConsoleLink(event: MouseEvent, link: HTMLAnchorElement): boolean {
  if (event.defaultPrevented || event.button !== 0) return false;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return false;
  if (link.origin !== location.origin || link.hasAttribute('download')) return false;
  if (link.target !== '' && link.target !== '_self') return false;
  if (link.hash !== '' && link.pathname === location.pathname) return false;
  return link.pathname === ROOT || link.pathname.startsWith(`${ROOT}/`);
}
