import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchWorkflowThreads } from '../../src/temporal-internals/workflow-thread.ts';
import { ThreadedVMWorkflowCreator } from '../support/sdk.ts';

/** Answers the requests to the SDK's thread, each when the test says so. */
const THREAD = `
const { parentPort } = require('node:worker_threads');
const asked = [];
parentPort.on('message', (message) => {
  if (message !== 'answer') asked.push(message.requestId);
  else parentPort.postMessage({ requestId: asked.shift(), result: { type: 'ok' } });
});`;

const { postMessage } = Worker.prototype;
const threads: Worker[] = [];
const note = (thread: Worker): void => void threads.push(thread);

beforeEach(() => void process.on('worker', note));
afterEach(async () => {
  vi.useRealTimers();
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
  await expect.poll(() => sent.mock.calls.length).toBe(1);
  const [{ input }] = sent.mock.calls[0] as [{ input: Record<string, unknown> }];
  expect(input).toMatchObject({ type: 'init', reuseV8Context: true, isolateExecutionTimeoutMs: undefined });
});

it('gives up a thread that answers nothing for too long, and none that is idle or takes its time', async () => {
  const stuck = vi.fn();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  watchWorkflowThreads(1_000, stuck);
  const thread = new Worker(THREAD, { eval: true });
  const ask = (requestId: number, type = 'activate-workflow'): void =>
    thread.postMessage({ requestId, input: { type } });
  const answer = async (): Promise<void> => {
    const told = once(thread, 'message');
    thread.postMessage('answer');
    await told;
  };
  ask(0, 'init');
  await answer();
  vi.advanceTimersByTime(10_000);
  // Longer than the limit together, but not each.
  for (const requestId of [1, 2, 3]) ask(requestId);
  for (let n = 0; n < 3; n++) {
    vi.advanceTimersByTime(1_000);
    await answer();
  }
  vi.advanceTimersByTime(10_000);
  expect(stuck).not.toHaveBeenCalled();
  ask(4);
  vi.advanceTimersByTime(1_000);
  expect(stuck).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1_000);
  expect(stuck).toHaveBeenCalledOnce();
});
