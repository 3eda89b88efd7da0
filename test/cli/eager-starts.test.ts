import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EagerStarts } from '../../src/cli/start/worker-eager-starts.ts';
import type { EagerStart } from '../../src/client/temporal/eager-starts.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';

const REQUEST = new Uint8Array([1]);
const RESPONSE = new Uint8Array([2]);

let posted: EagerStart[];
let starts: EagerStarts;
beforeEach(() => {
  vi.useFakeTimers();
  posted = [];
  starts = new EagerStarts();
  starts.workerReady((message) => posted.push(message) > 0);
});
afterEach(() => {
  vi.useRealTimers();
});

const last = (): number => posted.at(-1)?.id ?? 0;
const answer = (id: number, response?: Uint8Array): void =>
  starts.answered({ type: 'eagerAnswer', id, ...omitUndefined({ response }) });

test("resolves to the worker's answer", async () => {
  const [one, two] = [starts.send(REQUEST), starts.send(REQUEST)];
  answer(last(), RESPONSE);
  answer(last() - 1);
  expect(await two).toBe(RESPONSE);
  expect(await one).toBeUndefined();
});

test('sends no request to a worker that is not ready, cannot be reached or has ended', async () => {
  expect(await new EagerStarts().send(REQUEST)).toBeUndefined();
  starts.workerReady(() => false);
  expect(await starts.send(REQUEST)).toBeUndefined();
  starts.workerReady((message) => posted.push(message) > 0);
  const open = starts.send(REQUEST);
  starts.workerGone();
  expect(await open).toBeUndefined();
  expect(await starts.send(REQUEST)).toBeUndefined();
  expect(posted).toHaveLength(1);
});

test('gives up on an answer after the timeout, and sends again only after another answer', async () => {
  const late = starts.send(REQUEST);
  const until = posted[0]?.until ?? 0;
  await vi.advanceTimersByTimeAsync(until - Date.now());
  expect(await late).toBeUndefined();
  expect(await starts.send(REQUEST)).toBeUndefined();
  expect(posted).toHaveLength(1);
  answer(last(), RESPONSE);
  const again = starts.send(REQUEST);
  answer(last(), RESPONSE);
  expect(await again).toBe(RESPONSE);
});
