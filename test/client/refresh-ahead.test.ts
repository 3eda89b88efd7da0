import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RefreshAhead } from '../../src/client/concurrency/refresh-ahead.ts';
import type { Access } from '../../src/client/temporal/access.ts';
import { forgetHead, recentHead } from '../../src/client/versions/definition-head.ts';

const TEMPORAL_MS = 50;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A cached reading. */
function subject(fails = false) {
  let readAt = performance.now();
  const readAgain = vi.fn(async () => {
    if (fails) throw new Error('unavailable');
    readAt = performance.now();
  });
  return { age: () => performance.now() - readAt, readAgain };
}

it.each([false, true])('refreshes what is used regularly until 3 s after its last use (fails: %s)', async (fails) => {
  const [once, often] = [subject(), subject(fails)];
  const refresher = new RefreshAhead(1_000);
  refresher.recordUse('once', once);
  for (let n = 0; n < 5; n++) {
    refresher.recordUse('often', often);
    await pass(1_500);
  }
  await pass(20_000);
  // From shortly after the second use, 1.5 s after the first, to 3 s after the last, which is 6 s after it.
  expect(often.readAgain).toHaveBeenCalledTimes(9);
  refresher.recordUse('once', once);
  await pass(20_000);
  expect(once.readAgain).not.toHaveBeenCalled();
});

it('refreshes nothing that a caller has just read', async () => {
  const refresher = new RefreshAhead(1_000);
  const reading = subject();
  for (let n = 0; n < 10; n++) {
    refresher.recordUse('subject', reading);
    await pass(500);
    await reading.readAgain();
  }
  expect(reading.readAgain).toHaveBeenCalledTimes(10);
});

it('refreshes at most twenty subjects', async () => {
  const refresher = new RefreshAhead(1_000);
  const reading = subject();
  const readAgain = vi.fn(async () => undefined);
  for (let n = 0; n < 200; n++) refresher.recordUse(`subject ${n % 100}`, { ...reading, readAgain });
  await pass(910);
  expect(readAgain).toHaveBeenCalledTimes(20);
});

/** The actor of one definition, which Temporal needs a while to describe. */
function actor(slug: string) {
  const state = { slug, hash: 'a', reads: 0 };
  const describe = async () => {
    state.reads += 1;
    const { hash } = state;
    await new Promise((resolve) => setTimeout(resolve, TEMPORAL_MS));
    return { status: { name: 'RUNNING' }, memo: { head: { hash } } };
  };
  const access = {
    namespace: `refresh ahead ${slug}`,
    client: { withDeadline: (_at: number, act: () => unknown) => act(), workflow: { getHandle: () => ({ describe }) } },
  } as unknown as Access;
  return {
    state,
    forget: () => forgetHead(access, 'default', slug),
    /** The hash that a start sees, and whether it has to wait for it. */
    start: async () => {
      let waits = false;
      const head = recentHead(access, 'default', slug);
      await Promise.race([head, pass(1).then(() => (waits = true))]);
      if (waits) await pass(TEMPORAL_MS);
      return { hash: (await head)?.hash, waits };
    },
  };
}

it('lets no start after the second wait for the head, which is never older than a second', async () => {
  const { state, start } = actor('often');
  expect(await start()).toEqual({ hash: 'a', waits: true });
  await pass(1_150);
  expect(await start()).toEqual({ hash: 'a', waits: true });
  for (let n = 0; n < 5; n++) {
    await pass(1_150);
    expect(await start()).toEqual({ hash: 'a', waits: false });
  }
  state.hash = 'b';
  await pass(1_000);
  expect(await start()).toEqual({ hash: 'b', waits: false });
});

it('does not keep a head whose reading began before this process wrote another', async () => {
  const { state, start, forget } = actor('written');
  await start();
  await pass(500);
  await start();
  // Until it is read again, which takes a while.
  while (state.reads < 2) await pass(10);
  state.hash = 'b';
  forget();
  await pass(TEMPORAL_MS);
  expect(await start()).toEqual({ hash: 'b', waits: true });
});
