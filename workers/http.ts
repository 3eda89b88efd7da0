/**
 * The small HTTP server of a worker: `/health` (this process answers), `/ready` (it polls, and Temporal answers) and
 * `/metrics`. It needs no key, and of runs it shows only numbers. Off unless SIGNALBOX_WORKER_PORT is set.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NativeConnection, Worker } from '@temporalio/worker';
import type { Config } from '../src/config/config.ts';
import { METRICS_TYPE, metricsText } from '../src/observe/metrics.ts';

const ANSWER_MS = 2_000;
/** How long an answer of Temporal counts, so that probes cost little. */
const READINESS_CACHE_MS = 1_000;

interface WorkerHttp {
  readonly port: number;
  /** Before this `/ready` answers 503. */
  startedPolling(worker: Worker, connection: NativeConnection): void;
  close(): void;
}

/** The port cannot be listened on. */
export class WorkerPortError extends Error {
  readonly code = 'cannot_listen';
  readonly exitCode = 20;
  constructor(host: string, port: number, error: NodeJS.ErrnoException) {
    super(`Port ${port} of ${host} cannot be listened on (${error.code}). Choose another with SIGNALBOX_WORKER_PORT.`);
    this.name = 'WorkerPortError';
  }
}

/**
 * Listens. `sdkPort`: where Temporal's SDK exports its own metrics on this machine.
 * @throws WorkerPortError
 */
export async function startWorkerHttp(
  { host, port }: NonNullable<Config['workerHttp']>,
  sdkPort: number,
): Promise<WorkerHttp> {
  let isReady = async (): Promise<boolean> => false;
  const server = createServer((req, res) => {
    const path = (req.url ?? '').split('?', 1)[0];
    res.setHeader('cache-control', 'no-store');
    if (req.method !== 'GET' && req.method !== 'HEAD') return send(res, 405, { code: 'method_not_allowed' });
    if (path === '/health') return send(res, 200, { status: 'ok' });
    if (path === '/ready')
      return void isReady().then((is) => send(res, is ? 200 : 503, { status: is ? 'ready' : 'not ready' }));
    if (path === '/metrics')
      return void metricsOf(sdkPort).then((text) => res.setHeader('content-type', METRICS_TYPE).end(text));
    send(res, 404, { code: 'not_found' });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new WorkerPortError(host, port, error)));
    server.listen(port, host.replace(/^\[|\]$/g, ''), resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    startedPolling: (worker, connection) => {
      isReady = readiness(worker, connection);
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const send = (res: ServerResponse, status: number, body: object): void =>
  void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

function readiness(worker: Worker, connection: NativeConnection): () => Promise<boolean> {
  let cached: { readonly at: number; readonly isThere: Promise<boolean> } | undefined;
  const probe = (): Promise<boolean> =>
    connection
      .withDeadline(Date.now() + ANSWER_MS, () => connection.workflowService.getSystemInfo({}))
      .then(
        () => true,
        () => false,
      );
  return async () => {
    if (worker.getState() !== 'RUNNING') return false;
    if (cached === undefined || Date.now() - cached.at > READINESS_CACHE_MS)
      cached = { at: Date.now(), isThere: probe() };
    return cached.isThere;
  };
}

/** This process's metrics, followed by those of Temporal's SDK. Their names differ. */
async function metricsOf(sdkPort: number): Promise<string> {
  const own = await metricsText('worker');
  try {
    const answer = await fetch(`http://127.0.0.1:${sdkPort}/metrics`, { signal: AbortSignal.timeout(ANSWER_MS) });
    return `${own.trimEnd()}\n${await answer.text()}`;
  } catch {
    return own;
  }
}
