/** Waits for a run that a command has started, and prints how it stands. */

import { allSteps, exitCodeOf, waitForResult } from './executions.ts';
import { EXIT, type ExitCode } from './exit.ts';
import type { Gateway } from './gateway-client.ts';
import { rollbackLines, summaryLines } from './run-text.ts';
import type { Terminal } from './terminal.ts';
import { formatJson } from './text-layout.ts';

/** How long a command waits by default. */
export const DEFAULT_WAIT_SECONDS = 30;

/** Waits until the run ends, waits for somebody, or `seconds` have passed. @returns 40 if the run failed */
export async function showOutcome(
  terminal: Terminal,
  gateway: Gateway,
  executionId: string,
  { wait: seconds, json }: { readonly wait: number; readonly json?: boolean },
): Promise<ExitCode> {
  const { ended, ...result } = await waitForResult(gateway, executionId, seconds);
  if (json === true) terminal.out(formatJson({ executionId, ...result }));
  else {
    terminal.out(`${executionId}  ${result.status}`);
    for (const line of summaryLines(executionId, result)) terminal.out(line);
    // Only a failed run may have a rollback.
    if (ended && exitCodeOf(result) !== EXIT.ok)
      for (const line of rollbackLines(await allSteps(gateway, executionId))) terminal.out(line);
  }
  return exitCodeOf(result);
}
