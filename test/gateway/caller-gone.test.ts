import { EventEmitter, getEventListeners } from 'node:events';
import type { Response } from 'express';
import { expect, it } from 'vitest';
import { callerGone } from '../../src/gateway/http/caller-gone.ts';

const connection = (destroyed = false) => Object.assign(new EventEmitter(), { destroyed }) as unknown as Response;

it('ends with the connection, and then leaves nothing at the signal that lives longer', () => {
  const closing = new AbortController();
  const res = connection();
  const { signal } = callerGone(res, closing.signal);
  expect([signal.aborted, getEventListeners(closing.signal, 'abort').length]).toEqual([false, 1]);
  res.emit('close');
  expect([signal.aborted, getEventListeners(closing.signal, 'abort').length]).toEqual([true, 0]);
});

it('ends with the gateway, and at once where either has ended', () => {
  const closing = new AbortController();
  const { signal } = callerGone(connection(), closing.signal);
  closing.abort();
  expect(signal.aborted).toBe(true);
  expect(callerGone(connection(), closing.signal).signal.aborted).toBe(true);
  expect(callerGone(connection(true)).signal.aborted).toBe(true);
});
