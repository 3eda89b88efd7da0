import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { drained } from '../../src/gateway/routes/executions/events-stream.ts';

it('waits for a slow listener as often as need be, and leaves nothing behind', async () => {
  const stream = new PassThrough();
  const listeners = () => stream.listenerCount('drain') + stream.listenerCount('close');
  const before = listeners();
  for (let round = 0; round < 20; round++) {
    const waiting = drained(stream);
    stream.emit('drain');
    await waiting;
  }
  expect(listeners()).toBe(before);
});

it('waits no longer for one that is gone', async () => {
  const stream = new PassThrough();
  const waiting = drained(stream);
  stream.destroy();
  await expect(waiting).resolves.toBeUndefined();
});
