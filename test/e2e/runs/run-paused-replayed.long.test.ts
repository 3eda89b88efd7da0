import { expect, it } from 'vitest';
import { sharedServer } from '../../support/temporal.ts';
import { approve } from './run-definitions.ts';
import { memoOf, startRun, until, waitsAt } from './run-support.ts';

// Every task replays the run from its history.
const { server } = sharedServer({}, { maxCachedWorkflows: 0 });

it('shows its pauses and why it cancelled itself in the same way when it is replayed', async () => {
  const { review } = approve.steps;
  const steps = { ...approve.steps, review: { ...review!, config: { ...review!.config, onReject: 'cancel' } } };
  const handle = await startRun(server, { ...approve, steps }, { input: { amount: 1, customer: 'x' } });
  await waitsAt(handle, 'review');
  const isPaused = (wanted: boolean) =>
    until(
      () => memoOf(handle),
      (memo) => (typeof memo.paused === 'string') === wanted,
    );
  for (const wanted of [true, false, true]) {
    await handle.signal(wanted ? 'pause' : 'resume', {});
    await isPaused(wanted);
  }
  await handle.signal('approve', { step: 'nowhere' });
  await handle.signal('reject', { step: 'review' });
  await handle.signal('resume', {});
  await handle.result().catch(() => undefined);
  const { status, memo } = await handle.describe();
  expect(status.name).toBe('CANCELLED');
  expect(memo).toMatchObject({ cancelReason: expect.stringMatching(/./) });
});
