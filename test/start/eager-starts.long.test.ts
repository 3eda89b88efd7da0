// Starts of runs go through the worker of the stack (src/client/temporal/eager-starts.ts), whatever happens to it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DataFolder, dataFolder, type Stack, sleep, startStack, until } from '../support/stack.ts';

const AT_ONCE = 40;
const definition = {
  name: 'Hello',
  slug: 'hello',
  steps: {
    wait: { stepType: 'sleep', config: { duration: '20ms' }, nextSteps: { success: 'hello' } },
    hello: { stepType: 'finish', config: { output: 'hello' } },
  },
};

let folder: DataFolder;
let stack: Stack;
beforeAll(async () => {
  folder = dataFolder();
  stack = await startStack(folder.path);
  const stored = await fetch(`${stack.note.gateway?.url}/api/workflows/hello`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(definition),
  });
  expect(stored.ok).toBe(true);
});
afterAll(async () => {
  await stack.end('SIGTERM');
  expect(folder.processes()).toEqual([]);
  folder.remove();
});

async function start(): Promise<string> {
  const answer = await fetch(`${stack.note.gateway?.url}/api/triggers/manual/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ workflowId: 'hello', input: {} }),
  });
  const body = (await answer.json()) as { executionId: string };
  expect(answer.status, JSON.stringify(body)).toBeLessThan(300);
  return body.executionId;
}

/** Whether Temporal answered the start of the run with its first task. */
async function isEager(id: string): Promise<boolean> {
  const [first] = (await stack.client.workflow.getHandle(id).fetchHistory()).events ?? [];
  return first?.workflowExecutionStartedEventAttributes?.eagerExecutionAccepted === true;
}

/** All of them complete, and there are no others. */
async function complete(ids: readonly string[]): Promise<void> {
  for (const id of ids) expect(await stack.client.workflow.getHandle(id).result()).toBe('hello');
  const since = [...ids].sort()[0];
  const query = `WorkflowType = 'run' AND WorkflowId >= '${since}'`;
  await until('the lists have them', 30_000, async () => {
    const { count } = await stack.client.workflow.count(query);
    expect(count).toBeLessThanOrEqual(ids.length);
    return count === ids.length;
  });
}

const workerPid = (): number => {
  const pid = stack.note.worker?.pid;
  if (pid === undefined) throw new Error('The stack has no worker.');
  return pid;
};

describe('a stack', { timeout: 120_000 }, () => {
  test('gets the first task of a run with the answer to its start', async () => {
    const id = await start();
    await complete([id]);
    expect(await isEager(id)).toBe(true);
  });

  test('starts runs while the worker is frozen, and each of them once', async () => {
    process.kill(workerPid(), 'SIGSTOP');
    let frozen: string[];
    try {
      frozen = await Promise.all(Array.from({ length: AT_ONCE }, start));
      frozen.push(await start());
    } finally {
      process.kill(workerPid(), 'SIGCONT');
    }
    await complete(frozen);
    expect(await isEager(frozen.at(-1) ?? '')).toBe(false);
    await until('the worker is asked again', 30_000, async () => isEager(await start()));
  });

  test('acknowledges every start while the worker is killed, and each is one run', async () => {
    const before = await start();
    await complete([before]);
    const starts = Array.from({ length: AT_ONCE }, async (_, n) => {
      await sleep(n * 5);
      return start();
    });
    await sleep((AT_ONCE * 5) / 2);
    process.kill(workerPid(), 'SIGKILL');
    await complete([before, ...(await Promise.all(starts))]);
  });
});
