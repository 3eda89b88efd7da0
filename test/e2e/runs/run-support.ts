/** What the tests of the workflow `run` share: start one, and wait until it is where the test wants it. */
import { randomBytes } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import type { RunInput, RunMemo } from '../../../src/contract/run/run.ts';
import type { Definition } from '../../../src/definition/document/types.ts';
import type { TestServer } from '../../support/temporal.ts';

/** Starts a run with a workflow id of its own; what `rest` has goes beside the definition. */
export async function startRun(
  server: TestServer,
  definition: Definition,
  rest: Omit<RunInput, 'definition'> = {},
): Promise<WorkflowHandle> {
  return server.client.workflow.start('run', {
    taskQueue: server.taskQueue,
    workflowId: `run.default.${definition.slug}.${randomBytes(8).toString('hex')}`,
    args: [{ definition, ...rest }],
  });
}

/** The memo, which is what `describe()` says without a worker. */
export async function memoOf(handle: WorkflowHandle): Promise<RunMemo> {
  return (await handle.describe()).memo as unknown as RunMemo;
}

/** Polls until the answer is what the test waits for; fails after 30 seconds with the last one. */
export async function until<T>(ask: () => Promise<T>, enough: (answer: T) => boolean, timeoutMs = 30_000): Promise<T> {
  const last = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (enough(answer)) return answer;
    if (Date.now() > last) throw new Error(`Still not there after ${timeoutMs} ms: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

export async function waitsAt(handle: WorkflowHandle, path: string): Promise<RunMemo> {
  return until(
    () => memoOf(handle),
    (memo) => memo?.waitingFor?.some((wait) => wait.path === path) === true,
  );
}

/** A run that is just closing refuses signals for a moment (TEMPORAL.md §2); the caller comes back. */
export async function persistently(send: () => Promise<void>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (attempt >= 200 || !/closing/i.test(String((error as Error).cause ?? error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** The events of one execution by type, in order. */
export async function eventTypes(handle: WorkflowHandle): Promise<string[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).map((event) => {
    const kind = Object.keys(event).find((key) => key.endsWith('EventAttributes'));
    return (kind ?? '').replace('EventAttributes', '');
  });
}
