/** Every route of the gateway. The order counts where one address fits two paths. */
import type { Route } from './http/route.ts';
import { auditRoutes } from './routes/organization/audit.ts';
import { inboxRoutes } from './routes/organization/inbox.ts';
import { keyRoutes } from './routes/organization/keys.ts';
import { limitRoutes } from './routes/organization/limits.ts';
import { mcpServerRoutes } from './routes/organization/mcp-servers.ts';
import { modelRoutes } from './routes/organization/models.ts';
import { secretRoutes } from './routes/organization/secrets.ts';

export const routes: readonly Route[] = [
  ...limitRoutes,
  ...secretRoutes,
  ...inboxRoutes,
  ...keyRoutes,
  ...auditRoutes,
  ...modelRoutes,
  ...mcpServerRoutes,
];
