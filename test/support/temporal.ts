import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, inject } from 'vitest';
import { createActivities } from '../../activities/registry.ts';
import { segmentActivity } from '../../activities/segment/segment.ts';
import { loadActions } from '../../src/actions/load.ts';
import { compiledRoot } from '../../src/cli/start/project-root.ts';
import { dataConverterOf } from '../../src/client/payloads/data-converter.ts';
import { createAccess, unaudited, type WriteAccess } from '../../src/client/temporal/access.ts';
import { bootstrap } from '../../src/client/temporal/bootstrap.ts';
import { connect, connectionOptions, type TemporalConnection } from '../../src/client/temporal/connect.ts';
import { setCurrentVersion } from '../../src/client/temporal/worker-deployment.ts';
import { type Config, readConfig } from '../../src/config/config.ts';
import { loadMasterKey } from '../../src/config/master-key.ts';
import { dataLimitOf } from '../../src/definition/document/limits.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { activationLimit } from '../../src/temporal-internals/workflow-thread.ts';
import { activityDependencies } from '../../workers/activity-dependencies.ts';
import { hashOfBundle, workflowBundle } from '../../workers/bundle.ts';
import { workerObservers } from '../../workers/observers.ts';
import { Shutdown } from '../../workers/shutdown.ts';
import { ACTIVATION_MS, workflowWorkerOptions } from '../../workers/workflow-options.ts';
import { namespaceOfSlot } from './namespaces.ts';

// For tests of the project `e2e` (test/e2e/**, test/start/**), which share one real Temporal server. Concurrent files
// have separate namespaces with their search attributes; files that run in sequence in one process share a namespace.
// Each `testServer()` has its own task queue and data folder, and `close()` ends the workflows that still run on it.
// Files do not interfere as long as they use different workflow ids.
//
//   const { server } = sharedServer({ SIGNALBOX_HISTORY_LIMIT: '20' });
//   const handle = await server.client.workflow.start('run', { taskQueue: server.taskQueue, workflowId, args: [...] });
//
// To kill or stop a worker, use `forkWorker(server)`: the very process that `npm start` runs.

/** The shared server, seen by one test file. */
export type TestServer = TemporalConnection & {
  /** Settings that point at the server, with this file's own task queue and data folder. */
  config: Config;
  /** The environment that gives these settings: for child processes. */
  env: NodeJS.ProcessEnv;
  taskQueue: string;
};

/**
 * Encrypted actors have a namespace of their own, because ids of actors are the same in every file, and other files
 * could not read them.
 */
const namespaceFor = ({ SIGNALBOX_CODEC }: Record<string, string>): string =>
  SIGNALBOX_CODEC === undefined
    ? namespaceOfSlot(Number(process.env['VITEST_POOL_ID']))
    : `signalbox-test-codec-${randomBytes(4).toString('hex')}`;

/** As a gateway over the server has it. */
export const writeAccess = (server: TestServer): WriteAccess =>
  unaudited(createAccess(server, server.config, loadMasterKey(server.config)));

/** Connects to the shared server. `overrides` are environment variables, such as SIGNALBOX_HISTORY_LIMIT. */
export async function testServer(overrides: Record<string, string> = {}): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'signalbox-test-'));
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    SIGNALBOX_PORT: '0',
    SIGNALBOX_DATA: dataDir,
    SIGNALBOX_TASK_QUEUE: `test-${randomBytes(6).toString('hex')}`,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    TEMPORAL_NAMESPACE: namespaceFor(overrides),
    ...overrides,
  };
  const config = readConfig(env);
  const temporal = await connect(config);
  const isOwn = config.temporal.namespace !== namespaceOfSlot(Number(process.env['VITEST_POOL_ID']));
  if (isOwn) await bootstrap(temporal, { retentionDays: config.retentionDays, ownServer: true });
  return {
    ...temporal,
    config,
    env,
    taskQueue: config.taskQueue,
    close: async () => {
      await endAll(temporal, config.taskQueue);
      await temporal.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The query of everything on a task queue: a query that does not name the attribute has runs only. */
export const workflowsOf = (taskQueue: string): string =>
  `TaskQueue = '${taskQueue}' AND (TemporalNamespaceDivision = 'signalbox' OR TemporalNamespaceDivision IS NULL)`;

/**
 * Actors have the same ids in every file (`org.default`) and stay on the task queue that started them. An actor without
 * the worker of its file would block the next file.
 */
async function endAll({ client }: TemporalConnection, taskQueue: string): Promise<void> {
  // One that has just continued as new is in the lists by its former run only.
  const query = `${workflowsOf(taskQueue)} AND ExecutionStatus IN ('Running', 'ContinuedAsNew')`;
  const ids = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query })) ids.add(workflowId);
  for (const workflowId of ids) {
    // One that has ended meanwhile is as good.
    await client.workflow
      .getHandle(workflowId)
      .terminate('The test file has ended.')
      .catch(() => undefined);
  }
}

