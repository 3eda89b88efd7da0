import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { createActivities } from '../activities/registry.ts';
import { ActionsError, loadActions } from '../src/actions/load.ts';
import { isEncrypted } from '../src/client/payloads/codec.ts';
import { dataConverterOf } from '../src/client/payloads/data-converter.ts';
import type { WriteAccess } from '../src/client/temporal/access.ts';
import { connectionOptions } from '../src/client/temporal/connect.ts';
import { isEagerStart, startEagerly } from '../src/client/temporal/eager-starts.ts';
import { setCurrentVersion, type WorkerVersion } from '../src/client/temporal/worker-deployment.ts';
import { identityOf } from '../src/client/temporal/worker-liveness.ts';
import { renewEarlierSchedules } from '../src/client/triggers/triggers.ts';
import { type Config, readConfig } from '../src/config/config.ts';
import { ConfigError } from '../src/config/config-error.ts';
import { dataLimitOf } from '../src/definition/document/limits.ts';
import { startMetrics } from '../src/observe/metrics.ts';
import { onParentExit, sendToParent } from '../src/observe/parent-process.ts';
import { startTracing } from '../src/observe/tracing.ts';
import { skipCodecForPlainPayloads } from '../src/temporal-internals/plain-payloads.ts';
import { activationLimit, watchWorkflowThreads } from '../src/temporal-internals/workflow-thread.ts';
import { activityDependencies } from './activity-dependencies.ts';
import { failureConverterPath, hashOfBundle, workflowBundle } from './bundle.ts';
import { startWorkerHttp, WorkerPortError } from './http.ts';
import { openLog } from './log.ts';
import { effectObserver, workerObservers } from './observers.ts';
import { Shutdown } from './shutdown.ts';
import { sweepBlobsRegularly } from './sweep-blobs.ts';
import { freePort, installRuntime } from './telemetry.ts';
import { ACTIVATION_MS, workflowWorkerOptions } from './workflow-options.ts';

// The worker process. It runs alone (a container, `signalbox start --only worker`) or as a child of `start`. A child
// reports to its parent over IPC when it is ready, and ends when the parent has exited.

/** About 0.3 MB each (TEMPORAL.md §6). A run that is not cached resumes in 50 ms. */
const MAX_CACHED_WORKFLOWS = 300;
/** Heartbeats reach Temporal at least this often, in milliseconds. */
const HEARTBEAT_THROTTLE_MS = 200;
/** After this time another worker takes a run's task, since the worker that caches the run may have ended. */
const STICKY_TIMEOUT_MS = 3_000;
/** Of the workflow pollers: those that take new runs. The others serve runs in the cache. The SDK's default is 0.2. */
const NON_STICKY_POLL_RATIO = 0.5;
/** How long activities may finish after a shutdown signal. Then they are cancelled, and retried elsewhere. */
const GRACE_MS = 7_000;
/** The process exits at the latest this long after the signal. */
const EXIT_DEADLINE_MS = 9_500;

const initialConfig = readConfig();
const log = openLog(initialConfig);

