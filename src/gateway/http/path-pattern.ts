/** Paths of routes as patterns, for checks that run before Express chooses a route. */
import type { Route } from './route.ts';

/** The addresses of a path such as `/docs/:page` or `/webhooks/:org/*path`. */
export const pathPattern = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+').replace(/\*\w+/g, '.+')}/?$`);

type Test = (address: string) => boolean;

/** Tells whether an address belongs to a route with the property. */
export function addressesOf(routes: readonly Route[], hasProperty: (route: Route) => boolean): Test {
  const patterns = [...new Set(routes.filter(hasProperty).map(({ path }) => path))].map(pathPattern);
  return (address) => patterns.some((pattern) => pattern.test(address));
}

/** Which addresses need no API key, and where they may be called from. */
export interface PublicAddresses {
  readonly isPublic: Test;
  readonly allowsAnyOrigin: Test;
  readonly isProbe: Test;
}

export const publicAddresses = (routes: readonly Route[]): PublicAddresses => ({
  isPublic: addressesOf(routes, ({ role }) => role === 'public'),
  allowsAnyOrigin: addressesOf(routes, ({ callers }) => callers === 'anywhere'),
  isProbe: addressesOf(routes, ({ callers }) => callers === 'probes'),
});
