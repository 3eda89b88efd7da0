/**
 * The SDK composes each of its lines, and keeps it for a while to bring them into the order of time, also those that no
 * level lets through. They hold activations and tasks as a whole, and took a tenth of the worker's processor time.
 */
import type { Logger } from '@temporalio/common';
import { LoggerWithComposedMetadata } from './sdk.ts';

/** Lets the SDK compose no line below the level. `logger`: of the runtime, whose lines have at least `minLevel`. */
export function silenceSdkLogger(logger: Logger, minLevel: string): void {
  for (const part of [logger, LoggerWithComposedMetadata.prototype]) {
    part.trace = () => undefined;
    if (minLevel !== 'DEBUG') part.debug = () => undefined;
  }
}
