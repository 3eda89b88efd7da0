import { EventEmitter, getEventListeners } from 'node:events';
import type { Response } from 'express';
import { expect, it } from 'vitest';
import { abortOnDisconnect } from '../../src/gateway/http/abort-on-disconnect.ts';

const connection = (destroyed = false) => Object.assign(new EventEmitter(), { destroyed }) as unknown as Response;

it('aborts with the connection, and then leaves no listener at the parent signal', () => {
  const closing = new AbortController();
  const res = connection();
  const { signal } = abortOnDisconnect(res, closing.signal);
  expect([signal.aborted, getEventListeners(closing.signal, 'abort').length]).toEqual([false, 1]);
  res.emit('close');
  expect([signal.aborted, getEventListeners(closing.signal, 'abort').length]).toEqual([true, 0]);
});

it('aborts with the parent signal, and immediately where either is aborted', () => {
  const closing = new AbortController();
  const { signal } = abortOnDisconnect(connection(), closing.signal);
  closing.abort();
  expect(signal.aborted).toBe(true);
  expect(abortOnDisconnect(connection(), closing.signal).signal.aborted).toBe(true);
  expect(abortOnDisconnect(connection(true)).signal.aborted).toBe(true);
});
