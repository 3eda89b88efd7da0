/** The manual: pages written by hand, with tables that come from the code, and one generated page per step kind. */
import { type HostActions, NO_ACTIONS } from '../../actions/load.ts';
import { kinds } from '../../steps/kinds/table.ts';
import type { Route } from '../http/route.ts';
import { kindPage } from './kind-page.ts';
import type { Page } from './page.ts';
import { writtenPages } from './pages.ts';

export type Manual = ReadonlyMap<string, Page>;

/** Every page by its name, the front page first. `actions` are the host's own. */
export function manual(routes: readonly Route[], actions: HostActions = NO_ACTIONS): Manual {
  return new Map([...writtenPages({ routes, actions }), ...kinds.map(kindPage)].map((page) => [page.name, page]));
}

/** The page of that name. An alias of a step kind names the page of the kind. */
export function pageOf(pages: Manual, name: string): Page | undefined {
  const kind = kinds.find((one) => one.aliases?.includes(name) === true);
  return pages.get(kind?.type ?? name);
}
