import { Worker } from 'node:worker_threads';
import { ThreadedVMWorkflowCreator } from '@temporalio/worker/lib/workflow/threaded-vm.js';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchWorkflowThreads } from '../../workers/workflow-thread.ts';

/** Answers as the SDK's thread does, after `busyMs`; for ever busy where that is missing. */
const THREAD = `
const { parentPort } = require('node:worker_threads');
parentPort.on('message', ({ requestId, input: { type, busyMs } }) => {
  for (const until = Date.now() + (type === 'init' ? 0 : busyMs ?? Infinity); Date.now() < until; );
  parentPort.postMessage({ requestId, result: { type: 'ok', seen: type } });
});`;

const { postMessage } = Worker.prototype;
const threads: Worker[] = [];
const note = (thread: Worker): void => void threads.push(thread);

beforeEach(() => void process.on('worker', note));
afterEach(async () => {
  process.off('worker', note);
  Worker.prototype.postMessage = postMessage;
  await Promise.all(threads.splice(0).map((thread) => thread.terminate()));
});

it('gives the calls of the SDK no time limit each', async () => {
  const sent = vi.fn();
  Worker.prototype.postMessage = sent;
  watchWorkflowThreads(60_000, () => undefined);
  void ThreadedVMWorkflowCreator.create({
    threadPoolSize: 1,
    workflowBundle: { code: '', filename: 'none.js' } as never,
    isolateExecutionTimeoutMs: 30_000,
    reuseV8Context: true,
    registeredActivityNames: new Set<string>(),
    logger: { trace: () => undefined, error: () => undefined } as never,
  }).catch(() => undefined);
  await vi.waitFor(() => expect(sent).toHaveBeenCalledOnce());
  const [{ input }] = sent.mock.calls[0] as [{ input: Record<string, unknown> }];
  expect(input).toMatchObject({ type: 'init', reuseV8Context: true, isolateExecutionTimeoutMs: undefined });
});

it('gives up a thread that answers nothing for too long, and none that is idle or takes its time', async () => {
  const stuck = vi.fn();
  watchWorkflowThreads(1_000, stuck);
  const thread = new Worker(THREAD, { eval: true });
  const answers = vi.fn();
  thread.on('message', answers);
  const ask = (requestId: number, input: object): void => thread.postMessage({ requestId, input });
  ask(0, { type: 'init', isolateExecutionTimeoutMs: 5 });
  await vi.waitFor(() => expect(answers).toHaveBeenCalledOnce());
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  // Longer than the limit together, but not each.
  for (const requestId of [1, 2, 3]) ask(requestId, { type: 'activate-workflow', busyMs: 800 });
  await vi.waitFor(() => expect(answers).toHaveBeenCalledTimes(4), 10_000);
  expect(stuck).not.toHaveBeenCalled();
  ask(4, { type: 'activate-workflow' });
  await vi.waitFor(() => expect(stuck).toHaveBeenCalledOnce(), 10_000);
  expect(answers).toHaveBeenCalledTimes(4);
});
