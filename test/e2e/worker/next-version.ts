/** The workflows of a later version: `run` gives one more command, behind a mark (TEMPORAL.md §11). */
import { patched, setWorkflowOptions, sleep } from '@temporalio/workflow';
import type { RunInput } from '../../../src/contract/run/run.ts';
import { run as earlier } from '../../../workflows/run/run-workflow.ts';

export * from '../../../workflows/all.ts';

export const MARK = 'test-of-a-later-version';

setWorkflowOptions({ failureExceptionTypes: [Error] }, run);

export async function run(input: RunInput): Promise<unknown> {
  if (patched(MARK)) await sleep(1);
  return earlier(input);
}
