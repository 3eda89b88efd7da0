/** `/healthz`: this process answers. `/readyz`: Temporal and its database answer too, and whether a worker is alive. */
import { z } from 'zod';
import { describe } from '../../../client/temporal/actor-calls.ts';
import { hasWorker } from '../../../client/temporal/worker-liveness.ts';
import { named } from '../../answers/named.ts';
import { ok, route } from '../../http/route.ts';
import { anyQuery } from '../../validation/validation.ts';

/** No workflow has this id. */
const MISSING_WORKFLOW_ID = 'readyz';

const healthy = named('Healthy', z.object({ status: z.literal('ok') }));
const ready = named(
  'Ready',
  z.object({
    status: z.literal('ready'),
    temporal: z.literal(true),
    worker: z.boolean().describe('Without a worker, runs are accepted, and wait.'),
  }),
);

export const healthRoutes = [
  route({
    method: 'GET',
    path: '/healthz',
    role: 'public',
    callers: 'probes',
    asksTemporal: false,
    id: 'healthz',
    summary: 'Whether the gateway answers.',
    description: 'It asks nobody else, so it says only that the process handles requests: for liveness probes.',
    query: anyQuery,
    answers: { 200: { text: 'It does.', schema: healthy } },
    handle: () => ok({ status: 'ok' as const }),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    role: 'public',
    callers: 'probes',
    id: 'readyz',
    summary:
      'Whether Temporal and its database answer, and whether a worker is alive: a dead one is noticed within 15 ' +
      'seconds, or 75 if Temporal does not support heartbeats.',
    description:
      'For readiness probes. Without a worker it is 200 with `worker: false`: runs are accepted and wait for one.',
    query: anyQuery,
    answers: { 200: { text: 'They do.', schema: ready } },
    handle: async ({ gateway: { deadWorkers }, access }) => {
      // Temporal lists workers from memory even while its database fails, so this also reads a workflow.
      const [worker] = await Promise.all([hasWorker(access, deadWorkers), describe(access, MISSING_WORKFLOW_ID)]);
      // Without a worker runs are accepted, and wait for one.
      return ok({ status: 'ready' as const, temporal: true as const, worker });
    },
  }),
];