/** A worker that polls. */
export type TestWorker = {
  buildId: string;
  /** With SIGNALBOX_WORKER_VERSIONING=1: what became of its version. */
  madeCurrent?: 'already' | 'set' | 'newer';
  stop(): Promise<void>;
};

export type TestWorkerOptions = {
  /** Activities that replace or join the real ones, by name. */
  activities?: Record<string, (...args: never[]) => Promise<unknown>>;
  /** 0 replays every workflow from its history at every task: what finds nondeterminism. */
  maxCachedWorkflows?: number;
  /** Another bundle than that of the build. */
  bundle?: string;
};

/** How long activities may finish when a worker stops. */
const GRACE_MS = 1_000;

let installed = false;

/** Starts a worker in this process, with the prebuilt workflow bundle and the real activities. */
export async function startWorker(server: TestServer, options: TestWorkerOptions = {}): Promise<TestWorker> {
  if (!installed) {
    Runtime.install({
      logger: new DefaultLogger('ERROR'),
      telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
    });
    installed = true;
  }
  const connection = await NativeConnection.connect(connectionOptions(server.config));
  const shutdown = new Shutdown(GRACE_MS);
  const actions = await loadActions(server.config.actionsDir);
  const parts = activityDependencies(connection, server.config, actions, shutdown.callsEnd);
  const activities = { ...createActivities(server.config, parts), ...parts.actors, ...options.activities };
  const bundle = options.bundle ?? join(compiledRoot(), 'workflow-bundle.js');
  const { historyLimit, blobs, workerVersioning } = server.config;
  const codeHash = workerVersioning === 'off' ? {} : { codeHash: hashOfBundle(bundle) };
  const workflowOptions = workflowWorkerOptions(
    { historyLimit, dataBytes: dataLimitOf(blobs.isOn), ...codeHash },
    server.taskQueue,
  );
  const worker = await Worker.create({
    connection,
    namespace: server.namespace,
    taskQueue: server.taskQueue,
    dataConverter: dataConverterOf(server.config),
    workflowBundle: workflowBundle(bundle, server.config),
    ...workflowOptions,
    ...(server.config.sdkPatches ? activationLimit(ACTIVATION_MS) : {}),
    activities: { ...activities, segment: segmentActivity(activities as never, parts) },
    ...workerObservers(),
    maxCachedWorkflows: options.maxCachedWorkflows ?? 100,
    shutdownGraceTime: shutdown.graceMs,
    shutdownForceTime: 5_000,
  });
  const running = worker.run();
  const { version } = workflowOptions.workerDeploymentOptions;
  const madeCurrent =
    workerVersioning === 'automatic'
      ? await setCurrentVersion(connection, { namespace: server.namespace, ...version })
      : undefined;
  return {
    ...omitUndefined({ madeCurrent }),
    buildId: version.buildId,
    stop: async () => {
      shutdown.begin(worker);
      await running;
      await connection.close();
    },
  };
}

/**
 * The server of a test file, or of a block, with a worker in this process: they are there for its tests and hooks, and
 * closed after them.
 */
export function sharedServer(
  overrides: Record<string, string> = {},
  options: TestWorkerOptions = {},
): { readonly server: TestServer; readonly worker: TestWorker } {
  const server = {} as TestServer;
  const worker = {} as TestWorker;
  beforeAll(async () => {
    Object.assign(server, await testServer(overrides));
    Object.assign(worker, await startWorker(server, options));
  });
  afterAll(async () => {
    await worker.stop();
    await server.close();
  });
  return { server, worker };
}

/** A worker process of its own, which a test may kill. */
export type ForkedWorker = { child: ChildProcess; end(): Promise<void> };

/** Forks workers/main.js and resolves when it polls. */
export async function forkWorker(server: TestServer, more: NodeJS.ProcessEnv = {}): Promise<ForkedWorker> {
  const child = fork(join(compiledRoot(), 'workers/main.js'), [], {
    env: { ...server.env, ...more },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', (code) => reject(new Error(`The worker ended before it was ready (exit code ${code}).`)));
  });
  return {
    child,
    end: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await gone;
    },
  };
}
