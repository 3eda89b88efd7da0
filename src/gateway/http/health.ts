/** `/healthz`: this process answers. `/readyz`: Temporal and its database do too, and whether a worker lives. */
import type { Router } from 'express';
import { describe } from '../../client/temporal/actor-calls.ts';
import { hasWorker } from '../../client/temporal/worker-liveness.ts';
import type { Gateway } from './context.ts';
import { resource } from './resource.ts';

/** No workflow has this id. */
const NOBODY = 'readyz';

export function healthRoutes(router: Router, gateway: Gateway): void {
  const { access, deadWorkers } = gateway;
  resource(router, '/healthz', {
    GET: (_req, res) => {
      res.json({ status: 'ok' });
    },
  });
  resource(router, '/readyz', {
    GET: async (_req, res) => {
      // Temporal tells of workers from memory, also while its database fails: of what it does not know it must ask that.
      const [worker] = await Promise.all([hasWorker(access, deadWorkers), describe(access, NOBODY)]);
      // Without a worker runs are accepted, and wait for one.
      res.json({ status: 'ready', temporal: true, worker });
    },
  });
}
