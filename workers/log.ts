/** The worker's log. */
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger, LoggerOptions } from 'pino';
import type { Config } from '../src/config/config.ts';
import { openLogger } from '../src/observe/log.ts';

const MAX_MESSAGE_CHARACTERS = 500;
const MAX_CAUSES = 3;

/**
 * Serializes the SDK's `error` as {type, message?, cause?}; Pino would write `{}`. Details, which hold data, and stacks
 * are left out. Secrets have been scrubbed (activities/runtime/wrap-activity.ts). With `isSealed`, when histories are
 * encrypted, messages are left out too.
 */
export function loggedError(error: unknown, isSealed: boolean, depth = 0): unknown {
  if (!(error instanceof Error)) return error;
  const type = (error instanceof ApplicationFailure ? error.type : undefined) ?? error.name;
  const { cause } = error;
  return {
    type,
    ...(isSealed ? {} : { message: error.message.slice(0, MAX_MESSAGE_CHARACTERS) }),
    ...(cause instanceof Error && depth < MAX_CAUSES ? { cause: loggedError(cause, isSealed, depth + 1) } : {}),
  };
}

/** Logs to standard output if the process runs alone, else to a file in the data folder. */
export function openLog(config: Pick<Config, 'dataDir' | 'codec' | 'logLevel'>): Logger {
  const { dataDir, codec } = config;
  const options: LoggerOptions = {
    serializers: { error: (error: unknown) => loggedError(error, Boolean(codec)) },
  };
  const isAlone = process.env['SIGNALBOX_LOG_TO_STDOUT'] === '1' || process.send === undefined;
  return openLogger(config, 'worker', isAlone ? undefined : join(dataDir, 'logs', 'worker.log'), options);
}
