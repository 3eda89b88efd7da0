/** The settings of Temporal's SDK for its metrics and logs, once for a process. */
import { createServer } from 'node:net';
import { DefaultLogger, type LogLevel, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import { HEARTBEAT_MS } from '../src/client/temporal/worker-liveness.ts';
import type { Config } from '../src/config/config.ts';
import { RUN_WORKFLOW } from '../src/contract/run/run.ts';
import { silenceSdkLogger } from '../src/temporal-internals/sdk-logger.ts';

const RUN_DURATION_BUCKETS_SECONDS = [0.05, 0.1, 0.5, 1, 5, 30, 60, 600, 3_600, 86_400, 604_800];

/** `metricsPort`: where on this machine the SDK exports its metrics in Prometheus' format; absent: nowhere. */
export function installRuntime(log: Logger, { sdkPatches }: Pick<Config, 'sdkPatches'>, metricsPort?: number): void {
  const minLevel = levelOf(log);
  const { logger } = Runtime.install({
    logger: new DefaultLogger(minLevel, (entry) => {
      const level = entry.level.toLowerCase() as 'trace' | 'debug' | 'info' | 'warn' | 'error';
      log[level](renameLogMembers(entry.meta ?? {}), entry.message);
    }),
    telemetryOptions: {
      logging: { forward: {}, filter: 'WARN' },
      ...(metricsPort === undefined
        ? {}
        : {
            metrics: {
              prometheus: {
                bindAddress: `127.0.0.1:${metricsPort}`,
                countersTotalSuffix: true,
                unitSuffix: true,
                useSecondsForDurations: true,
                histogramBucketOverrides: { signalbox_run_duration: RUN_DURATION_BUCKETS_SECONDS },
              },
            },
          }),
    },
    workerHeartbeatInterval: HEARTBEAT_MS,
    // Signals are handled by the worker (workers/main.ts), together with the end of the parent.
    shutdownSignals: [],
  });
  if (sdkPatches) silenceSdkLogger(logger, minLevel);
}

/** The SDK's names of what every line of the log names (src/observe/scope.ts). */
function renameLogMembers(meta: Record<string, unknown>): Record<string, unknown> {
  // Anyone who has the token of a task may complete it.
  const { taskToken: _secret, ...members } = meta;
  const { workflowType, workflowId, executionId, activityId, isLocal, step } = members;
  if (workflowType !== RUN_WORKFLOW) return members;
  return {
    ...members,
    ...(executionId === undefined ? { executionId: workflowId } : {}),
    ...(step === undefined && activityId !== undefined && isLocal !== true ? { step: activityId } : {}),
  };
}

function levelOf({ level }: Logger): LogLevel {
  switch (level) {
    case 'trace':
    case 'debug':
      return 'DEBUG';
    case 'info':
      return 'INFO';
    case 'warn':
      return 'WARN';
    default:
      return 'ERROR';
  }
}

/** A port of this machine that is free now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
