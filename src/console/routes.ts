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

export interface RouteMatch<Name extends RouteName = RouteName> {
  readonly name: Name;
  readonly params: ParamsOf<Name>;
  readonly query: { readonly [name: string]: string };
  /** The path as it is in the address. Screens remount when it changes, but not when only the query does. */
  readonly path: string;
}

/** The arguments of `addressOf` after the name: parameters if the route has any. */
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

/** The route of an address. Undefined for an unknown address. */
export function matchRoute(pathname: string, search: string): RouteMatch | undefined {
  if (pathname !== ROOT && !pathname.startsWith(`${ROOT}/`)) return undefined;
  const path = pathname.slice(ROOT.length).replace(/\/+$/, '');
  const parts = path.split('/').slice(1);
  for (const name of ROUTE_NAMES) {
    const params = matchParams(PATTERNS[name], parts);
    if (params !== undefined && isKnownSection(name, params))
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

/** The address to open after a login: `to` if it is an address of the console, otherwise its root. */
export function loginTarget(to: string | undefined): string {
  if (to === undefined || !to.startsWith(`${ROOT}/`) || to.includes('\\')) return ROOT;
  const [pathname = '', search = ''] = to.split('?', 2);
  const route = matchRoute(pathname, search);
  return route === undefined || route.name === 'login' ? ROOT : to;
}

function matchParams(pattern: string, parts: readonly string[]): { [name: string]: string } | undefined {
  const wanted = pattern === '/' ? [] : pattern.split('/').slice(1);
  if (wanted.length !== parts.length) return undefined;
  const params: { [name: string]: string } = {};
  for (const [index, part] of wanted.entries()) {
    const given = decodePart(parts[index] ?? '');
    if (part.startsWith(':')) {
      if (given === undefined || given === '') return undefined;
      params[part.slice(1)] = given;
    } else if (given !== part) return undefined;
  }
  return params;
}

/** Decodes a part of a path. Undefined for invalid escapes, such as `%zz`. */
function decodePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

const isKnownSection = (name: RouteName, params: { readonly [name: string]: string }): boolean =>
  name !== 'settings' || SETTINGS_SECTIONS.some((section) => section === params['section']);
