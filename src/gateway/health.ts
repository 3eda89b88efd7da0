/** `/healthz`: this process answers. `/readyz`: Temporal does too, and whether a worker lives. */
import type { Router } from 'express';
import { hasWorker } from '../client/worker-pulse.ts';
import type { Gateway } from './context.ts';
import { resource } from './resource.ts';

export function healthRoutes(router: Router, gateway: Gateway): void {
  const { access, deadWorkers } = gateway;
  resource(router, '/healthz', {
    GET: (_req, res) => {
      res.json({ status: 'ok' });
    },
  });
  resource(router, '/readyz', {
    GET: async (_req, res) => {
      // Without a worker runs are accepted, and wait for one.
      res.json({ status: 'ready', temporal: true, worker: await hasWorker(access, deadWorkers) });
    },
  });
}