async function main(): Promise<void> {
  const tracing = await startTracing('worker', log);
  startMetrics('worker');
  const sdkPort = initialConfig.workerHttp === undefined ? undefined : await freePort();
  installRuntime(log, initialConfig, sdkPort);
  const http =
    initialConfig.workerHttp === undefined || sdkPort === undefined
      ? undefined
      : await startWorkerHttp(initialConfig.workerHttp, sdkPort);
  // Steps reach neither of these ports.
  const config = {
    ...initialConfig,
    ownPorts: [...initialConfig.ownPorts, ...(http ? [http.port, sdkPort ?? 0] : [])],
  };
  const connection = await NativeConnection.connect(connectionOptions(config));
  const shutdown = new Shutdown(GRACE_MS);
  const dependencies = activityDependencies(
    connection,
    config,
    await loadActions(config.actionsDir),
    shutdown.callsEnd,
  );
  if (config.sdkPatches) patchWorker(config);
  const bundle = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
  const workflowOptions = workflowWorkerOptions(
    {
      historyLimit: config.historyLimit,
      dataBytes: dataLimitOf(config.blobs.isOn),
      encodes: config.codec,
      ...(config.workerVersioning === 'off' ? {} : { codeHash: hashOfBundle(bundle) }),
    },
    config.taskQueue,
  );
  const worker = await Worker.create({
    connection,
    namespace: config.temporal.namespace,
    taskQueue: config.taskQueue,
    identity: identityOf(process.pid),
    dataConverter: {
      ...dataConverterOf(config),
      ...(config.codec ? { failureConverterPath: failureConverterPath() } : {}),
    },
    workflowBundle: workflowBundle(bundle, config),
    ...workflowOptions,
    ...(config.sdkPatches ? activationLimit(ACTIVATION_MS) : {}),
    activities: {
      ...createActivities(config, { ...dependencies, observeEffect: effectObserver(log) }),
      ...dependencies.actors,
    },
    ...workerObservers(log),
    maxCachedWorkflows: MAX_CACHED_WORKFLOWS,
    stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT_MS,
    nonStickyToStickyPollRatio: NON_STICKY_POLL_RATIO,
    // A process that dies repeats the light effects since its last heartbeat (activities/segment/segment.ts).
    maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    shutdownGraceTime: shutdown.graceMs,
    shutdownForceTime: EXIT_DEADLINE_MS - 500,
  });

  const end = (reason: string): void => {
    if (shutdown.hasBegun) return;
    log.info({ reason }, 'The worker accepts no new tasks and lets activities finish.');
    setTimeout(() => process.exit(1), EXIT_DEADLINE_MS).unref();
    shutdown.begin(worker);
  };
  process.on('SIGTERM', () => end('SIGTERM'));
  process.on('SIGINT', () => end('SIGINT'));
  process.on('message', (message) => {
    if (message === 'end') end('requested by its parent');
    else if (isEagerStart(message)) void startEagerly(connection, message).then(sendToParent);
  });

  const running = worker.run();
  onParentExit(() => end('its parent is gone'));
  http?.startedPolling(worker, connection);
  sweepBlobsRegularly(connection, config, log);
  void renewSchedules(dependencies.over);
  const { taskQueue, temporal, sdkPatches } = config;
  if (config.workerVersioning === 'automatic')
    await becomeCurrent(connection, {
      namespace: temporal.namespace,
      ...workflowOptions.workerDeploymentOptions.version,
    });
  log.info(
    {
      taskQueue,
      namespace: temporal.namespace,
      ...(http ? { port: http.port } : {}),
      ...(sdkPatches ? {} : { sdkPatches }),
    },
    'The worker is ready.',
  );
  sendToParent('ready');
  await running;
  await connection.close();
  await tracing?.close();
}

/** What the worker changes in the SDK, besides its logger and external storage (src/temporal-internals/README.md). */
function patchWorker({ codec }: Config): void {
  if (!codec) skipCodecForPlainPayloads(isEncrypted);
  watchWorkflowThreads(ACTIVATION_MS, () => {
    log.fatal(
      { ms: ACTIVATION_MS },
      'The thread of the workflows has answered nothing for too long. The process ends.',
    );
    process.exit(1);
  });
}

async function renewSchedules(access: WriteAccess): Promise<void> {
  try {
    const renewed = await renewEarlierSchedules(access);
    if (renewed > 0) log.info({ renewed }, 'Renewed the times of schedules of an earlier version.');
  } catch (error) {
    log.warn({ err: error }, 'Some schedules of an earlier version keep their times until they come or are written.');
  }
}

/** A worker that may not change the deployment still polls: an operator makes its version current. */
async function becomeCurrent(connection: NativeConnection, version: WorkerVersion): Promise<void> {
  const { deploymentName, buildId } = version;
  try {
    const outcome = await setCurrentVersion(connection, version);
    log.info({ deploymentName, buildId, outcome }, 'The version of the worker.');
  } catch (err) {
    log.error({ deploymentName, buildId, err }, 'The version of the worker could not be made current.');
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    log.fatal({ err: error }, 'The worker ended.');
    const isSetting = error instanceof ConfigError || error instanceof ActionsError || error instanceof WorkerPortError;
    process.exit(isSetting ? error.exitCode : 1);
  },
);
