import type { Logger } from '@temporalio/common';
import { afterEach, expect, it, vi } from 'vitest';
import { LoggerWithComposedMetadata } from '../../src/temporal-internals/sdk.ts';
import { silenceSdkLogger } from '../../src/temporal-internals/sdk-logger.ts';

const { trace, debug } = LoggerWithComposedMetadata.prototype;
afterEach(() => {
  Object.assign(LoggerWithComposedMetadata.prototype, { trace, debug });
});

/** What reaches the runtime's logger, and how often the SDK composes the members of a line. */
function logged(minLevel: string): { lines: string[]; composed: number } {
  const lines: string[] = [];
  const note = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const runtime = Object.fromEntries(['log', 'trace', 'debug', 'info', 'warn', 'error'].map((one) => [one, note(one)]));
  const members = vi.fn(() => ({ task: 'large' }));
  silenceSdkLogger(runtime as unknown as Logger, minLevel);
  const logger = LoggerWithComposedMetadata.compose(runtime as unknown as Logger, members);
  for (const one of [logger, runtime as unknown as Logger])
    for (const level of ['trace', 'debug', 'info'] as const) one[level]('told');
  return { lines, composed: members.mock.calls.length };
}

it('composes no line of the SDK that the level does not let through', () => {
  expect(logged('INFO')).toEqual({ lines: ['info told', 'info told'], composed: 1 });
});

it('leaves lines of debugging where they are wanted', () => {
  expect(logged('DEBUG')).toEqual({ lines: ['debug told', 'info told', 'debug told', 'info told'], composed: 2 });
});
