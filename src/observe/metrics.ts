/**
 * The metrics of this process, which `/metrics` shows. Their labels have few values: never ids of runs, organizations,
 * workflows or steps. The metrics of runs come from the interceptors of workflows (workflows/interceptors.ts) and are
 * exported by Temporal's SDK.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { programVersion } from './version.ts';

export type Component = 'gateway' | 'worker';

const registries = { gateway: new Registry(), worker: new Registry() };
const gatewayRegistries = [registries.gateway];
const workerRegistries = [registries.worker];
const bothRegistries = [registries.gateway, registries.worker];

/** The media type of metricsText. */
export const METRICS_TYPE = registries.gateway.contentType;

const REQUEST_SECONDS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const STEP_SECONDS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];

export const httpRequests = new Histogram({
  name: 'signalbox_http_request_duration_seconds',
  help: 'Requests to the gateway by method, route and status.',
  labelNames: ['method', 'route', 'status'],
  buckets: REQUEST_SECONDS,
  registers: gatewayRegistries,
});

export const refusals = new Counter({
  name: 'signalbox_refusals_total',
  help: 'Problems that the gateway answered, by code.',
  labelNames: ['code'],
  registers: gatewayRegistries,
});

export const webhookDeliveries = new Counter({
  name: 'signalbox_webhook_deliveries_total',
  help: 'Deliveries to webhooks by scheme and verdict: started, repeated, debounced, handshake, or a problem code.',
  labelNames: ['scheme', 'verdict'],
  registers: gatewayRegistries,
});

export const stepAttempts = new Histogram({
  name: 'signalbox_step_duration_seconds',
  help: 'Attempts of steps and of other activities, by kind and outcome: ok, retryable, failed or cancelled.',
  labelNames: ['kind', 'outcome'],
  buckets: STEP_SECONDS,
  registers: workerRegistries,
});

export const slotRequests = new Counter({
  name: 'signalbox_limiter_requests_total',
  help: 'Requests for a slot of a limiter, by scope and answer: granted, waiting, refused or dropped.',
  labelNames: ['scope', 'answer'],
  registers: bothRegistries,
});

export const blobFailures = new Counter({
  name: 'signalbox_blob_failures_total',
  help: 'Large payloads that the store for them did not take or give, by operation (store, retrieve) and code.',
  labelNames: ['operation', 'code'],
  registers: bothRegistries,
});

export const openRuns = new Gauge({
  name: 'signalbox_runs_open',
  help: 'Open runs by status: pending (in the queue of a limiter), running, waiting, rolling_back.',
  labelNames: ['status'],
  registers: gatewayRegistries,
});

export const openWaits = new Gauge({
  name: 'signalbox_waits_open',
  help: 'Open runs that wait, by kind: approval, input, message, callback, timer, child. A run counts once a kind.',
  labelNames: ['kind'],
  registers: gatewayRegistries,
});

export const queueAge = new Gauge({
  name: 'signalbox_task_queue_backlog_age_seconds',
  help: 'The age of the oldest task in the backlog of the task queue, by type: workflow or activity.',
  labelNames: ['type'],
  registers: gatewayRegistries,
});

export const queueBacklog = new Gauge({
  name: 'signalbox_task_queue_backlog_tasks',
  help: 'Tasks in the backlog of the task queue, by type.',
  labelNames: ['type'],
  registers: gatewayRegistries,
});

export const queuePollers = new Gauge({
  name: 'signalbox_task_queue_pollers',
  help: 'Pollers of the task queue that were seen in the last minutes, by type. 0: nothing polls.',
  labelNames: ['type'],
  registers: gatewayRegistries,
});

export const temporalUp = new Gauge({
  name: 'signalbox_temporal_up',
  help: '1 if Temporal answered the questions of this scrape, else 0.',
  registers: gatewayRegistries,
});

export const workerDeaths = new Counter({
  name: 'signalbox_worker_deaths_total',
  help: 'Workers of this stack that ended unexpectedly.',
  registers: gatewayRegistries,
});

const build = new Gauge({
  name: 'signalbox_build_info',
  help: 'The version of this program.',
  labelNames: ['version', 'component'],
  registers: bothRegistries,
});

const startedComponents = new Set<Component>();

/** Adds the metrics of Node and of this program. Repeating it changes nothing. */
export function startMetrics(component: Component): void {
  if (startedComponents.has(component)) return;
  startedComponents.add(component);
  build.set({ version: programVersion(), component }, 1);
  collectDefaultMetrics({ register: registries[component] });
}

/** All metrics of the component, in the text format of Prometheus. */
export const metricsText = (component: Component): Promise<string> => registries[component].metrics();
