/**
 * The addresses of the console. What a screen shows is in its address: parameters in the path, filters and selections
 * in the query.
 */

/** Where the console begins. */
export const ROOT = '/console';

const PATTERNS = {
  home: '/',
  runs: '/runs',
  run: '/runs/:id',
  approvals: '/approvals',
  approval: '/approvals/:executionId/:path',
  workflows: '/workflows',
  workflow: '/workflows/:slug',
  versions: '/workflows/:slug/versions',
  proposal: '/workflows/:slug/proposals/:id',
  runForm: '/workflows/:slug/run',
  editor: '/workflows/:slug/edit',
  triggers: '/triggers',
  trigger: '/triggers/:id',
  settings: '/settings/:section',
  login: '/login',
} as const;

export type RouteName = keyof typeof PATTERNS;
export const ROUTE_NAMES = Object.keys(PATTERNS) as readonly RouteName[];

export type SettingsSection = (typeof SETTINGS_SECTIONS)[number];
export const SETTINGS_SECTIONS = ['secrets', 'models', 'mcp-servers', 'limits', 'keys', 'audit'] as const;

type NamesIn<Pattern extends string> = Pattern extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : Pattern extends `${string}:${infer Name}`
    ? Name
    : never;

/** The parameters in the path of a route. */
export type ParamsOf<Name extends RouteName> = { readonly [Param in NamesIn<(typeof PATTERNS)[Name]>]: string };

/** Filters and selections. A member that is undefined or empty is left out of the address. */
export type Query = { readonly [name: string]: string | undefined };

export interface Place<Name extends RouteName = RouteName> {
  readonly name: Name;
  readonly params: ParamsOf<Name>;
  readonly query: { readonly [name: string]: string };
  /** The path as it is in the address. Screens are made anew when it changes, and kept when only the query does. */
  readonly path: string;
}

/** What `addressOf` takes after the name: parameters where the route has any. */
type Destination<Name extends RouteName> =
  Record<string, never> extends ParamsOf<Name>
    ? [params?: Record<string, never>, query?: Query]
    : [params: ParamsOf<Name>, query?: Query];

/** The address of a screen. */
export function addressOf<Name extends RouteName>(name: Name, ...[params, query]: Destination<Name>): string {
  const given = (params ?? {}) as { readonly [name: string]: string };
  const path = PATTERNS[name].replace(/:(\w+)/g, (_, param: string) => encodeURIComponent(given[param] ?? ''));
  return `${ROOT}${path === '/' ? '' : path}${queryText(query ?? {})}`;
}

/** The screen of an address. Undefined for an address that the console does not have. */
export function placeOf(pathname: string, search: string): Place | undefined {
  if (pathname !== ROOT && !pathname.startsWith(`${ROOT}/`)) return undefined;
  const path = pathname.slice(ROOT.length).replace(/\/+$/, '');
  const parts = path.split('/').slice(1);
  for (const name of ROUTE_NAMES) {
    const params = paramsIn(PATTERNS[name], parts);
    if (params !== undefined && isKnown(name, params))
      return { name, params: params as ParamsOf<RouteName>, query: queryOf(search), path: `${ROOT}${path}` };
  }
  return undefined;
}

/** The query of an address. Of a name that is there twice the last value counts. */
export const queryOf = (search: string): { readonly [name: string]: string } =>
  Object.fromEntries(new URLSearchParams(search));

/** A query as the end of an address, with its `?`; empty where nothing is set. */
export function queryText(query: Query): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '');
  return set.length === 0 ? '' : `?${new URLSearchParams(set)}`;
}

/** Where a login leads: an address of the console, or its beginning. */
export function afterLogin(to: string | undefined): string {
  if (to === undefined || !to.startsWith(`${ROOT}/`) || to.includes('\\')) return ROOT;
  const [pathname = '', search = ''] = to.split('?', 2);
  const place = placeOf(pathname, search);
  return place === undefined || place.name === 'login' ? ROOT : to;
}

function paramsIn(pattern: string, parts: readonly string[]): { [name: string]: string } | undefined {
  const wanted = pattern === '/' ? [] : pattern.split('/').slice(1);
  if (wanted.length !== parts.length) return undefined;
  const params: { [name: string]: string } = {};
  for (const [index, part] of wanted.entries()) {
    const given = decoded(parts[index] ?? '');
    if (part.startsWith(':')) {
      if (given === undefined || given === '') return undefined;
      params[part.slice(1)] = given;
    } else if (given !== part) return undefined;
  }
  return params;
}

/** Undefined for text that no browser writes into an address, such as `%zz`. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

const isKnown = (name: RouteName, params: { readonly [name: string]: string }): boolean =>
  name !== 'settings' || SETTINGS_SECTIONS.some((section) => section === params['section']);
