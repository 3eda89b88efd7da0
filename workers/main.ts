import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createActivities } from '../activities/table.ts';
import { ActionsError, loadActions } from '../src/actions/load.ts';
import { dataConverterOf } from '../src/client/payloads/data-converter.ts';
import { connectionOptions } from '../src/client/temporal/connect.ts';
import { HEARTBEAT_MS, identityOf } from '../src/client/temporal/worker-liveness.ts';
import { readConfig } from '../src/config/config.ts';
import { ConfigError } from '../src/config/config-error.ts';
import { dataLimitOf } from '../src/definition/document/limits.ts';
import { interpreterOptions } from '../workflows/run/worker-settings.ts';
import { activityDependencies } from './activity-dependencies.ts';
import { failureConverterPath } from './bundle.ts';
import { openLog } from './log.ts';
import { sweepBlobsRegularly } from './sweep-blobs.ts';

// The worker process. It runs alone (a container, `signalbox start --only worker`) or as a child of `start`. A child
// reports to its parent over IPC when it is ready, and ends when the parent is gone.

/** About 0.3 MB each (TEMPORAL.md §6). A run that is not cached resumes in 50 ms. */
const CACHED_WORKFLOWS = 300;
/** After this time another worker takes a run's task, since the worker that caches the run may be gone. */
const STICKY_MS = 3_000;
/** How long activities may finish after a shutdown signal. Then they are cancelled, and retried elsewhere. */
const GRACE_MS = 7_000;
/** The process exits at the latest this long after the signal. */
const LAST_MS = 9_500;

const config = readConfig();
const log = openLog(config);
const forked = process.send !== undefined;

async function main(): Promise<void> {
  Runtime.install({
    logger: new DefaultLogger('INFO', (entry) => {
      const level = entry.level.toLowerCase() as 'trace' | 'debug' | 'info' | 'warn' | 'error';
      log[level](entry.meta ?? {}, entry.message);
    }),
    telemetryOptions: { logging: { forward: {}, filter: 'WARN' } },
    workerHeartbeatInterval: HEARTBEAT_MS,
    // Signals are handled below, together with the end of the parent.
    shutdownSignals: [],
  });
  const connection = await NativeConnection.connect(connectionOptions(config));
  const parts = activityDependencies(connection, config);
  const actions = await loadActions(config.actionsDir);
  const worker = await Worker.create({
    connection,
    namespace: config.temporal.namespace,
    taskQueue: config.taskQueue,
    identity: identityOf(process.pid),
    dataConverter: {
      ...dataConverterOf(config),
      ...(config.codec ? { failureConverterPath: failureConverterPath() } : {}),
    },
    workflowBundle: { codePath: fileURLToPath(new URL('../workflow-bundle.js', import.meta.url)) },
    ...interpreterOptions({
      historyLimit: config.historyLimit,
      dataBytes: dataLimitOf(config.blobs.isOn),
      encodes: config.codec,
    }),
    activities: { ...createActivities(config, { ...parts, actions }), ...parts.actors },
    maxCachedWorkflows: CACHED_WORKFLOWS,
    stickyQueueScheduleToStartTimeout: STICKY_MS,
    shutdownGraceTime: GRACE_MS,
    shutdownForceTime: LAST_MS - 500,
  });

  let ending = false;
  const end = (reason: string): void => {
    if (ending) return;
    ending = true;
    log.info({ reason }, 'The worker accepts no new tasks and lets activities finish.');
    setTimeout(() => process.exit(1), LAST_MS).unref();
    if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  process.on('SIGTERM', () => end('SIGTERM'));
  process.on('SIGINT', () => end('SIGINT'));
  process.on('message', (message) => {
    if (message === 'end') end('requested by its parent');
  });
  process.on('disconnect', () => end('its parent is gone'));

  const running = worker.run();
  sweepBlobsRegularly(connection, config, log);
  log.info({ taskQueue: config.taskQueue, namespace: config.temporal.namespace }, 'The worker is ready.');
  process.send?.('ready');
  if (forked && !process.connected) end('its parent is gone');
  await running;
  await connection.close();
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    log.fatal({ err: error }, 'The worker ended.');
    process.exit(error instanceof ConfigError || error instanceof ActionsError ? error.exitCode : 1);
  },
);
