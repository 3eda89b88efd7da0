/**
 * `/metrics`: the metrics of this process and the load of the host, in Prometheus' format. They count the runs of all
 * organizations, so only keys of `default` see them.
 */
import { z } from 'zod';
import type { Access } from '../../../client/temporal/access.ts';
import { openRunCounts, openWaitCounts, queueLoads } from '../../../client/visibility/workload.ts';
import { DEFAULT_ORGANIZATION } from '../../../contract/organization/organization.ts';
import {
  METRICS_TYPE,
  metricsText,
  openRuns,
  openWaits,
  queueAge,
  queueBacklog,
  queuePollers,
  temporalUp,
} from '../../../observe/metrics.ts';
import { type Gateway, perGateway } from '../../http/context.ts';
import { demandOrganization } from '../../http/principal.ts';
import { route } from '../../http/route.ts';

/** How long Temporal's answers are cached: several scrapers, or a frequent one, cost no more than one. */
const CACHE_TTL_MS = 5_000;

const loadOf = perGateway((gateway: Gateway) => {
  let last: { readonly at: number; readonly measured: Promise<void> } | undefined;
  return (): Promise<void> => {
    if (last === undefined || Date.now() - last.at > CACHE_TTL_MS)
      last = { at: Date.now(), measured: measure(gateway.access) };
    return last.measured;
  };
});

/** Never rejects: without Temporal the numbers are missing. */
async function measure(access: Access): Promise<void> {
  try {
    const [loads, counts] = await Promise.all([queueLoads(access), openRunCounts(access)]);
    for (const { type, age, tasks, pollers } of loads) {
      queueAge.set({ type }, age);
      queueBacklog.set({ type }, tasks);
      queuePollers.set({ type }, pollers);
    }
    for (const { status, count } of counts) openRuns.set({ status }, count);
    temporalUp.set(1);
  } catch {
    for (const gauge of [queueAge, queueBacklog, queuePollers, openRuns, openWaits]) gauge.reset();
    temporalUp.set(0);
    return;
  }
  // A cluster with Temporal's default limits may refuse so many counts in a second.
  try {
    for (const { kind, count } of await openWaitCounts(access)) openWaits.set({ kind }, count);
  } catch {
    openWaits.reset();
  }
}

export const metricsRoutes = [
  route({
    method: 'GET',
    path: '/metrics',
    role: 'viewer',
    id: 'getMetrics',
    summary: "The gateway's metrics, in the format of Prometheus.",
    description: 'They count the runs of all organizations: only keys of the organization `default` may read them.',
    answers: { 200: { text: 'The metrics.', schema: z.string(), media: ['text/plain'] } },
    problems: ['not_found'],
    handle: async ({ gateway, req }) => {
      demandOrganization(req, DEFAULT_ORGANIZATION);
      await loadOf(gateway)();
      return { status: 200, type: METRICS_TYPE, text: await metricsText('gateway') };
    },
  }),
];
