/**
 * What each route asks for: a role, or nothing where a signature, a token or a key of its own counts (`public`). A route
 * that is not here asks for an admin; a test holds the table complete.
 */
import type { Role } from '../../contract/organization.ts';

export type Demand = Role | 'public';

type Demands = { readonly [method: string]: Demand };

const every = (demand: Demand): Demands => ({
  GET: demand,
  POST: demand,
  PUT: demand,
  PATCH: demand,
  DELETE: demand,
});

export const ROUTE_ROLES: { readonly [path: string]: Demands } = {
  '/healthz': { GET: 'public' },
  '/readyz': { GET: 'public' },
  '/openapi.json': { GET: 'public' },
  '/schema.json': { GET: 'public' },
  '/docs': { GET: 'public' },
  '/docs/:page': { GET: 'public' },
  '/webhooks/:path': every('public'),
  '/webhooks/:org/*path': every('public'),
  '/callbacks/:token': every('public'),

  '/api/workflows': { GET: 'viewer', POST: 'editor' },
  '/api/workflows/validate': { POST: 'viewer' },
  '/api/workflows/sync': { POST: 'editor' },
  '/api/workflows/sync-all': { POST: 'editor' },
  '/api/workflows/:slug': { GET: 'viewer', PUT: 'editor', PATCH: 'editor', DELETE: 'editor' },
  '/api/workflows/:slug/enable': { POST: 'editor' },
  '/api/workflows/:slug/disable': { POST: 'editor' },
  '/api/workflows/:slug/history': { GET: 'viewer' },
  '/api/workflows/:slug/history/:hash': { GET: 'viewer' },
  '/api/workflows/:slug/diff': { GET: 'viewer' },
  '/api/workflows/:slug/rollback': { POST: 'editor' },
  // Who may run a workflow may propose a change of it: agents do. Others decide, and apply it.
  '/api/workflows/:slug/proposals': { GET: 'viewer', POST: 'runner' },
  '/api/workflows/:slug/proposals/:id': { GET: 'viewer' },
  '/api/workflows/:slug/proposals/:id/review': { POST: 'approver' },
  '/api/workflows/:slug/proposals/:id/apply': { POST: 'editor' },
  '/api/workflows/:slug/executions': { GET: 'viewer' },
  '/api/workflows/:slug/graph': { GET: 'viewer' },
  '/api/organizations/:org/workflows/runs': { GET: 'viewer' },
  '/api/organizations/:org/workflows/:slug/runs': { GET: 'viewer', POST: 'runner' },
  '/api/organizations/:org/workflows/:slug/runs/:run': { GET: 'viewer' },

  // A definition of one's own is whatever one likes to run: that is an editor's right, also as a dry run.
  '/api/executions': { GET: 'viewer', POST: 'editor' },
  '/api/executions/bulk': { POST: 'editor' },
  '/api/executions/bulk/:operation': { GET: 'viewer' },
  '/api/executions/:id': { GET: 'viewer' },
  '/api/executions/:id/steps': { GET: 'viewer' },
  '/api/executions/:id/events': { GET: 'viewer' },
  '/api/executions/:id/state': { GET: 'viewer' },
  '/api/executions/:id/definition': { GET: 'viewer' },
  '/api/executions/:id/result': { GET: 'viewer' },
  '/api/executions/:id/approve': { POST: 'approver' },
  '/api/executions/:id/submit': { POST: 'runner' },
  '/api/executions/:id/messages/:name': { POST: 'runner' },
  '/api/executions/:id/cancel': { POST: 'runner' },
  '/api/executions/:id/retry': { POST: 'runner' },
  '/api/executions/:id/fork': { POST: 'editor' },
  // Nothing is rolled back.
  '/api/executions/:id/terminate': { POST: 'editor' },
  '/api/approvals': { GET: 'viewer' },

  '/api/triggers/manual/run': { POST: 'runner' },
  '/api/triggers': { GET: 'viewer', POST: 'editor' },
  '/api/triggers/:id': { GET: 'viewer', PATCH: 'editor', DELETE: 'editor' },
  '/api/triggers/:id/enable': { POST: 'editor' },
  '/api/triggers/:id/disable': { POST: 'editor' },
  '/api/triggers/:id/run': { POST: 'runner' },
  '/api/triggers/:id/backfill': { POST: 'editor' },
  '/api/events': { POST: 'runner' },
  '/api/public/trigger/:publicApiKey/:workflowId': { POST: 'public' },
  '/api/private/trigger/:workflowId': { POST: 'runner' },
  // Its holder starts runs, and the run does not record who that is.
  '/api/public-key': { GET: 'editor', POST: 'admin' },
  '/api/expressions/evaluate': { POST: 'viewer' },

  // All that anybody keeps in Temporal.
  '/codec/encode': { POST: 'admin' },
  '/codec/decode': { POST: 'admin' },
};

/** What a route asks for. */
export function demandOf(method: string, path: string): Demand {
  return ROUTE_ROLES[path]?.[method === 'HEAD' ? 'GET' : method] ?? 'admin';
}

/**
 * Requests that start runs or send to them: a run says itself who started it, and its history what it was sent. A start of
 * an inline run is not here, since it may store secrets: of the start itself it tells the audit nothing (inline-run.ts).
 */
const KEPT_BY_RUNS: ReadonlySet<string> = new Set([
  'POST /api/executions/:id/messages/:name',
  'POST /api/triggers/manual/run',
  'POST /api/triggers/:id/run',
  'POST /api/events',
  'POST /api/private/trigger/:workflowId',
  'POST /api/organizations/:org/workflows/:slug/runs',
]);

/** Whether what the route changes is written down in the audit. */
export const isAudited = (method: string, path: string): boolean =>
  method !== 'GET' && method !== 'HEAD' && !KEPT_BY_RUNS.has(`${method} ${path}`);

const PUBLIC = Object.entries(ROUTE_ROLES)
  .filter(([, methods]) => Object.values(methods).every((demand) => demand === 'public'))
  .map(([path]) => new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+').replace(/\*\w+/g, '.+')}/?$`));

/** Whether an address asks for no key, told before any route is chosen. */
export const isPublicPath = (path: string): boolean => PUBLIC.some((pattern) => pattern.test(path));
