/** The worker's log. */
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { type Logger, type LoggerOptions, pino } from 'pino';
import type { Config } from '../src/config/config.ts';
import { logTo } from '../src/log.ts';

const MOST_CHARACTERS = 500;
const MOST_CAUSES = 3;

/**
 * What the SDK hands over under `error`, for which Pino would write `{}`, as {type, message?, cause?}: enough to know what
 * failed, and neither its details, which hold data, nor a stack. Secrets have been taken out of it before it was thrown
 * (activities/runtime/wrap-activity.ts). `isSealed`: histories are encrypted, so no text that stands there may stand here.
 */
export function loggedError(error: unknown, isSealed: boolean, depth = 0): unknown {
  if (!(error instanceof Error)) return error;
  const type = (error instanceof ApplicationFailure ? error.type : undefined) ?? error.name;
  const { cause } = error;
  return {
    type,
    ...(isSealed ? {} : { message: error.message.slice(0, MOST_CHARACTERS) }),
    ...(cause instanceof Error && depth < MOST_CAUSES ? { cause: loggedError(cause, isSealed, depth + 1) } : {}),
  };
}

/** To standard output where the process runs alone, else to a file of the data folder. */
export function openLog({ dataDir, codec }: Pick<Config, 'dataDir' | 'codec'>): Logger {
  const options: LoggerOptions = {
    name: 'worker',
    serializers: { error: (error: unknown) => loggedError(error, Boolean(codec)) },
  };
  const isAlone = process.env['SIGNALBOX_LOG_TO_STDOUT'] === '1' || process.send === undefined;
  return pino(options, isAlone ? logTo() : logTo(join(dataDir, 'logs', 'worker.log')));
}
