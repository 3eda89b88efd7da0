/** `/healthz`: this process answers. `/readyz`: Temporal does too, and whether a worker polls. */
import type { Router } from 'express';
import { read } from '../client/calls.ts';
import type { Gateway } from './context.ts';
import { resource } from './resource.ts';

const TASK_QUEUE_TYPE_WORKFLOW = 1;

export function healthRoutes(router: Router, gateway: Gateway): void {
  const { access } = gateway;
  resource(router, '/healthz', {
    GET: (_req, res) => {
      res.json({ status: 'ok' });
    },
  });
  resource(router, '/readyz', {
    GET: async (_req, res) => {
      const { pollers } = await read(access, () =>
        access.client.workflowService.describeTaskQueue({
          namespace: access.namespace,
          taskQueue: { name: access.taskQueue },
          taskQueueType: TASK_QUEUE_TYPE_WORKFLOW,
        }),
      );
      // Without a worker runs are accepted, and wait for one.
      res.json({ status: 'ready', temporal: true, worker: (pollers ?? []).length > 0 });
    },
  });
}
